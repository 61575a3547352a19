interface Listener {
  readonly waiting: Set<() => void>;
  readonly remove: () => void;
}

const listeners = new WeakMap<AbortSignal, Listener>();

/**
 * Calls back once when a signal aborts (at once if it has); returns how to stop waiting.
 *
 * All waiters of a signal share one listener, which the last one removes: an application may hand one signal to thousands of
 * runs, and Node warns of a leak at the eleventh listener.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  const { waiting, remove } = listeners.get(signal) ?? listen(signal);
  waiting.add(callback);
  return () => {
    if (waiting.delete(callback) && waiting.size === 0) remove();
  };
}

function listen(signal: AbortSignal): Listener {
  const waiting = new Set<() => void>();
  const tell = (): void => waiting.forEach((callback) => callback());
  const listener = {
    waiting,
    remove: () => {
      signal.removeEventListener('abort', tell);
      listeners.delete(signal);
    },
  };
  listeners.set(signal, listener);
  signal.addEventListener('abort', tell, { once: true });
  return listener;
}
