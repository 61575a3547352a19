import { config } from 'rxjs';

/** What is reported like an error of an observer while something runs, instead of ending the process. */
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
