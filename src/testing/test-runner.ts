import { InvalidArgumentError } from '../core/errors/errors.js';

/** The functions of a test runner, such as node:test, vitest, mocha, jest or bun. */
export interface TestRunner {
  readonly describe: (title: string, body: () => void) => unknown;
  readonly it: (title: string, body: () => Promise<void>) => unknown;
}

/**
 * Defines a test for each law.
 * @param suite name for the error message
 * @param runner defines the tests; the globals `describe` and `it` if it is undefined
 * @param check called for each test
 * @throws {@link InvalidArgumentError} without these functions
 */
export function describeLaws<Law>(
  suite: string,
  title: string,
  laws: Readonly<Record<string, Law>>,
  runner: TestRunner | undefined,
  check: (law: Law) => Promise<void>,
): void {
  const { describe, it } = runner ?? (globalThis as Partial<TestRunner>);
  if (typeof describe !== 'function' || typeof it !== 'function')
    throw new InvalidArgumentError(
      `${suite} needs describe and it: pass your test runner's, ${suite}(contract, { describe, it })`,
    );
  describe(title, () => {
    for (const [name, law] of Object.entries(laws)) it(name, () => check(law));
  });
}
