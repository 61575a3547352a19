import { RunSlot } from '../chat/run-slot.js';
import type { RunRecord } from '../chat/run-record.js';
import type { JsonValue } from '../internal/json.js';
import type { DurableEngine } from './durable-engine.js';

const SLOT = new RunSlot<DurableRun>();

/** The durable part of a run: names its steps, and records them with the engine of the turn. */
export class DurableRun {
  /** Number of steps of each name. */
  private readonly counts = new Map<string, number>();

  private constructor(readonly engine: DurableEngine) {}

  /** Makes a run durable: its steps are recorded from now on. */
  static begin(run: RunRecord, engine: DurableEngine): DurableRun {
    return SLOT.set(run, new DurableRun(engine));
  }

  /** Undefined if the run is not durable. */
  static of(run: RunRecord): DurableRun | undefined {
    return SLOT.get(run);
  }

  /**
   * A name for a step: that of its kind, and a number if the turn has used it before. Steps of one
   * kind must begin in the same order when the turn runs again.
   */
  nameOf(kind: string): string {
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    return count === 1 ? kind : `${kind} #${count}`;
  }

  step<T extends JsonValue>(kind: string, run: () => Promise<T>): Promise<T> {
    return this.engine.step(this.nameOf(kind), run);
  }
}
