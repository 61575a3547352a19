import { DurableTurnError } from '../errors/errors.js';
import { describe } from '../errors/describe.js';
import type { JsonValue } from './json.js';

/** Deeper values are rejected: parsers of stores reject them, too. */
const MAX_DEPTH = 190;

/**
 * A value as JSON data, without fields that are undefined.
 * @param path the value in error messages, such as `the answer of the model "x"`
 * @throws {@link DurableTurnError} with the path of a value that JSON could not restore
 */
export function toJson(value: unknown, path: string): JsonValue {
  return isJson(value, 0) ? value : copyOf(value, path, 0);
}

/**
 * A copy of a value as JSON data, without fields that are undefined; undefined if JSON could not
 * restore it, such as a date, an instance of a class or `NaN`.
 */
export function jsonData(value: unknown): JsonValue | undefined {
  try {
    return copyOf(value, '', 0);
  } catch (error) {
    if (error instanceof DurableTurnError) return undefined;
    throw error;
  }
}

/** True for data without undefined fields, as most values are: it needs no copy. */
function isJson(value: unknown, depth: number): value is JsonValue {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (!isJson(value[at], depth + 1)) return false;
    return true;
  }
  if (!isPlainData(value)) return false;
  for (const key in value) if (key === '__proto__' || !isJson(value[key], depth + 1)) return false;
  return true;
}

function copyOf(value: unknown, path: string, depth: number): JsonValue {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (depth > MAX_DEPTH) throw notJson(path, `is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return arrayToJson(value, path, depth);
  if (!isPlainData(value)) throw notJson(path, `is ${describe(value)}, which JSON cannot hold`);
  const json: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) {
    const inner = value[key];
    if (inner === undefined) continue;
    // an assignment would set the prototype
    if (key === '__proto__') throw notJson(path, 'has the key "__proto__"');
    json[key] = copyOf(inner, `${path}.${key}`, depth + 1);
  }
  return json;
}

function arrayToJson(value: readonly unknown[], path: string, depth: number): JsonValue {
  return Array.from(value, (item, at) => copyOf(item, `${path}[${at}]`, depth + 1));
}

function isPlainData(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function notJson(path: string, problem: string): DurableTurnError {
  return new DurableTurnError(
    `${path} ${problem}, so the step of a durable turn cannot be recorded; return plain JSON`,
  );
}
