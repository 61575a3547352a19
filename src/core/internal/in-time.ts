import { Cancellation, cancelledError, onAbort, ownerOf } from './cancellation.js';

/**
 * Runs work until a time limit in milliseconds, whose signal then aborts. It belongs to the run of the
 * outer signal.
 * @throws `timedOut`, {@link CancelledError}, the rejection of the work
 */
export function inTime<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timeout: number,
  timedOut: Error,
  signal?: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancellation = new Cancellation(undefined, signal && ownerOf(signal));
    const releases: (() => void)[] = [];
    const end = (): void => releases.forEach((release) => release());
    const stop = (error: Error): void => {
      end();
      reject(error);
      cancellation.cancel(error);
    };
    if (timeout !== Infinity) {
      const timer = setTimeout(() => stop(timedOut), timeout);
      releases.push(() => clearTimeout(timer));
    }
    if (signal) releases.push(onAbort(signal, () => stop(cancelledError(signal.reason))));
    work(cancellation.signal).then(resolve, reject).finally(end);
  });
}
