import type { Decision, PendingRequest } from '../../src/core/chat/paused-turn.js';
import type { DecisionWait } from '../../src/core/chat/run-recorder.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { TurnPausedError } from '../../src/core/errors/errors.js';
import { jsonData } from '../../src/core/internal/json-data.js';
import { canonicalJson, type JsonValue } from '../../src/core/internal/json.js';
import type { UnknownOutcomes } from '../../src/core/tool-execution/unknown-outcome.js';
import { DurableRun } from '../../src/engines/recorder/durable-run.js';
import type { TurnJournal } from './turn-journal.js';
import type { DecidedRequest } from './turn-state.js';

/**
 * The requests of a turn to people. Turns of agents share the list of the outer turn, so that one
 * state has the requests of all.
 */
export class TurnRequests {
  private readonly pending = new Map<string, PendingRequest>();
  private readonly known: ReadonlyMap<string, DecidedRequest>;
  /** The error that ends the turn: the same for all its pending calls. */
  readonly error = new TurnPausedError(
    'The turn waits for decisions of people, and no advisor of the outermost client can pause it.',
  );

  /** True if the turn has a state with which it can be resumed when it fails. */
  isResumable = false;
  /** Keeps the recorded steps, before a call with an effect begins and after its end. */
  checkpoint: (() => Promise<void>) | undefined;
  /** Steps that are about to be recorded: of calls that begin when they are kept. */
  readonly beginning = new Map<string, JsonValue>();

  /**
   * @param decided requests of the turn so far, with the decisions of people
   * @param unknownOutcomes decide about calls that had begun when the turn was interrupted
   * @param earlier the part of `decided` that an earlier execution has had
   */
  constructor(
    readonly decided: readonly DecidedRequest[] = [],
    readonly unknownOutcomes: UnknownOutcomes = { onUnknown: 'refuse' },
    private readonly earlier: readonly DecidedRequest[] = [],
  ) {
    this.known = new Map(decided.map((each) => [each.request.id, each]));
  }

  /** Those that are not decided yet, in the order in which they were made. */
  get open(): readonly PendingRequest[] {
    return [...this.pending.values()];
  }

  /**
   * The decision on a request, which stays open without one. A decision on another tool, other
   * arguments or another question does not count.
   * @param hasEnded true if the call has ended in an earlier execution: then it counts
   */
  decisionOn(request: PendingRequest, hasEnded: boolean): Decision | undefined {
    const known = this.known.get(request.id);
    if (known && (hasEnded || contentOf(known.request) === contentOf(request)))
      return known.decision;
    this.pending.set(request.id, request);
    return undefined;
  }

  /** True if the decision on a request came with this resume. */
  isNew({ id }: PendingRequest): boolean {
    return !this.earlier.some(({ request }) => request.id === id);
  }

  /** Begins another attempt of the turn, which makes its own requests. */
  restart(): void {
    this.pending.clear();
  }
}

/** Records the steps of a turn in a journal, and pauses the turn to wait for a decision. */
export class PausingRecorder extends DurableRun {
  constructor(
    private readonly journal: TurnJournal,
    private readonly requests: TurnRequests,
    prefix?: string,
  ) {
    super(journal, prefix);
  }

  /** The recorder of a nested turn that can pause as a part of this one. */
  nestedTurn(turnId: string): DurableRun {
    return this.addNested(turnId, `turn ${turnId}`);
  }

  override async waitFor(
    request: PendingRequest,
    { place, onNew }: DecisionWait,
  ): Promise<JsonValue> {
    const decision = this.requests.decisionOn(request, this.hasEnded(place));
    if (!decision) throw this.requests.error;
    if (this.requests.isNew(request)) onNew?.();
    return decision as unknown as JsonValue;
  }

  /** The state in which the turn rests has the step; without one, the turn is over. */
  override keepsStep(name: string, error: unknown): boolean {
    const { isResumable, decided } = this.requests;
    if (hasCode(error, 'turn_paused')) return true;
    const rest = isResumable ? this.journal.entriesBeforeFailure(error, decided) : [];
    return rest.some(([kept]) => kept === name);
  }

  /** No call with an effect begins before another process could find out that it has. */
  override async stepOf<T extends JsonValue>(name: string, run: () => Promise<T>): Promise<T> {
    const { requests } = this;
    if (!requests.checkpoint) return super.stepOf(name, run);
    let isEnd = false;
    const value = await super.stepOf(name, async () => {
      if (!name.endsWith(BEGIN)) {
        isEnd = this.journal.has(name + BEGIN);
        return run();
      }
      const token = await run();
      requests.beginning.set(name, token);
      try {
        await requests.checkpoint?.();
      } finally {
        requests.beginning.delete(name);
      }
      return token;
    });
    // if it is not kept, the outcome of the call is unknown to the next process
    if (isEnd) await requests.checkpoint().catch(() => undefined);
    return value;
  }

  get unknownOutcomes(): UnknownOutcomes {
    return this.requests.unknownOutcomes;
  }

  protected override create(prefix: string): PausingRecorder {
    return new PausingRecorder(this.journal, this.requests, prefix);
  }

  /** True if the next call at a place has ended before. Earlier calls may have the same id. */
  private hasEnded(place: string): boolean {
    for (let number = this.countOf(place) + 1; ; number++) {
      const end = this.journal.endOf(this.nameAt(place, number));
      if (end === undefined) return false;
      if (!end.isRepeated) return true;
    }
  }
}

/** End of the name of the step before a call with an effect. */
const BEGIN = ' begin';

/** The part of a request that a person decides on, or that the client runs. */
function contentOf(request: PendingRequest): string {
  return canonicalJson([request.type, request.toolName, ...partsOf(request)]);
}

function partsOf(request: PendingRequest): readonly JsonValue[] {
  if (request.type === 'approval') return [request.fingerprint, request.arguments];
  const { schema } = request;
  const shown = request.type === 'question' ? request.prompt : request.arguments;
  return [shown, jsonData(schema) ?? null];
}
