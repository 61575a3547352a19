import { wrapsRest } from '../../core/advisor/advisor.js';
import { describeLaws, type TestRunner } from '../test-runner.js';
import { ANSWER_LAWS } from './answer-laws.js';
import { ATTEMPT_LAWS } from './attempt-laws.js';
import { RUN_LAWS } from './run-laws.js';
import { TOOL_CALL_LAWS } from './tool-call-laws.js';
import type { AdvisorContract, Laws } from './trial.js';

const CHAIN_LAWS: Laws = { ...RUN_LAWS, ...ANSWER_LAWS, ...ATTEMPT_LAWS };

/**
 * Tests an advisor against the laws of all advisors.
 * @param runner functions of the test runner. @default the globals `describe` and `it`
 * @throws {@link InvalidArgumentError} without these functions
 */
export function itBehavesLikeAnAdvisor(contract: AdvisorContract, runner?: TestRunner): void {
  const title = `${contract.name ?? contract.create().name} behaves like an advisor`;
  const laws = lawsOf(contract);
  describeLaws('itBehavesLikeAnAdvisor', title, laws, runner, (law) => law(contract));
}

/** The laws for the functions that an advisor has. */
export function lawsOf(contract: AdvisorContract): Laws {
  const advisor = contract.create();
  return {
    ...(wrapsRest(advisor) && CHAIN_LAWS),
    ...(advisor.adviseToolCall && TOOL_CALL_LAWS),
  };
}
