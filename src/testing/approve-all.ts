import type { Decision, Decisions, PausedTurn } from '../core/chat/paused-turn.js';
import { InvalidArgumentError } from '../core/errors/errors.js';

/**
 * Decisions that allow all calls of a paused turn, for `client.resume(…)`. Questions of
 * tools stay open: add their answers.
 * @param paused `response.paused`, or a turn of `client.pending(…)`
 * @param decision for each call, in place of one that allows it once
 * @throws {@link InvalidArgumentError} if the turn is not paused
 */
export function approveAll(
  paused: Pick<PausedTurn, 'requests'> | undefined,
  decision: Decision = { type: 'allow' },
): Decisions {
  if (!paused)
    throw new InvalidArgumentError(
      'approveAll(…): the turn is not paused; give it response.paused of a turn that waits',
    );
  const approvals = paused.requests.filter(({ type }) => type === 'approval');
  return Object.fromEntries(approvals.map(({ id }) => [id, decision]));
}
