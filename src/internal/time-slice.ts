/** Milliseconds for which work that never waits may keep the timers and sockets of the process waiting. */
const SLICE = 10;
const startTask: (callback: () => void) => unknown =
  typeof setImmediate === 'function' ? setImmediate : setTimeout;

/** Divides long work, so that the process answers others meanwhile. */
export class TimeSlice {
  private start = Date.now();

  /** To be awaited between two steps, if it is a promise: the slice is over. */
  next(): Promise<void> | undefined {
    if (Date.now() - this.start <= SLICE) return undefined;
    return new Promise((resolve) => {
      startTask(() => {
        this.start = Date.now();
        resolve();
      });
    });
  }
}
