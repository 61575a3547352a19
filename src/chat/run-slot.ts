import type { RunRecord } from './run-record.js';

/** A typed place for the state that an advisor has in each run; it ends with the run. */
export class RunSlot<T extends object> {
  get(run: RunRecord): T | undefined {
    return run.slots?.get(this) as T | undefined;
  }

  set(run: RunRecord, state: T): T {
    run.slots ??= new Map();
    run.slots.set(this, state);
    return state;
  }

  /** The state of the nearest outer run that has one. */
  ofOuter({ parent }: RunRecord): T | undefined {
    return parent && (this.get(parent) ?? this.ofOuter(parent));
  }
}
