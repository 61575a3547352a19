import { ModelCallError } from '../../src/index.js';

/** Parts of a turn whose operations can fail. */
export const PARTS = ['model', 'tool', 'store', 'index', 'hook', 'telemetry', 'listener'] as const;

export type Part = (typeof PARTS)[number];

/** The operation of a part that fails: once, or with all later ones; before or after its effect. */
export interface Fault {
  readonly part: Part;
  /** Number of the operation, from 1. */
  readonly at: number;
  readonly forGood: boolean;
  readonly after: boolean;
}

/** A secret in the message of each fault. */
export const CANARY = 'canary-51f0';

/** Counts the operations of each part, and fails the operations of a fault. */
export class FaultPlan {
  readonly counts = new Map<Part, number>();
  /** Errors that were thrown. */
  readonly thrown: Error[] = [];

  constructor(private fault?: Fault) {}

  /** Lets all later operations succeed. */
  disarm(): void {
    this.fault = undefined;
  }

  perform<T>(part: Part, operation: () => T): T {
    if (!this.isDue(part)) return operation();
    const error = this.newError(part);
    if (!this.fault?.after) throw error;
    const result = operation();
    if (result instanceof Promise) return result.then(() => Promise.reject(error)) as T;
    throw error;
  }

  private isDue(part: Part): boolean {
    const count = (this.counts.get(part) ?? 0) + 1;
    this.counts.set(part, count);
    const { fault } = this;
    if (fault?.part !== part) return false;
    return fault.forGood ? count >= fault.at : count === fault.at;
  }

  private newError(part: Part): Error {
    const message = `${part} failed ${CANARY}`;
    const error =
      part === 'model' ? new ModelCallError(message, { status: 503 }) : new Error(message);
    this.thrown.push(error);
    return error;
  }
}

/** Parts whose operations have effects, so that they can fail after them. */
const WITH_EFFECTS: readonly Part[] = ['model', 'tool', 'store', 'index'];

/** Faults of all operations of a clean run. */
export function faultsOf(counts: ReadonlyMap<Part, number>): readonly Fault[] {
  return PARTS.flatMap((part) => {
    const times = WITH_EFFECTS.includes(part) ? [false, true] : [false];
    return Array.from({ length: counts.get(part) ?? 0 }, (_, index) =>
      times.flatMap((after) =>
        [false, true].map((forGood) => ({ part, at: index + 1, forGood, after })),
      ),
    ).flat();
  });
}

export function describeFault({ part, at, forGood, after }: Fault): string {
  return `${part} operation ${at} fails ${forGood ? 'for good' : 'once'}, ${after ? 'after' : 'before'} its effect`;
}
