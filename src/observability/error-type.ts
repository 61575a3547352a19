import { AdvisorChainError, type ModelCallError } from '../errors.js';
import { OTHER } from './names.js';

const NAME = /^[\p{L}_$][\p{L}\p{N}_$.]{0,99}$/u;
const BUILT_IN: ReadonlySet<string> = new Set(
  'AbortError AggregateError Error EvalError RangeError ReferenceError SyntaxError TimeoutError TypeError URIError ZodError'.split(' '),
);

/**
 * What kind of failure it was, as `error.type`: the HTTP status that the provider answered with, the permanent code of an error of this
 * library, or the class of any other. Never its text, and never fails.
 */
export function errorType(error: unknown): string {
  try {
    if (AdvisorChainError.isInstance(error)) return statusOf(error) ?? named(error.code);
    const name: unknown = typeof error === 'object' && error !== null ? (error as Partial<Error>).name : typeof error;
    return named(name);
  } catch {
    return OTHER; // an error that throws at whoever looks at it
  }
}

/** The same from a closed set, for the labels of metrics: a class of an application is one of too many. */
export function errorLabel(error: unknown): string {
  const type = errorType(error);
  return BUILT_IN.has(type) || (isOurs(error) && type !== OTHER) ? type : OTHER;
}

/** The class of an error, without its text. */
export function className(error: unknown): string {
  try {
    return named(error instanceof Error ? error.name : typeof error);
  } catch {
    return OTHER;
  }
}

/** The permanent code of an error of this library. */
export function codeOf(error: unknown): string | undefined {
  try {
    return AdvisorChainError.isInstance(error) ? named(error.code) : undefined;
  } catch {
    return undefined;
  }
}

/** The text of an error; never fails. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return ''; // an error that throws at whoever looks at it
  }
}

/** Whether a run was cancelled, which is no failure. */
export function isCancellation(error: unknown): boolean {
  try {
    return isOurs(error) && error.code === 'cancelled';
  } catch {
    return false;
  }
}

function isOurs(error: unknown): error is AdvisorChainError {
  try {
    return AdvisorChainError.isInstance(error);
  } catch {
    return false;
  }
}

function statusOf(error: AdvisorChainError): string | undefined {
  const { status } = error as Partial<ModelCallError>;
  return Number.isInteger(status) ? String(status) : undefined;
}

function named(name: unknown): string {
  return typeof name === 'string' && NAME.test(name) ? name : OTHER;
}
