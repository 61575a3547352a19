import { AdvisorChainError } from './advisor-chain-error.js';

/**
 * Reason for which an answer has no value: the model refused it, wrote nothing, no JSON, JSON that
 * does not fit the schema, or reached its token limit before the end.
 */
export type StructuredOutputReason = 'refusal' | 'empty' | 'not-json' | 'mismatch' | 'cut-off';

/** The answer of the model does not fit the schema of the entity. */
export class StructuredOutputError extends AdvisorChainError {
  override name = 'StructuredOutputError';
  readonly code = 'structured_output';

  constructor(
    message: string,
    readonly reason: StructuredOutputReason,
    /** The answer, unchanged. */
    readonly text: string,
    /** One sentence per violation. */
    readonly issues: readonly string[],
    options?: ErrorOptions,
    /** The errors of earlier attempts, first to last; empty if the model was asked once. */
    readonly earlierAttempts: readonly StructuredOutputError[] = [],
  ) {
    super(message, options);
  }
}
