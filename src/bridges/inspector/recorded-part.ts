import { modelCallError } from '../../core/chat/run-record.js';
import { reportUnhandledError } from '../../core/internal/notify.js';
import { isCancellation } from '../../core/errors/error-type.js';
import type {
  Observation,
  ObservedEnding,
  ObservedEvent,
  ObservedPart,
  ToolCallOutcome,
} from '../../core/observation/observation.js';
import type { NewEntry, RecordedCall, RecordedEntry, RecordedTurn } from './recorded-turn.js';

const OUTCOMES = {
  success: 'ok',
  error: 'error',
  invalid_arguments: 'error',
  unknown_tool: 'error',
  refused: 'refused',
  cancelled: 'cancelled',
} as const satisfies Record<ToolCallOutcome, RecordedEntry['outcome']>;

/** Failure of a part within another one, with the model that it was to ask. */
interface Failure {
  readonly error: unknown;
  readonly model: string | undefined;
}

/** A part of a turn as an entry of its timeline; the turn itself has no entry. */
export class RecordedPart implements Observation {
  private hasEnded = false;
  private hasResponse = false;
  private openParts: Set<RecordedPart> | undefined;
  /** Failure of the previous part within this one, until another part follows. */
  private failure: Failure | undefined;
  private call: RecordedCall | undefined;

  constructor(
    private readonly turn: RecordedTurn,
    private readonly entry?: RecordedEntry,
    private readonly part?: ObservedPart,
    private readonly outer?: RecordedPart,
  ) {}

  begin(part: ObservedPart): RecordedPart {
    if (isAttempt(part)) this.noteNextAttempt(part.options.model);
    const { turn } = this;
    const own = entryOf(part);
    if (this.entry) own.parent = this.entry.id;
    const entry = turn.add(own);
    const begun = new RecordedPart(turn, entry, part, this);
    if (part.type === 'model-call' && !isBesideChain(part)) begun.call = turn.addCall(entry, part);
    if (part.type === 'tool-call') turn.toolCalls++;
    (this.openParts ??= new Set()).add(begun);
    return begun;
  }

  note(event: ObservedEvent): void {
    const { turn, entry, parent } = this;
    switch (event.type) {
      case 'chunk':
        if (entry && entry.firstToken === undefined) entry.firstToken = turn.now() - entry.start;
        return;
      case 'response':
        this.hasResponse = true;
        return;
      case 'request':
        if (this.call) this.call.wire = event.request;
        return;
      case 'retry':
        if (event.waited !== undefined) turn.addWait({ ...parent, name: 'retry' }, event.waited);
        turn.addEvent({ ...parent, kind: 'retry', name: this.name, error: event.error });
        return;
      case 'timeout':
        turn.addEvent({ ...parent, kind: 'retry', name: this.name, error: event.error });
        return;
      case 'limit':
        turn.addEvent({ ...parent, kind: 'limit', name: event.limit, detail: { max: event.max } });
    }
  }

  run<T>(work: () => T): T {
    return work();
  }

  end(ending: ObservedEnding): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.outer?.openParts?.delete(this);
    const isAnswered = this.hasResponse || ending.type === 'response';
    for (const part of this.openParts ?? [])
      if (!isAnswered || !isBesideChain(part.part)) part.end({ type: 'cancelled' });
    const { entry, turn } = this;
    if (!entry) return;
    entry.end = turn.now();
    // parts of applications may break their types
    try {
      this.describe(entry, ending);
    } catch (error) {
      reportUnhandledError(error);
    }
    turn.changed();
  }

  private get name(): string {
    return this.entry?.name ?? 'turn';
  }

  private get parent(): { readonly parent?: number } {
    return this.entry ? { parent: this.entry.id } : {};
  }

  private describe(entry: RecordedEntry, ending: ObservedEnding): void {
    const { turn, outer } = this;
    switch (ending.type) {
      case 'response':
        entry.outcome = 'ok';
        if (entry.kind === 'model-call') turn.addAnswer(entry, ending.response);
        return;
      case 'tool-result': {
        const { content, isError, error } = ending.result;
        entry.outcome = OUTCOMES[ending.outcome];
        if (ending.isReplayed) entry.isReplayed = true;
        if (error !== undefined) entry.error = error;
        return turn.describe(entry, { result: content, ...(isError && { isError }) });
      }
      case 'documents':
        entry.outcome = 'ok';
        return turn.describe(entry, { documents: ending.documents });
      case 'done':
        entry.outcome = 'ok';
        return;
      case 'cancelled':
        entry.outcome = this.hasResponse ? 'ok' : 'cancelled';
        return;
      case 'error': {
        const { error } = ending;
        entry.outcome = isCancellation(error) ? 'cancelled' : 'error';
        if (entry.outcome === 'cancelled') return;
        entry.error = error;
        const { usage } = modelCallError(error) ?? {};
        if (usage) entry.usage = usage;
        if (!turn.sources.has(error))
          turn.sources.set(error, entry.kind === 'advisor' ? entry.name : undefined);
        if (outer && this.part && isAttempt(this.part))
          outer.failure = { error, model: this.part.options.model };
      }
    }
  }

  /** Records that another attempt follows a failure: a retry, or a fallback to another model. */
  private noteNextAttempt(model: string | undefined): void {
    const { failure, parent } = this;
    if (!failure) return;
    this.failure = undefined;
    const { error } = failure;
    const detail = model === failure.model ? {} : { detail: { model } };
    this.turn.addEvent({ ...parent, kind: 'retry', name: this.name, error, ...detail });
  }
}

/** True for a part that an advisor may repeat: no call of a tool, and none beside the chain. */
function isAttempt(
  part: ObservedPart,
): part is Extract<ObservedPart, { readonly type: 'advisor' | 'model-call' }> {
  return part.type === 'advisor' || (part.type === 'model-call' && part.iteration !== undefined);
}

function isBesideChain(part: ObservedPart | undefined): boolean {
  return part?.type === 'model-call' && part.iteration === undefined;
}

function entryOf(part: ObservedPart): NewEntry {
  switch (part.type) {
    case 'advisor':
      return { kind: 'advisor', name: part.name };
    case 'model-call': {
      const name = part.options.model ?? part.provider?.name ?? 'model';
      const beside = isBesideChain(part) && { detail: { messages: part.prompt.messages } };
      return { kind: 'model-call', name, ...iterationOf(part), ...beside };
    }
    case 'tool-call': {
      const { call } = part;
      const detail = { callId: call.id, arguments: call.arguments };
      return { kind: 'tool-call', name: call.name, ...iterationOf(part), detail };
    }
    case 'retrieval':
      return { kind: 'retrieval', name: part.dataSource, detail: { query: part.query } };
    case 'wait':
      return { kind: 'wait', name: part.reason };
  }
}

function iterationOf({ iteration }: { readonly iteration: number | undefined }): {
  readonly iteration?: number;
} {
  return iteration === undefined ? {} : { iteration };
}
