import type { GetWorkflowsInput } from '@dbos-inc/dbos-sdk';
import { DurableTurnError } from '../../core/errors/errors.js';
import { checkOptions, numberBetween } from '../../core/internal/options.js';
import { runningTurns, stopExecutions } from './turn-executions.js';
import { outsideWorkflows, DBOS, StatusString } from './dbos-sdk.js';

/** Options of {@link DbosTurns.drain}. */
export interface DrainOptions {
  /** Milliseconds in which running turns can end; a number from 0 to 86,400,000. @default 20,000 */
  readonly timeLimit?: number | undefined;
}

/** Result of {@link DbosTurns.drain}. */
export interface Drained {
  /** Ids of the unfinished turns, which continue in another process. */
  readonly requeued: readonly string[];
}

const TIME_LIMIT = numberBetween(0, 86_400_000);
/** Milliseconds after the time limit in which turns are put back on their queue. */
const GRACE = 2000;

let draining: Promise<Drained> | undefined;

/** @throws {@link DurableTurnError} while the process is drained */
export function checkNotDraining(): void {
  if (draining)
    throw new DurableTurnError(
      'DbosTurns.start: this process is drained, and runs no more turns; start the turn in another one',
    );
}

/** A second call waits for the first one. */
export function drain(options: DrainOptions = {}): Promise<Drained> {
  checkOptions('DbosTurns.drain', options, { timeLimit: TIME_LIMIT });
  draining ??= outsideWorkflows(() => shutDown(options.timeLimit ?? 20_000)).finally(
    () => (draining = undefined),
  );
  return draining;
}

async function shutDown(timeLimit: number): Promise<Drained> {
  let requeued: Promise<readonly string[]> = Promise.resolve([]);
  const timer = setTimeout(() => {
    requeued = handOver();
    // awaited below; it fails before that if the database is gone
    requeued.catch(() => undefined);
  }, timeLimit);
  try {
    // DBOS takes no more turns from the queue, waits, and closes its connections
    await DBOS.shutdown({ workflowCompletionTimeoutMS: timeLimit + GRACE });
  } finally {
    clearTimeout(timer);
  }
  return { requeued: await requeued };
}

/** Puts the turns that run here on their queue, and ends their executions, which own them no longer. */
async function handOver(): Promise<readonly string[]> {
  const workflowIDs = runningTurns();
  if (workflowIDs.length === 0) return [];
  const requeued = await requeue({ workflowIDs, executorId: DBOS.executorID });
  for (const turnId of requeued)
    stopExecutions(
      turnId,
      new DurableTurnError(
        `The turn '${turnId}' continues in another process: this one is drained.`,
      ),
    );
  return requeued;
}

/** Lets any process take turns that run, or ran, in one; returns their ids. The execution there can record nothing more. */
export async function requeue(filter: GetWorkflowsInput): Promise<readonly string[]> {
  const turns = await DBOS.listWorkflows({
    ...filter,
    status: StatusString.PENDING,
    loadInput: false,
    loadOutput: false,
  });
  const queues = new Map<string | undefined, string[]>();
  for (const { workflowID, queueName } of turns)
    queues.set(queueName, [...(queues.get(queueName) ?? []), workflowID]);
  for (const [queueName, ids] of queues)
    await DBOS.resumeWorkflows(ids, queueName === undefined ? {} : { queueName });
  return turns.map(({ workflowID }) => workflowID);
}
