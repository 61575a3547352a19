/** Parts of a turn whose operations are disturbed. */
export type Part =
  'model' | 'tool' | 'memory' | 'ledger' | 'lock' | 'budget' | 'used states' | 'engine';

/** Way in which an operation is disturbed; `cancel` cancels the attempt while the operation runs. */
export const WAYS = ['before', 'after', 'cancel'] as const;
export type Way = (typeof WAYS)[number];

/** One operation of a turn that is disturbed, once. */
export interface Disturbance {
  /** Number of the operation in the turn, from 0. */
  readonly at: number;
  readonly way: Way;
}

/** An operation that was disturbed. */
export interface Disturbed {
  readonly part: Part;
  /** Such as `append` of a memory. */
  readonly operation: string;
  readonly way: Way;
}

/** Makes the error of a part: `after` the effect, or before it. */
export type ErrorOf = (way: Way) => Error;

const FAILED: ErrorOf = (way) => new Error(`failed ${way} its effect`);

/** Numbers the operations of a turn, and disturbs some of them. */
export class Operations {
  /** Names of all operations, such as `memory append`. */
  readonly names: string[] = [];
  readonly disturbed: Disturbed[] = [];
  /** Cancels the attempt that runs. */
  cancel: () => void = () => undefined;
  isActive = false;

  constructor(private readonly disturbances: readonly Disturbance[] = []) {}

  /** The way in which the next operation is disturbed. */
  next(part: Part, operation: string): Way | undefined {
    if (!this.isActive) return undefined;
    const at = this.names.push(`${part} ${operation}`) - 1;
    const way = this.disturbances.find((each) => each.at === at)?.way;
    if (way) this.disturbed.push({ part, operation, way });
    return way;
  }

  async perform<T>(
    part: Part,
    operation: string,
    run: () => Promise<T>,
    errorOf: ErrorOf = FAILED,
  ): Promise<T> {
    const way = this.next(part, operation);
    if (way === 'before') throw errorOf(way);
    const running = run();
    if (way === 'cancel') this.cancel();
    const value = await running;
    if (way === 'after') throw errorOf(way);
    return value;
  }

  /** An object whose methods are operations of a part. */
  of<T extends object>(
    part: Part,
    target: T,
    errorOf: (operation: string, args: readonly unknown[]) => ErrorOf = () => FAILED,
  ): T {
    return new Proxy(target, {
      get: (_, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const run = value.bind(target) as (...args: readonly unknown[]) => Promise<unknown>;
        const operation = String(name);
        return (...args: readonly unknown[]) =>
          this.perform(part, operation, () => run(...args), errorOf(operation, args));
      },
    });
  }
}

/** The disturbances in words. */
export function describeDisturbed(all: readonly Disturbed[]): string {
  return all.map(({ part, operation, way }) => `${part} ${operation}: ${way}`).join(', ');
}
