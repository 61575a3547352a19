/** A piece of work that may have to wait for others. */
export interface ScheduledCall<T> {
  /** Called at most once; must not fail. What is done at once takes no place among those that run. */
  readonly run: () => T | Promise<T>;
  /** What it works on; without one it waits for nobody's work. */
  readonly key?: string | undefined;
  /** Whether it leaves what it works on as it is. */
  readonly reads?: boolean | undefined;
  /** What it is one of, with the most of these that run at the same time. */
  readonly group?: object | undefined;
  readonly maxOfGroup?: number | undefined;
}

/**
 * Runs calls in their order, at most `max` at a time. Of the calls with one key, those that read run together; any other waits
 * for all before it, and all after it wait for it. A call that has to wait holds up only those that have to wait for it.
 */
export function scheduleCalls<T>(calls: readonly ScheduledCall<T>[], max: number): Promise<T[]> {
  if (calls.length <= max && calls.every(isFree)) return Promise.all(calls.map(({ run }) => run()));
  return new Promise((resolve, reject) => new Schedule(calls, max, resolve, reject).start());
}

function isFree({ key, maxOfGroup = Infinity }: ScheduledCall<unknown>): boolean {
  return key === undefined && maxOfGroup === Infinity;
}

/**
 * Calls wait only for earlier ones, and hold no place while they do: so the first call that has not ended can always run, and
 * no batch comes to a standstill.
 */
class Schedule<T> {
  private readonly results: T[] = [];
  /** Places of the calls that have not begun, in order. */
  private readonly waiting: number[];
  /** For each call, how many that have not ended it waits for. */
  private readonly blockers: number[];
  /** For each call, which ones wait for it. */
  private readonly followers: readonly number[][];
  private readonly runningOf = new Map<object, number>();
  private running = 0;
  private left: number;

  constructor(
    private readonly calls: readonly ScheduledCall<T>[],
    private readonly max: number,
    private readonly resolve: (results: T[]) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.left = calls.length;
    this.waiting = calls.map((_, at) => at);
    const before = conflictsBefore(calls);
    this.blockers = before.map((earlier) => earlier.length);
    this.followers = calls.map(() => []);
    before.forEach((earlier, at) => earlier.forEach((one) => this.followers[one]?.push(at)));
  }

  /** Begins whatever may run now. */
  start(): void {
    for (let next = 0; next < this.waiting.length && this.running < this.max;) {
      const at = this.waiting[next] as number;
      if (!this.mayRun(at)) next++;
      else {
        this.waiting.splice(next, 1);
        this.begin(at);
      }
    }
    if (this.left === 0) this.resolve(this.results);
  }

  private mayRun(at: number): boolean {
    const { group, maxOfGroup = Infinity } = this.calls[at] as ScheduledCall<T>;
    if (this.blockers[at] !== 0) return false;
    const running = group === undefined ? 0 : (this.runningOf.get(group) ?? 0);
    return running === 0 || running < maxOfGroup; // one may always run, whatever the limit of a tool by hand is
  }

  private begin(at: number): void {
    const { run, group } = this.calls[at] as ScheduledCall<T>;
    const result = run();
    if (!(result instanceof Promise)) return this.end(at, result);
    this.count(group, 1);
    result.then((value) => {
      this.count(group, -1);
      this.end(at, value);
      this.start();
    }, this.reject);
  }

  private count(group: object | undefined, by: 1 | -1): void {
    this.running += by;
    if (group) this.runningOf.set(group, (this.runningOf.get(group) ?? 0) + by);
  }

  private end(at: number, result: T): void {
    this.results[at] = result;
    this.left--;
    for (const follower of this.followers[at] as number[]) this.blockers[follower] = (this.blockers[follower] as number) - 1;
  }
}

/** For each call, the earlier ones that it waits for; what these wait for is left out. */
function conflictsBefore(calls: readonly ScheduledCall<unknown>[]): readonly (readonly number[])[] {
  const writers = new Map<string, number>();
  const readers = new Map<string, number[]>(); // those since the last writer
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
