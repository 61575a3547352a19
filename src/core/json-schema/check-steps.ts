import { LimitExceededError } from '../errors/errors.js';

/** Limits of the check of one value. */
export interface CheckLimits {
  /** Maximum number of steps; one applies a schema to a value. @default 300_000 */
  readonly maxCheckSteps?: number | undefined;
  /** Maximum number of characters of a result that JSON Schema checks. @default 4_000_000 */
  readonly maxResultLength?: number | undefined;
}

/** About 50 ms. */
export const MAX_CHECK_STEPS = 300_000;

/** Thrown when no steps are left. */
export const EXCEEDED = new Error('The check takes too many steps.');

/** The steps that are left for the check of a value, by whichever parts of it. */
export class CheckSteps {
  left: number;

  constructor(readonly max: number) {
    this.left = max;
  }

  /** @throws {@link EXCEEDED} */
  take(count = 1): void {
    this.left -= count;
    if (this.left < 0) throw EXCEEDED;
  }

  exceeded(): LimitExceededError {
    const problem = `The check by a JSON Schema takes more than ${this.max} steps`;
    const { max: value, left } = this;
    const details = { limit: 'check-steps', value, spent: value - left, option: 'maxCheckSteps' };
    return new LimitExceededError(problem, details);
  }
}
