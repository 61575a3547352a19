import { config } from 'rxjs';

/** Errors reported through `onUnhandledError` of RxJS during a run, instead of ending the process. */
export async function unhandledErrorsOf(run: () => Promise<unknown>): Promise<readonly unknown[]> {
  const reported: unknown[] = [];
  const before = config.onUnhandledError;
  config.onUnhandledError = (error) => void reported.push(error);
  try {
    await run();
    // they are reported by a timer
    await new Promise((resolve) => setTimeout(resolve, 5));
    return reported;
  } finally {
    config.onUnhandledError = before;
  }
}
