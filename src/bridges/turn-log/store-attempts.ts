import { hasCode } from '../../core/errors/advisor-chain-error.js';
import type { TurnLogError } from '../../core/errors/errors.js';
import { backoffDelay } from '../../core/internal/backoff.js';

const WAITS = { first: 50, max: 500 };

/** Repeats operations of a log while its store is away, up to a time since it was there. */
export class StoreAttempts {
  private failures = 0;
  private since = 0;

  /** @param limit milliseconds */
  constructor(private readonly limit: number) {}

  /** Notes that the store has answered. */
  succeed(): void {
    this.failures = 0;
  }

  /**
   * Milliseconds until the operation may be repeated.
   * @throws the error if it is not one of the store, or the store is away for too long
   */
  waitAfter(error: unknown): number {
    if (this.failures === 0) this.since = performance.now();
    const isOfStore = hasTurnLogCode(error) && error.reason === 'store';
    if (!isOfStore || performance.now() - this.since >= this.limit) throw error;
    return backoffDelay(this.failures++, WAITS);
  }
}

function hasTurnLogCode(error: unknown): error is TurnLogError {
  return hasCode(error, 'turn_log');
}
