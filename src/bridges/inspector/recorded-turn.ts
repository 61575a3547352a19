import type { Advisor } from '../../core/advisor/advisor.js';
import type { ChatClientRequest } from '../../core/advisor/chat-client-request.js';
import type { ChatResponse, Usage } from '../../core/chat/chat-response.js';
import type { PausedTurn } from '../../core/chat/paused-turn.js';
import { pausedTurnOf } from '../../core/client/resume.js';
import { codeOf, isCancellation } from '../../core/errors/error-type.js';
import type { ObservedModelCall } from '../../core/observation/observation.js';
import type { LiveTurn } from './inspected-source.js';
import type { TimelineEntry, TurnSummary } from './inspected-turn.js';

/** An entry of the timeline while its turn runs: values are references, which are written when they are read. */
export interface RecordedEntry extends Omit<
  { -readonly [K in keyof TimelineEntry]: TimelineEntry[K] },
  'error' | 'detail'
> {
  error?: unknown;
  detail?: Readonly<Record<string, unknown>>;
}

/** A call of the model for an iteration, with the request that it got. */
export interface RecordedCall {
  readonly entry: RecordedEntry;
  readonly attempt: number;
  readonly call: ObservedModelCall;
}

/** The beginning of a turn. */
export interface TurnOrigin {
  readonly id: string;
  readonly source: TurnSummary['source'];
  readonly request: ChatClientRequest;
  readonly advisors: readonly Advisor[];
  /** Maximum number of entries of the timeline. */
  readonly maxEntries: number;
}

/** Bytes that an entry counts for, besides its texts. */
const PER_ENTRY = 300;

/** The record of a turn: references to immutable parts of it, with times. */
export class RecordedTurn {
  readonly startedAt = Date.now();
  readonly entries: RecordedEntry[] = [];
  readonly calls: RecordedCall[] = [];
  /** Names of the advisors that errors came from; none for an error of the model or a tool. */
  readonly sources = new Map<unknown, string | undefined>();
  outcome: TurnSummary['outcome'] = 'running';
  duration: number | undefined;
  error: unknown;
  response: ChatResponse | undefined;
  paused: PausedTurn | undefined;
  /** Text and reasoning of the current iteration. */
  text = '';
  reasoning = '';
  firstToken: number | undefined;
  model: string | undefined;
  iterations = 0;
  toolCalls = 0;
  revision = 1;
  bytes = PER_ENTRY;
  isCut = false;
  /** Ends the turn as its subscriber would. */
  cancel: () => void = () => undefined;
  private readonly clock = performance.now();
  private readonly attempts = new Map<number, number>();

  constructor(
    readonly origin: TurnOrigin,
    private readonly onChange: (turn: RecordedTurn) => void,
  ) {}

  /** Milliseconds since the start. */
  now(): number {
    return performance.now() - this.clock;
  }

  changed(): void {
    this.revision++;
    this.onChange(this);
  }

  /** Adds an entry; it is counted, and left out, if the turn has as many as are kept. */
  add(entry: Omit<RecordedEntry, 'id' | 'start'>, bytes = 0): RecordedEntry {
    const { entries, origin } = this;
    const added: RecordedEntry = { id: entries.length, start: this.now(), ...entry };
    if (entries.length < origin.maxEntries) {
      entries.push(added);
      this.bytes += PER_ENTRY + bytes;
    } else this.isCut = true;
    this.changed();
    return added;
  }

  /** Adds something without a duration. */
  addEvent(entry: Omit<RecordedEntry, 'id' | 'start'>, bytes = 0): RecordedEntry {
    const added = this.add(entry, bytes);
    added.end = added.start;
    return added;
  }

  addCall(entry: RecordedEntry, call: ObservedModelCall): void {
    const { iteration = 0 } = call;
    this.sawIteration(iteration);
    const attempt = (this.attempts.get(iteration) ?? 0) + 1;
    this.attempts.set(iteration, attempt);
    if (!this.isCut) this.calls.push({ entry, attempt, call });
  }

  sawIteration(iteration: number): void {
    this.iterations = Math.max(this.iterations, iteration + 1);
  }

  addText(text: string): void {
    if (this.text === '') this.firstToken ??= this.now();
    this.text += text;
    this.changed();
  }

  /** Another iteration begins, or the text of this one is void. */
  clearText(): void {
    this.text = this.reasoning = '';
    this.changed();
  }

  answered(response: ChatResponse): void {
    this.response = response;
    this.changed();
  }

  /** Ends the turn; only the first end counts. */
  end(outcome: TurnSummary['outcome'], error?: unknown): void {
    if (this.outcome !== 'running') return;
    this.outcome = outcome;
    this.duration = this.now();
    this.error = error;
    for (const entry of this.entries) this.close(entry);
    this.changed();
  }

  fail(error: unknown): void {
    if (codeOf(error) !== 'turn_paused')
      return this.end(isCancellation(error) ? 'cancelled' : 'failed', error);
    this.paused = pausedTurnOf(error);
    for (const request of this.paused?.requests ?? [])
      this.addEvent({ kind: 'pause', name: request.toolName, detail: { ...request } });
    this.end('paused');
  }

  /** The parts with which it is resumed, or run again. */
  get live(): LiveTurn {
    const { origin, paused, calls } = this;
    const sent = calls[0]?.call.request as ChatClientRequest | undefined;
    return { request: origin.request, advisors: origin.advisors, sent, paused };
  }

  /** Usage so far: of the answer, as far as its model reports it, and of all other calls. */
  get usage(): Usage | undefined {
    return this.origin.request.run.usage;
  }

  /** Ends what was left open, but for calls for which the answer of the turn does not wait. */
  private close(entry: RecordedEntry): void {
    const isBeside = entry.kind === 'model-call' && entry.iteration === undefined;
    if (entry.end !== undefined || isBeside) return;
    entry.end = this.now();
    entry.outcome ??= this.outcome === 'answered' ? 'ok' : 'cancelled';
  }
}
