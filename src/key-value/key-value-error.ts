import { AdvisorChainError } from '../errors.js';
import { reasonOf } from '../internal/text.js';

/** Facts about an operation of a {@link KeyValueStore} that failed. */
export interface FailedOperation {
  readonly operation: 'get' | 'set' | 'delete' | 'add';
  readonly key: string;
  /**
   * `unchanged`: nothing was written; `unknown`: it may have been, for example because the connection
   * broke before the store answered.
   */
  readonly outcome: 'unchanged' | 'unknown';
  /** The error of the store. */
  readonly cause: unknown;
}

/** An operation of a {@link KeyValueStore} failed, or it is unknown whether it did: see {@link outcome}. */
export class KeyValueError extends AdvisorChainError {
  override name = 'KeyValueError';
  readonly code = 'key_value';
  readonly operation: FailedOperation['operation'];
  readonly key: string;
  readonly outcome: FailedOperation['outcome'];

  constructor({ operation, key, outcome, cause }: FailedOperation) {
    const reason = reasonOf(cause).replace(/\.$/, '');
    super(
      outcome === 'unchanged'
        ? `The key-value store has refused ${operation}: ${reason}. Nothing was written; repeat it when the cause is removed.`
        : `It is unknown whether the key-value store has done ${operation}: ${reason}. Read the key before you repeat it.`,
      { cause },
    );
    this.operation = operation;
    this.key = key;
    this.outcome = outcome;
  }
}
