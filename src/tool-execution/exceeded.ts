import { LimitExceededError, ToolError } from '../errors.js';
import type { LimitDetails } from '../errors.js';

/** A limit of one call: its name, its value and the option that changes it. */
export type CallLimit = Pick<LimitDetails, 'limit' | 'value' | 'option'>;

/**
 * A failed call for exceeding a limit: the model reads the problem, the application finds a
 * {@link LimitExceededError} in the cause.
 */
export function exceededError(problem: string, toolName: string, limit: CallLimit): ToolError {
  const cause = new LimitExceededError(problem, { ...limit, toolName });
  return new ToolError(`${problem}.`, { cause });
}
