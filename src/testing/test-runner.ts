import { InvalidArgumentError } from '../errors.js';

/** The functions of a test runner that suites need. */
export interface TestRunner {
  readonly describe: (title: string, body: () => void) => unknown;
  readonly it: (title: string, body: () => Promise<void>) => unknown;
}

/**
 * The runner whose `describe` and `it` are global (mocha, jest, vitest with `globals`).
 * @param suite who needs it, for the message
 * @throws {@link InvalidArgumentError} if there is no such runner
 */
export function globalTestRunner(suite: string): TestRunner {
  const { describe, it } = globalThis as unknown as Partial<TestRunner>;
  if (typeof describe === 'function' && typeof it === 'function') return { describe, it };
  throw new InvalidArgumentError(`${suite} needs global describe and it: run it in mocha, jest or vitest with globals`);
}
