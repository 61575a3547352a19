import { cancelledError, onRunCancel } from './cancellation.js';

/** Delays between attempts: each is twice as long as the one before, up to a maximum. */
export interface Backoff {
  /** Milliseconds before the first retry. */
  readonly first: number;
  /** Maximum number of milliseconds before a retry. */
  readonly max: number;
  /** Fraction from 0 to 1 by which a delay is randomly shortened, at most. @default 0 */
  readonly jitter?: number;
}

/** Milliseconds before a retry, counted from 0. */
export function backoffDelay(retry: number, { first, max, jitter = 0 }: Backoff): number {
  return Math.min(first * 2 ** retry, max) * (1 - jitter * Math.random());
}

/**
 * Resolves after a number of milliseconds.
 * @throws {@link CancelledError} at once when the run is cancelled
 */
export function delay(milliseconds: number, run: Parameters<typeof onRunCancel>[0]): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      release();
      resolve();
    }, milliseconds);
    const release = onRunCancel(run, (cause) => {
      clearTimeout(timer);
      reject(cancelledError(cause));
    });
  });
}
