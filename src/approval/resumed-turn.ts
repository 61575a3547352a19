import type { Decisions } from '../chat/paused-turn.js';
import type { RunRecord } from '../chat/run-record.js';
import { RunSlot } from '../chat/run-slot.js';
import type { TurnState } from './turn-state.js';

const SLOT = new RunSlot<ResumedTurn>();

/** A paused turn that a run goes on with. */
export class ResumedTurn {
  constructor(
    readonly state: TurnState,
    readonly decisions: Decisions,
  ) {}

  static begin(run: RunRecord, turn: ResumedTurn): void {
    SLOT.set(run, turn);
  }

  /** Undefined if the run is a new turn. */
  static of(run: RunRecord): ResumedTurn | undefined {
    return SLOT.get(run);
  }
}
