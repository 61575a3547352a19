import { DurableTurnError } from '../../core/errors/errors.js';
import { checkOption, ID } from '../../core/internal/options.js';
import { outsideWorkflows, DBOS, StatusString } from './dbos-sdk.js';
import { decodeStarted, type Started } from './turn-workflow.js';

/** State of a turn of {@link DbosTurns}. */
export type DbosTurnStatus = 'queued' | 'running' | 'finished' | 'failed' | 'cancelled';

/** A turn that is in the database. */
export interface KnownTurn<Input> {
  readonly status: DbosTurnStatus;
  readonly hasEnded: boolean;
  readonly started: Started<Input>;
}

const STATUS: Readonly<Record<string, DbosTurnStatus>> = {
  [StatusString.ENQUEUED]: 'queued',
  [StatusString.DELAYED]: 'queued',
  [StatusString.PENDING]: 'running',
  [StatusString.SUCCESS]: 'finished',
  [StatusString.CANCELLED]: 'cancelled',
};

/**
 * Finds a turn by its id.
 * @throws {@link InvalidArgumentError} if the id is no text, {@link DurableTurnError} if there is no such turn
 */
export async function findTurn<Input>(method: string, turnId: string): Promise<KnownTurn<Input>> {
  checkOption(`DbosTurns.${method}`, 'turnId', turnId, ID);
  const known = await outsideWorkflows(() => DBOS.getWorkflowStatus(turnId));
  if (!known) throw new DurableTurnError(`There is no turn '${turnId}' in this database.`);
  const status = STATUS[known.status] ?? 'failed';
  const hasEnded = status !== 'queued' && status !== 'running';
  return { status, hasEnded, started: decodeStarted<Input>(known.input?.[0]) };
}
