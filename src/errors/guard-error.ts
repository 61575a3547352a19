import { AdvisorChainError } from './advisor-chain-error.js';

/** Text that a guard looks at: the question, the answer, or the result of a tool. */
export type GuardPlace = 'input' | 'output' | 'tool-result';

/** Details of a {@link GuardError}. */
export interface GuardErrorDetails extends ErrorOptions {
  readonly where: GuardPlace;
  /** Names of the rules. */
  readonly rules: readonly string[];
  /** `found`: the rules found something; `failed`: they could not judge the text. */
  readonly reason: 'found' | 'failed';
}

/** A guard with `action: 'throw'` found something, or a rule failed. Has no part of the text. */
export class GuardError extends AdvisorChainError implements GuardErrorDetails {
  override name = 'GuardError';
  readonly code = 'guard';
  readonly where: GuardPlace;
  readonly rules: readonly string[];
  readonly reason: 'found' | 'failed';

  constructor(message: string, details: GuardErrorDetails) {
    super(message, details);
    this.where = details.where;
    this.rules = details.rules;
    this.reason = details.reason;
  }
}
