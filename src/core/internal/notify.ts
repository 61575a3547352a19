import { Observable } from './rxjs.js';

/** Calls a listener. Its errors are reported like an RxJS observer's. */
export function notify(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    reportUnhandledError(error);
  }
}

/** Reports an error later: to `config.onUnhandledError` of RxJS, or as an uncaught exception. */
export function reportUnhandledError(error: unknown): void {
  new Observable((subscriber) => subscriber.error(error)).subscribe();
}
