import { describeLaws } from '../test-runner.js';
import { ANSWER_LAWS } from './answer-laws.js';
import { RUN_LAWS } from './run-laws.js';
import { TOOL_CALL_LAWS } from './tool-call-laws.js';
import type { AdvisorContract, Laws } from './trial.js';

const CHAIN_LAWS: Laws = { ...RUN_LAWS, ...ANSWER_LAWS };

/**
 * Tests an advisor against the laws of all advisors, with the global `describe` and `it` (mocha,
 * jest, vitest with `globals`).
 * @throws InvalidArgumentError without these functions
 */
export function itBehavesLikeAnAdvisor(contract: AdvisorContract): void {
  const title = `${contract.name ?? contract.create().name} behaves like an advisor`;
  describeLaws('itBehavesLikeAnAdvisor', title, lawsOf(contract), (law) => law(contract));
}

/** The laws for the functions that an advisor has. */
export function lawsOf(contract: AdvisorContract): Laws {
  const advisor = contract.create();
  return {
    ...((advisor.advise || advisor.around) && CHAIN_LAWS),
    ...(advisor.adviseToolCall && TOOL_CALL_LAWS),
  };
}
