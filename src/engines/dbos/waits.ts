import type { JsonValue } from '../../core/internal/json.js';

/** Record of the beginning of a wait. */
export type Wait = {
  /** Time at which it ends without a value, in milliseconds since 1970; null for never. */
  readonly end: number | null;
  readonly request?: JsonValue;
};

/** Record of the end of a wait: no value if none came in time. */
export type Received = { readonly value?: JsonValue };

const ASKED = ' asked';

/** Name of the step that records the end of a wait. */
export function waitStep(name: string): string {
  return `wait ${name}`;
}

/** Name of the step that records the beginning of a wait. */
export function askedStep(name: string): string {
  return waitStep(name) + ASKED;
}

/** The name of the wait that a step began, if it is such a step. */
export function waitOf(step: string): string | undefined {
  const isAsked = step.startsWith(waitStep('')) && step.endsWith(ASKED);
  return isAsked ? step.slice(waitStep('').length, -ASKED.length) : undefined;
}
