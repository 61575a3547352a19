import { AdvisorChainError } from './advisor-chain-error.js';

/** A database was locked by other connections for the whole time limit; nothing was read or written. */
export class StoreBusyError extends AdvisorChainError {
  override name = 'StoreBusyError';
  readonly code = 'store_busy';

  constructor(
    /** The time limit, in milliseconds. */
    readonly timeout: number,
    options?: ErrorOptions,
  ) {
    super(
      `The database was locked by other connections for ${timeout} ms; nothing was read or written. Repeat the call, find the connection with the long transaction, or raise busyTimeout.`,
      options,
    );
  }
}
