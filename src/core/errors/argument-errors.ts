import { AdvisorChainError } from './advisor-chain-error.js';

/** An argument or option is invalid; the message has its name, the rule and the value. */
export class InvalidArgumentError extends AdvisorChainError {
  override name = 'InvalidArgumentError';
  readonly code = 'invalid_argument';
}

/** A template has placeholders without a value. */
export class TemplateError extends AdvisorChainError {
  override name = 'TemplateError';
  readonly code = 'template';

  constructor(
    message: string,
    /** Names of the placeholders. */
    readonly missing: readonly string[],
  ) {
    super(message);
  }
}

/** Text from outside is not valid JSON. */
export class JsonError extends AdvisorChainError {
  override name = 'JsonError';
  readonly code = 'json';
}
