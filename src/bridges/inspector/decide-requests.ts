import { checkDecisions, decisionProblem } from '../../core/chat/decisions.js';
import type { Decisions } from '../../core/chat/paused-turn.js';
import { decideWaiting, waitingRequests } from '../../core/chat/waiting-requests.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import type { LiveTurn } from './inspected-source.js';

/**
 * Decides requests for which a running turn waits; false if it waits for none of them.
 * @throws {@link InvalidArgumentError} if a decision does not fit its request
 */
export function decideRequests({ request: { run } }: LiveTurn, decisions: Decisions): boolean {
  checkDecisions(decisions, 'decisions');
  const requests = waitingRequests(run).filter(({ id }) => Object.hasOwn(decisions, id));
  for (const request of requests) {
    const problem = decisionProblem(request, decisions[request.id]);
    if (problem !== undefined) throw new InvalidArgumentError(`decisions: ${problem}`);
  }
  for (const { id } of requests) {
    const decision = decisions[id];
    if (decision) decideWaiting(run, id, decision);
  }
  return requests.length > 0;
}
