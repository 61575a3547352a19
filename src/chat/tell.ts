import { reportUnhandledError } from '../rxjs.js';

/** Tells a listener something. What it throws is reported like an error of an RxJS observer: it must not change what it is told of. */
export function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    reportUnhandledError(error);
  }
}
