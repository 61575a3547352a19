import type { GetWorkflowsInput } from '@dbos-inc/dbos-sdk';
import { DBOS, StatusString } from './dbos-sdk.js';

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
