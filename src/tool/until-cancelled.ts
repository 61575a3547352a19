import type { Cancellable } from '../chat/cancellation.js';
import { CancelledError } from '../errors.js';

/**
 * What a promise of others settles to, unless the run is cancelled before.
 * @throws what the promise rejects with, {@link CancelledError}
 */
export function untilCancelled<T>(promise: Promise<T>, cancellation: Cancellable): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = cancellation.onCancel((cause) => reject(new CancelledError('The run was cancelled.', { cause })));
    promise.then(resolve, reject).finally(release);
  });
}
