/** A call that may have to wait for others. */
export interface ScheduledCall<T> {
  /**
   * Called at most once; must not throw or reject. A synchronous call is not counted as running.
   */
  run(): T | Promise<T>;
  /** The call does not start, and is not counted as running, before this resolves; must not reject. */
  readonly ready?: Promise<void> | undefined;
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
  const isUnconstrained = calls.every(
    ({ key, maxOfGroup = Infinity }) => key === undefined && maxOfGroup === Infinity,
  );
  if (isUnconstrained && calls.length <= max)
    return Promise.all(
      calls.map((call) => (call.ready ? call.ready.then(() => call.run()) : call.run())),
    );
  return new Promise((resolve, reject) => new Schedule(calls, max, resolve, reject).startCalls());
}

/**
 * Free of deadlocks: calls wait only for earlier calls and are not counted as running meanwhile, so
 * the first unfinished call can always run.
 */
class Schedule<T> {
  private readonly results: T[] = [];
  /** Positions of the unfinished calls, in order. */
  private readonly unfinished: Set<number>;
  private readonly running = new Set<number>();
  /** Positions of the calls that may not start yet. */
  private readonly preparing = new Set<number>();

  constructor(
    private readonly calls: readonly ScheduledCall<T>[],
    private readonly max: number,
    private readonly resolve: (results: T[]) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.unfinished = new Set(calls.keys());
    for (const [at, { ready }] of calls.entries()) if (ready) this.prepare(at, ready);
  }

  private prepare(at: number, ready: Promise<void>): void {
    this.preparing.add(at);
    ready.then(() => {
      this.preparing.delete(at);
      this.startCalls();
    }, this.reject);
  }

  startCalls(): void {
    /** Resources of earlier unfinished calls; true: one of the calls changes it. */
    const inUse = new Map<string, boolean>();
    for (const at of this.unfinished) {
      if (this.running.size >= this.max) return;
      const { key, reads = false } = this.calls[at] as ScheduledCall<T>;
      const isFree = key === undefined || !inUse.has(key) || (reads && !inUse.get(key));
      const isStartable = !this.running.has(at) && !this.preparing.has(at);
      if (isFree && isStartable && this.hasRoom(at)) this.startCall(at);
      if (key !== undefined && this.unfinished.has(at))
        inUse.set(key, !reads || inUse.get(key) === true);
    }
    if (this.unfinished.size === 0) this.resolve(this.results);
  }

  /** One call of a group can always run, even if an unchecked limit is below 1. */
  private hasRoom(at: number): boolean {
    const { group, maxOfGroup = Infinity } = this.calls[at] as ScheduledCall<T>;
    if (maxOfGroup === Infinity) return true;
    const running = [...this.running].filter((other) => this.calls[other]?.group === group).length;
    return running === 0 || running < maxOfGroup;
  }

  private startCall(at: number): void {
    const result = (this.calls[at] as ScheduledCall<T>).run();
    if (!(result instanceof Promise)) return this.finishCall(at, result);
    this.running.add(at);
    result.then((value) => {
      this.running.delete(at);
      this.finishCall(at, value);
      this.startCalls();
    }, this.reject);
  }

  private finishCall(at: number, result: T): void {
    this.results[at] = result;
    this.unfinished.delete(at);
  }
}
