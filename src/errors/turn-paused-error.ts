import { AdvisorChainError } from './advisor-chain-error.js';

/**
 * The turn waits for decisions of people. Advisors see it as the end of an unfinished turn; results
 * that can show a paused turn (`chatResponse()`, `events()`, …) have it as `paused` instead. Its own
 * `paused` is set when all calls of the batch have ended.
 */
export class TurnPausedError extends AdvisorChainError {
  override name = 'TurnPausedError';
  readonly code = 'turn_paused';
}
