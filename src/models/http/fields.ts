import { isPlainObject, type JsonObject } from '../../internal/options.js';

/** A field that should be an object; an empty one if it is not. */
export function objectOf(value: unknown): JsonObject {
  return isPlainObject(value) ? value : {};
}

/** A field that should be a number >= 0, such as a count of tokens; undefined if it is not. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
