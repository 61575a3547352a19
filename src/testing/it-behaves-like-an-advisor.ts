import { InvalidArgumentError } from '../errors.js';
import { lawsOf } from './contract-laws.js';
import { Trial, type AdvisorContract } from './contract-trial.js';

interface TestRunner {
  readonly describe: (title: string, body: () => void) => unknown;
  readonly it: (title: string, body: () => Promise<void>) => unknown;
}

/**
 * Checks an advisor against the laws that every advisor keeps, as tests of the runner whose `describe` and `it` are global
 * (mocha, jest, vitest with `globals`).
 * @throws {@link InvalidArgumentError} if there is no such runner
 */
export function itBehavesLikeAnAdvisor(contract: AdvisorContract): void {
  const { describe, it } = globalThis as unknown as Partial<TestRunner>;
  if (typeof describe !== 'function' || typeof it !== 'function')
    throw new InvalidArgumentError('itBehavesLikeAnAdvisor needs global describe and it: run it in mocha, jest or vitest with globals');
  describe(`${contract.name ?? contract.create().name} behaves like an advisor`, () => {
    for (const { title, check } of lawsOf(contract)) it(title, () => check(new Trial(contract)));
  });
}
