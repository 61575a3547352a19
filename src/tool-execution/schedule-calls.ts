/** A call that may have to wait for others. */
export interface ScheduledCall<T> {
  /**
   * Called at most once; must not throw or reject. A synchronous call is not counted as running.
   */
  readonly run: () => T | Promise<T>;
  /** The resource of the call. @default none: the call waits for no other */
  readonly key?: string | undefined;
  /** The call does not change its resource. */
  readonly reads?: boolean | undefined;
  readonly group?: object | undefined;
  /** Maximum number of calls of the group that run at the same time. */
  readonly maxOfGroup?: number | undefined;
}

/**
 * Runs calls in order, at most `max` at a time. Of the calls with the same key, reading calls run
 * in parallel; any other runs after all earlier calls and before all later ones. A waiting call
 * delays only the calls that wait for it.
 */
export function scheduleCalls<T>(calls: readonly ScheduledCall<T>[], max: number): Promise<T[]> {
  if (calls.length <= max && calls.every(isUnconstrained))
    return Promise.all(calls.map(({ run }) => run()));
  return new Promise((resolve, reject) => new Schedule(calls, max, resolve, reject).startCalls());
}

function isUnconstrained({ key, maxOfGroup = Infinity }: ScheduledCall<unknown>): boolean {
  return key === undefined && maxOfGroup === Infinity;
}

/**
 * Free of deadlocks: calls wait only for earlier calls and are not counted as running meanwhile, so
 * the first unfinished call can always run.
 */
class Schedule<T> {
  private readonly results: T[] = [];
  /** Positions of the calls that have not started, in order. */
  private readonly pending: number[];
  /** Number of unfinished calls that each call waits for. */
  private readonly blockers: number[];
  /** Positions of the calls that wait for each call. */
  private readonly followers: readonly number[][];
  private readonly runningOf = new Map<object, number>();
  private running = 0;
  private unfinished: number;

  constructor(
    private readonly calls: readonly ScheduledCall<T>[],
    private readonly max: number,
    private readonly resolve: (results: T[]) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.unfinished = calls.length;
    this.pending = calls.map((_, at) => at);
    const before = conflictsBefore(calls);
    this.blockers = before.map((earlier) => earlier.length);
    this.followers = calls.map(() => []);
    before.forEach((earlier, at) => earlier.forEach((each) => this.followers[each]?.push(at)));
  }

  startCalls(): void {
    for (let next = 0; next < this.pending.length && this.running < this.max;) {
      const at = this.pending[next] as number;
      if (!this.canRun(at)) next++;
      else {
        this.pending.splice(next, 1);
        this.startCall(at);
      }
    }
    if (this.unfinished === 0) this.resolve(this.results);
  }

  private canRun(at: number): boolean {
    const { group, maxOfGroup = Infinity } = this.calls[at] as ScheduledCall<T>;
    if (this.blockers[at] !== 0) return false;
    // one call can always run, even if an unchecked limit is below 1
    const running = group === undefined ? 0 : (this.runningOf.get(group) ?? 0);
    return running === 0 || running < maxOfGroup;
  }

  private startCall(at: number): void {
    const { run, group } = this.calls[at] as ScheduledCall<T>;
    const result = run();
    if (!(result instanceof Promise)) return this.finishCall(at, result);
    this.countRunning(group, 1);
    result.then((value) => {
      this.countRunning(group, -1);
      this.finishCall(at, value);
      this.startCalls();
    }, this.reject);
  }

  private countRunning(group: object | undefined, by: 1 | -1): void {
    this.running += by;
    if (group) this.runningOf.set(group, (this.runningOf.get(group) ?? 0) + by);
  }

  private finishCall(at: number, result: T): void {
    this.results[at] = result;
    this.unfinished--;
    for (const follower of this.followers[at] as number[])
      this.blockers[follower] = (this.blockers[follower] as number) - 1;
  }
}

/** The earlier calls that each call waits for directly. */
function conflictsBefore(calls: readonly ScheduledCall<unknown>[]): readonly (readonly number[])[] {
  const writers = new Map<string, number>();
  const readers = new Map<string, number[]>(); // since the last writer
  return calls.map(({ key, reads = false }, at) => {
    if (key === undefined) return [];
    const writer = writers.get(key);
    const reading = readers.get(key) ?? [];
    if (reads) {
      readers.set(key, reading);
      reading.push(at);
    } else {
      writers.set(key, at);
      readers.delete(key);
    }
    return !reads && reading.length > 0 ? reading : writer === undefined ? [] : [writer];
  });
}
