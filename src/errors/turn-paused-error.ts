import { AdvisorChainError } from './advisor-chain-error.js';

/**
 * The turn waits for decisions of people. Advisors see it as the end of an unfinished turn; results
 * that can show a paused turn (`chatResponse()`, `events()`, …) have it as `paused` instead.
 */
export class TurnPausedError<Paused = unknown> extends AdvisorChainError {
  override name = 'TurnPausedError';
  readonly code = 'turn_paused';
  /**
   * The turn as data, for `client.resume(paused.state, decisions)`; undefined for the advisors that
   * see the error before all calls of the batch have ended.
   */
  readonly paused: Paused | undefined;

  constructor(message: string, paused?: Paused) {
    super(message);
    this.paused = paused;
  }

  /** Adds the turn as data when it has come to rest. */
  seal(paused: Paused): void {
    (this as { paused: Paused }).paused = paused;
  }
}
