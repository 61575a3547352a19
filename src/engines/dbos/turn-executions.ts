import { AsyncLocalStorage } from 'node:async_hooks';
import type { DurableEngine } from '../durable-engine.js';
import { outsideWorkflows, DBOS, StatusString } from './dbos-sdk.js';
import { MAX_DELAY } from './until-aborted.js';

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

/** Interval in milliseconds at which a process asks which of its turns were cancelled elsewhere. */
const INTERVAL = 1000;

const running = new Set<TurnExecution>();
const watched = new Map<string, Set<ExecutionEnds>>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Stops an execution once its turn is cancelled, in whichever process; returns a function to end that. */
export function watchForCancel(execution: TurnExecution): () => void {
  running.add(execution);
  timer ??= outsideWorkflows(() => setInterval(() => void stopCancelled(), INTERVAL).unref());
  return () => {
    watched.get(execution.turnId)?.forEach((each) => each.end());
    if (!running.delete(execution) || running.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Stops those executions of this process that belong to a turn. */
export function stopExecutions(turnId: string, reason: unknown): void {
  for (const execution of running) if (execution.turnId === turnId) execution.stop(reason);
}

/** The ends of executions of a turn in this process, from now on. */
export class ExecutionEnds {
  private hasEnded = false;
  private wake = (): void => undefined;

  constructor(private readonly turnId: string) {
    const watches = watched.get(turnId) ?? new Set();
    watched.set(turnId, watches.add(this));
  }

  /** Resolves after some milliseconds, or at an end, also one since the last pause: to true then. */
  async pause(milliseconds: number): Promise<boolean> {
    if (!this.hasEnded)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(milliseconds, MAX_DELAY));
        this.wake = () => (clearTimeout(timer), resolve());
      });
    const { hasEnded } = this;
    this.hasEnded = false;
    return hasEnded;
  }

  end(): void {
    this.hasEnded = true;
    this.wake();
  }

  close(): void {
    const watches = watched.get(this.turnId);
    if (watches?.delete(this) && watches.size === 0) watched.delete(this.turnId);
  }
}

/** Ids of the turns that run in this process. */
export function runningTurns(): string[] {
  return [...new Set([...running].map(({ turnId }) => turnId))];
}

async function stopCancelled(): Promise<void> {
  const workflowIDs = runningTurns();
  try {
    const cancelled = await DBOS.listWorkflows({
      workflowIDs,
      status: StatusString.CANCELLED,
      loadInput: false,
      loadOutput: false,
    });
    for (const { workflowID } of cancelled) stopExecutions(workflowID, cancelReason(workflowID));
  } catch (error) {
    // the next interval asks again; each step of a turn asks, too
    DBOS.logger.warn(`Turns that were cancelled could not be listed: ${String(error)}`);
  }
}

/** The reason of the signal of a cancelled turn. */
export function cancelReason(turnId: string): Error {
  return new DOMException(`The turn '${turnId}' was cancelled.`, 'AbortError');
}
