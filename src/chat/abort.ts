const callbacks = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when a signal aborts (at once if it has); returns how to stop waiting.
 *
 * All waiters of a signal share one listener: an application may hand one signal to thousands of runs, and Node warns of a
 * leak at the eleventh listener.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  const waiting = callbacks.get(signal) ?? listen(signal);
  waiting.add(callback);
  return () => waiting.delete(callback);
}

function listen(signal: AbortSignal): Set<() => void> {
  const waiting = new Set<() => void>();
  callbacks.set(signal, waiting);
  signal.addEventListener('abort', () => waiting.forEach((callback) => callback()), { once: true });
  return waiting;
}
