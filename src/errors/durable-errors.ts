import { AdvisorChainError } from './advisor-chain-error.js';

/**
 * A durable turn could not run: it has no engine, or a value of a step is not JSON. Nothing of the
 * step is recorded.
 */
export class DurableTurnError extends AdvisorChainError {
  override name = 'DurableTurnError';
  readonly code = 'durable_turn';
}

/**
 * A durable turn ran again, and sent another request to the model than the recorded one: a part of it
 * depends on something that is not recorded, such as the time.
 */
export class NonDeterminismError extends AdvisorChainError {
  override name = 'NonDeterminismError';
  readonly code = 'non_determinism';

  constructor(
    message: string,
    /** The step whose input differs. */
    readonly stepName: string,
    /** The first advisor that changed the request otherwise; undefined if the request itself differs. */
    readonly advisorName: string | undefined,
  ) {
    super(message);
  }
}
