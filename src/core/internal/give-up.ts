import { hasCode } from '../errors/advisor-chain-error.js';
import { CancelledError } from '../errors/errors.js';

/** Reason of the subscription that ends now: ending it is synchronous. */
let current: string | undefined;

/**
 * Ends a part of a run for a reason by which its owner knows it again. The reason is recorded with
 * the model call that it ends, and a replay of that call ends with the error of {@link isGivenUp}.
 */
export function giveUp(part: { readonly unsubscribe: () => void }, reason: string): void {
  const outer = current;
  current = reason;
  try {
    part.unsubscribe();
  } finally {
    current = outer;
  }
}

/** The reason of what ends now; undefined if it has none, as by an operator of RxJS. */
export const currentReason = (): string | undefined => current;

/** The error of a replayed model call that was given up. */
export function givenUpError(reason: string): CancelledError {
  return new CancelledError(`The model call was given up before: ${reason}.`, { cause: reason });
}

/** The reason of a replayed model call that was given up; undefined for other errors. */
export function givenUpReason(error: unknown): string | undefined {
  const cause = hasCode(error, 'cancelled') ? (error as CancelledError).cause : undefined;
  return typeof cause === 'string' ? cause : undefined;
}

/** True for the error of a model call that was given up for this reason. */
export function isGivenUp(error: unknown, reason: string): boolean {
  return givenUpReason(error) === reason;
}
