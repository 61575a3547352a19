import { InvalidArgumentError } from '../errors.js';

/** The functions of a test runner for contract suites. */
interface TestRunner {
  readonly describe: (title: string, body: () => void) => unknown;
  readonly it: (title: string, body: () => Promise<void>) => unknown;
}

/**
 * The global `describe` and `it` (mocha, jest, vitest with `globals`).
 * @param suite name for the error message
 * @throws {@link InvalidArgumentError} without these functions
 */
export function globalTestRunner(suite: string): TestRunner {
  const { describe, it } = globalThis as unknown as Partial<TestRunner>;
  if (typeof describe === 'function' && typeof it === 'function') return { describe, it };
  throw new InvalidArgumentError(
    `${suite} needs global describe and it: run it in mocha, jest or vitest with globals`,
  );
}
