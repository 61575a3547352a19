import type { Decision, Decisions, PausedTurn, PendingRequest } from '../chat/paused-turn.js';
import type { RunRecord } from '../chat/run-record.js';
import { RunSlot } from '../chat/run-slot.js';
import { TurnPausedError } from '../errors.js';

const SLOT = new RunSlot<PausedRun>();

/**
 * The requests to people of a run whose turn can pause. Turns of agents share the one of the outer turn, so
 * that one state has the requests of all.
 */
export class PausedRun {
  private readonly pending = new Map<string, PendingRequest>();
  private paused: TurnPausedError<PausedTurn> | undefined;

  /** @param decisions those of people so far, by the id of their request */
  constructor(readonly decisions: Decisions = {}) {}

  /** Makes the turn of a run one that can pause. */
  static begin(run: RunRecord, state: PausedRun): PausedRun {
    return SLOT.set(run, state);
  }

  /** Undefined if the turn cannot pause. */
  static of(run: RunRecord): PausedRun | undefined {
    return SLOT.get(run);
  }

  /** That of the nearest outer turn that can pause. */
  static ofOuter(run: RunRecord): PausedRun | undefined {
    return SLOT.ofOuter(run);
  }

  /** Those that are not decided yet, in the order in which they were made. */
  get requests(): readonly PendingRequest[] {
    return [...this.pending.values()];
  }

  /**
   * The decision on a request. Without one, the request becomes part of the paused turn, and the
   * caller must throw {@link error}.
   */
  request(pending: PendingRequest): Decision | undefined {
    const decision = Object.hasOwn(this.decisions, pending.id)
      ? this.decisions[pending.id]
      : undefined;
    if (!decision) this.pending.set(pending.id, pending);
    return decision;
  }

  /** The error that ends the turn: the same for all its pending calls. */
  get error(): TurnPausedError<PausedTurn> {
    return (this.paused ??= new TurnPausedError('The turn waits for decisions of people.'));
  }
}
