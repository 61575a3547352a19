import { lawsOf } from './contract-laws.js';
import { Trial, type AdvisorContract } from './contract-trial.js';
import { globalTestRunner } from './test-runner.js';

/**
 * Checks an advisor against the laws that every advisor keeps, as tests of the runner whose `describe` and `it` are global
 * (mocha, jest, vitest with `globals`).
 * @throws InvalidArgumentError if there is no such runner
 */
export function itBehavesLikeAnAdvisor(contract: AdvisorContract): void {
  const { describe, it } = globalTestRunner('itBehavesLikeAnAdvisor');
  describe(`${contract.name ?? contract.create().name} behaves like an advisor`, () => {
    for (const { title, check } of lawsOf(contract)) it(title, () => check(new Trial(contract)));
  });
}
