import { onAbort } from '../../core/internal/cancellation.js';

/** Longest delay of a timer, in milliseconds. */
export const MAX_DELAY = 2 ** 31 - 1;

/** The outcome of a promise; rejects with the reason of the signal once that is aborted. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const release = onAbort(signal, () => reject(signal.reason as Error));
    promise.then(resolve, reject).finally(release);
  });
}

/** Resolves at a time in milliseconds since 1970; rejects with the reason of the signal once that is aborted. */
export async function sleepUntil(end: number, signal: AbortSignal): Promise<void> {
  for (let left = end - Date.now(); left > 0; left = end - Date.now()) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const elapsed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.min(left, MAX_DELAY));
    });
    await untilAborted(elapsed, signal).finally(() => clearTimeout(timer));
  }
  signal.throwIfAborted();
}
