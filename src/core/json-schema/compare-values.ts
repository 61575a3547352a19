import { canonicalJson, type JsonValue } from '../internal/json.js';
import type { JsonObject } from '../internal/options.js';
import type { CheckSteps } from './check-steps.js';

/** Steps for one name or constant that is compared. */
export const PER_NAME = 0.1;
/** Characters of list items that are compared in one step. */
const CHARACTERS_PER_STEP = 50;

/** Finds a value among constants. */
export function includes(
  constants: readonly unknown[],
  value: unknown,
  steps: CheckSteps,
): boolean {
  steps.take(constants.length * PER_NAME);
  if (typeof value !== 'object' || value === null) return constants.includes(value);
  return constants.some((constant) => isEqual(value, constant, steps));
}

/** True for equal JSON. */
export function isEqual(value: unknown, constant: unknown, steps: CheckSteps): boolean {
  if (value === constant) return true;
  if (typeof value !== 'object' || typeof constant !== 'object') return false;
  if (!value || !constant || Array.isArray(value) !== Array.isArray(constant)) return false;
  const names = Object.keys(constant);
  steps.take(names.length * PER_NAME);
  if (names.length !== Object.keys(value).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(value, name) &&
      isEqual((value as JsonObject)[name], (constant as JsonObject)[name], steps),
  );
}

/** The places of two equal items. */
export function findDuplicate(
  list: readonly unknown[],
  steps: CheckSteps,
): readonly [first: number, second: number] | undefined {
  const places = new Map<unknown, number>();
  for (const [at, item] of list.entries()) {
    const key = comparisonKey(item);
    steps.take(1 + (typeof key === 'string' ? key.length / CHARACTERS_PER_STEP : 0));
    const first = places.get(key);
    if (first !== undefined) return [first, at];
    places.set(key, at);
  }
  return undefined;
}

function comparisonKey(item: unknown): unknown {
  try {
    return canonicalJson(item as JsonValue);
  } catch {
    return item; // a result that is not JSON: equal to itself only
  }
}
