import { InvalidArgumentError } from '../errors.js';

/**
 * Defines a test for each law with the global `describe` and `it`.
 * @param suite name for the error message
 * @param check called for each test
 * @throws {@link InvalidArgumentError} without these functions
 */
export function describeLaws<Law>(
  suite: string,
  title: string,
  laws: Readonly<Record<string, Law>>,
  check: (law: Law) => Promise<void>,
): void {
  const { describe, it } = globalThis as {
    readonly describe?: (title: string, body: () => void) => unknown;
    readonly it?: (title: string, body: () => Promise<void>) => unknown;
  };
  if (typeof describe !== 'function' || typeof it !== 'function')
    throw new InvalidArgumentError(
      `${suite} needs global describe and it: run it in mocha, jest or vitest with globals`,
    );
  describe(title, () => {
    for (const [name, law] of Object.entries(laws)) it(name, () => check(law));
  });
}
