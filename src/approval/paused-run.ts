import type { Decision, PendingRequest } from '../chat/paused-turn.js';
import type { RunRecord } from '../chat/run-record.js';
import { RunSlot } from '../chat/run-slot.js';
import { DurableRun } from '../durable/durable-run.js';
import { TurnPausedError } from '../errors.js';
import { canonicalJson, jsonData } from '../internal/json.js';
import type { TurnJournal } from './turn-journal.js';
import type { DecidedRequest } from './turn-state.js';

const SLOT = new RunSlot<PausedRun>();

/**
 * The requests to people of a run whose turn can pause. Turns of agents share those of the outer
 * turn, so that one state has the requests of all.
 */
export class PausedRun {
  private readonly pending = new Map<string, PendingRequest>();
  private readonly known: ReadonlyMap<string, DecidedRequest>;
  private paused: TurnPausedError | undefined;

  /** @param decided requests of the turn so far, with the decisions of people */
  constructor(
    readonly journal: TurnJournal,
    readonly decided: readonly DecidedRequest[] = [],
  ) {
    this.known = new Map(decided.map((each) => [each.request.id, each]));
  }

  /** Makes the turn of a run one that can pause. */
  static begin(run: RunRecord, state: PausedRun): PausedRun {
    return SLOT.set(run, state);
  }

  /**
   * Makes a turn within a turn that can pause a part of it: its steps and requests are those of the
   * outer turn. Undefined if the outer turn cannot pause, or there is none.
   */
  static beginNested(run: RunRecord, turnId: string): PausedRun | undefined {
    const { parent } = run;
    const outer = parent && SLOT.get(parent);
    if (!outer) return undefined;
    DurableRun.of(parent)?.addNested(turnId, `turn ${turnId}`);
    DurableRun.beginNested(run, turnId);
    return SLOT.set(run, outer);
  }

  /** Undefined if the turn cannot pause. */
  static of(run: RunRecord): PausedRun | undefined {
    return SLOT.get(run);
  }

  /** Those that are not decided yet, in the order in which they were made. */
  get requests(): readonly PendingRequest[] {
    return [...this.pending.values()];
  }

  /**
   * The decision on a request. Without one, the request becomes part of the paused turn, and the
   * caller must throw {@link error}. A decision on another tool, other arguments or another question
   * than those of the request does not count, unless the call has ended before.
   * @param durable the steps of the turn that the call belongs to
   * @param kind the name of those of the call
   */
  request(pending: PendingRequest, durable?: DurableRun, kind = ''): Decision | undefined {
    const known = this.known.get(pending.id);
    const hasEnded = durable !== undefined && this.journal.hasEnded(durable, kind);
    if (known && (hasEnded || isSame(known.request, pending))) return known.decision;
    this.pending.set(pending.id, pending);
    return undefined;
  }

  /** The error that ends the turn: the same for all its pending calls. */
  get error(): TurnPausedError {
    return (this.paused ??= new TurnPausedError(
      'The turn waits for decisions of people, and no advisor of the outermost client can pause it.',
    ));
  }

  /** Begins another attempt, which makes its own requests. */
  restart(): void {
    this.pending.clear();
  }
}

function isSame(a: PendingRequest, b: PendingRequest): boolean {
  return contentOf(a) === contentOf(b);
}

/** The part of a request that a person decides on. */
function contentOf(request: PendingRequest): string {
  const { type, toolName } = request;
  const content =
    request.type === 'approval'
      ? [request.fingerprint, request.arguments]
      : [request.prompt, jsonData(request.schema) ?? null];
  return canonicalJson([type, toolName, ...content]);
}
