import { AdvisorChainError, type ModelCallError } from './errors.js';

/** Replaces a label that is not in its closed set. */
export const OTHER = '_OTHER';
const BUILT_IN = /^(Abort|Aggregate|Eval|Range|Reference|Syntax|Timeout|Type|URI|Zod)?Error$/;

/**
 * Value of `error.type`: the HTTP status of the provider's response, the permanent code of an error
 * of this library, or the class of any other error. Never its text.
 */
export function errorType(error: unknown): string {
  return readSafely(OTHER, () => {
    if (AdvisorChainError.isInstance(error)) return statusOf(error) ?? identifier(error.code);
    return typeof error === 'object' && error !== null
      ? identifier((error as Partial<Error>).name)
      : typeof error;
  });
}

/** The error type from a closed set, for metric labels: classes of an application are `_OTHER`. */
export function errorLabel(error: unknown): string {
  const type = errorType(error);
  return BUILT_IN.test(type) || codeOf(error) !== undefined ? type : OTHER;
}

/** Class of an error, without its text. */
export function className(error: unknown): string {
  return readSafely(OTHER, () => (error instanceof Error ? identifier(error.name) : typeof error));
}

/** Permanent code of an error of this library. */
export function codeOf(error: unknown): string | undefined {
  return readSafely(undefined, () =>
    AdvisorChainError.isInstance(error) ? identifier(error.code) : undefined,
  );
}

export function messageOf(error: unknown): string {
  return readSafely('', () => String(error instanceof Error ? error.message : error));
}

export function stackOf(error: unknown): string | undefined {
  const stack: unknown = readSafely(undefined, () =>
    error instanceof Error ? error.stack : undefined,
  );
  return typeof stack === 'string' ? stack : undefined;
}

/** True for the error of a run that was cancelled, or that waits for a person: no failure. */
export function isCancellation(error: unknown): boolean {
  return codeOf(error) === 'cancelled' || codeOf(error) === 'turn_paused';
}

/** Reads from an error whose properties may throw. */
function readSafely<T>(fallback: T, read: () => T): T {
  try {
    return read();
  } catch {
    return fallback;
  }
}

function statusOf(error: AdvisorChainError): string | undefined {
  const { status } = error as Partial<ModelCallError>;
  return Number.isInteger(status) ? String(status) : undefined;
}

function identifier(name: unknown): string {
  return typeof name === 'string' && /^[\p{L}_$][\p{L}\p{N}_$.]{0,99}$/u.test(name) ? name : OTHER;
}
