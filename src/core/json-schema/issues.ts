import type { CheckSteps } from './check-steps.js';
import { MAX_ISSUES } from './standard-schema.js';

/** A part of a value that does not fit its schema. */
export interface Issue {
  /** Keys from the value to the part, joined by dots; empty for the value itself. */
  readonly place: string;
  /** Made when it is shown: branches for other values have issues in each check. */
  readonly text: () => string;
}

export type Issues = readonly Issue[];

/** The only list without issues. */
export const NONE: Issues = [];

/** Checks of other schemas by a keyword. */
export interface Scope {
  readonly steps: CheckSteps;
  issuesOf(schema: unknown, value: unknown): Issues;
  isValid(schema: unknown, value: unknown): boolean;
  issuesByReference(reference: unknown, value: unknown): Issues;
  targetOf(reference: unknown): unknown;
}

export function issue(text: () => string): Issues {
  return [{ place: '', text }];
}

/** The issues of a part as issues of the value around it. */
export function issuesAt(key: string | number, issues: Issues): Issues {
  if (issues === NONE) return NONE;
  const keyed = (place: string): string => (place === '' ? `${key}` : `${key}.${place}`);
  return issues.map(({ place, text }) => ({ place: keyed(place), text }));
}

/** The issues of each item until there are enough. */
export function issuesOfEach<T>(
  items: readonly T[],
  issuesOf: (item: T, at: number) => Issues,
): Issues {
  let all = NONE;
  for (let at = 0; at < items.length && all.length < MAX_ISSUES; at++) {
    const issues = issuesOf(items[at] as T, at);
    if (issues !== NONE) all = [...all, ...issues];
  }
  return all;
}

/** The issues of a schema that applies under a condition, which comes first. */
export function under(condition: string, issues: Issues): Issues {
  return issues === NONE ? NONE : [...issue(() => condition), ...issues];
}
