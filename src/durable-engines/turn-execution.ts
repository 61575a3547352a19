import { AsyncLocalStorage } from 'node:async_hooks';
import type { DurableEngine } from '../durable/durable-engine.js';

const CURRENT = new AsyncLocalStorage<DurableEngine>();

/**
 * The engine of the turn that runs here, for `new DurableAdvisor({ engine: dbosEngine })`; undefined
 * outside of a turn of {@link DbosTurns}.
 */
export function dbosEngine(): DurableEngine | undefined {
  return CURRENT.getStore();
}

/** One execution of a turn in this process. */
export class TurnExecution {
  private readonly controller = new AbortController();

  constructor(readonly turnId: string) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Ends the execution, but not the turn: DBOS has failed, or has given it to another process. */
  readonly stop = (error: unknown): void => this.controller.abort(error);

  /** Runs a part of the turn, which finds its engine by {@link dbosEngine}. */
  run<T>(engine: DurableEngine, part: () => T): T {
    return CURRENT.run(engine, part);
  }
}
