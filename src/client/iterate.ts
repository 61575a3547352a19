import type { Observable, Subscription } from '../rxjs.js';

/**
 * An Observable as an async iterator: subscribes at the first `next`, keeps what comes while nobody asks, unsubscribes at `return`.
 */
export function iterate<T>(source: Observable<T>): AsyncIterator<T> {
  const ready: T[] = [];
  const waiting: { resolve: (result: IteratorResult<T>) => void; reject: (error: unknown) => void }[] = [];
  let subscription: Subscription | undefined;
  let end: { readonly error?: unknown; readonly failed: boolean } | undefined;

  const finish = (how: { readonly error?: unknown; readonly failed: boolean }): void => {
    end ??= how;
    for (const { resolve, reject } of waiting.splice(0)) {
      if (how.failed) reject(how.error);
      else resolve({ done: true, value: undefined });
    }
  };
  const start = (): Subscription =>
    source.subscribe({
      next: (value) => {
        const consumer = waiting.shift();
        if (consumer) consumer.resolve({ done: false, value });
        else ready.push(value);
      },
      error: (error: unknown) => finish({ failed: true, error }),
      complete: () => finish({ failed: false }),
    });

  return {
    next: () => {
      subscription ??= start();
      if (ready.length > 0) return Promise.resolve({ done: false, value: ready.shift() as T });
      if (end) {
        const { failed, error } = end;
        end = { failed: false }; // an error is told once, then the iterator is done
        return failed ? Promise.reject(error as Error) : Promise.resolve({ done: true, value: undefined });
      }
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    return: () => {
      subscription?.unsubscribe();
      ready.length = 0;
      finish({ failed: false });
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}
