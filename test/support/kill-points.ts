/** Places at which a process can end; one that is armed with a place ends there. */
export class KillPoints {
  private readonly counts = new Map<string, number>();
  private target: string | undefined;

  /** @param onReached receives each place */
  constructor(private readonly onReached: (point: string) => void) {}

  /** Names the places from the start again, and ends the process at one of them. */
  arm(target?: string): void {
    this.counts.clear();
    this.target = target;
  }

  /** Ends the process if it is armed with this place. */
  reach(name: string): void {
    const count = (this.counts.get(name) ?? 0) + 1;
    this.counts.set(name, count);
    const point = count === 1 ? name : `${name} #${count}`;
    this.onReached(point);
    if (point === this.target) process.kill(process.pid, 'SIGKILL');
  }

  /** Adds places around methods of an object. */
  addToMethods(name: string, target: object, keys: readonly string[]): void {
    for (const key of keys)
      Reflect.set(target, key, pointed(this, `${name} ${key}`, Reflect.get(target, key)));
  }

  /** Places before and after a call, and once it has been made. */
  aroundCall<T>(name: string, call: () => T): T {
    this.reach(`${name}: before`);
    const returned = call();
    this.reach(`${name}: started`);
    if (!(returned instanceof Promise)) return returned;
    return returned.then((settled: unknown) => {
      this.reach(`${name}: after`);
      return settled;
    }) as T;
  }
}

type AnyMethod = (this: unknown, ...args: unknown[]) => unknown;

function pointed(points: KillPoints, name: string, method: AnyMethod): AnyMethod {
  return function (...args) {
    return points.aroundCall(name, () => method.apply(this, args));
  };
}
