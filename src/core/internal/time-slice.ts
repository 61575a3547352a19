/** Milliseconds for which work that never waits may keep the timers and sockets of the process waiting. */
const SLICE = 10;
const startTask: (callback: () => void) => unknown =
  typeof setImmediate === 'function' ? setImmediate : setTimeout;

const nextTask = (): Promise<void> => new Promise((resolve) => startTask(resolve));

/** Divides long work, so that the process answers others meanwhile. */
export class TimeSlice {
  private start = Date.now();

  /** To be awaited between two steps, if it is a promise: the slice is over. */
  next(): Promise<void> | undefined {
    const used = Date.now() - this.start;
    // a clock that was set back ends the slice
    if (used >= 0 && used <= SLICE) return undefined;
    return nextTask().then(() => {
      this.start = Date.now();
    });
  }
}

/** Divides the work of parallel parts: once they have used a slice, each waits for a task of its own. */
export class SharedTimeSlice {
  private used = 0;
  private last: Promise<void> | undefined;

  /** Runs synchronous work, at once as a rule. */
  run<T>(work: () => T): T | Promise<T> {
    if (!this.last && this.used <= SLICE) return this.measure(work);
    const turn = (this.last ?? Promise.resolve()).then(nextTask);
    this.last = turn;
    return turn.then(() => {
      if (this.last === turn) this.last = undefined;
      this.used = 0;
      return this.measure(work);
    });
  }

  private measure<T>(work: () => T): T {
    const start = Date.now();
    try {
      return work();
    } finally {
      this.used += Math.abs(Date.now() - start);
    }
  }
}
