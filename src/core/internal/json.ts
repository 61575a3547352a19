import { JsonError } from '../errors/errors.js';
import { wellFormedJson } from './well-formed.js';

/** Any value that JSON can express. */
export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Deeper nesting is rejected to protect the stack. */
const MAX_DEPTH = 200;

/**
 * Parses JSON from outside (a model, a server, a store), with well-formed texts.
 *
 * Stricter than `JSON.parse`: rejects duplicate keys, which parsers resolve differently, the key
 * `__proto__` and `prototype` inside `constructor`, which could pollute a prototype in a later
 * merge, and nesting deeper than 200 levels.
 * @throws {@link JsonError} with the reason and the position
 */
export function parseJson(text: string): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(wellFormedJson(text)) as JsonValue;
  } catch (error) {
    throw new JsonError(`not valid JSON: ${(error as Error).message}`, { cause: error });
  }
  checkKeys(text);
  return value;
}

/**
 * Parses JSON that a model has written, with whole numbers that keep their digits.
 * @throws {@link JsonError} also for an integer beyond 2^53 - 1, such as an id of 18 digits: as a
 *   number it would be another one
 */
export function parseWritten(text: string): JsonValue {
  const value = parseJson(text);
  if (/\d{16}/.test(text)) checkIntegers(text);
  return value;
}

const NUMBER = /\d+(\.\d+)?([eE][-+]?\d+)?/y;

/** The text must be valid JSON. */
function checkIntegers(text: string): void {
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) at = endOfString(text, at) - 1;
    NUMBER.lastIndex = at;
    const [digits, fraction, exponent] = NUMBER.exec(text) ?? [];
    if (digits === undefined) continue;
    if (!fraction && !exponent && !Number.isSafeInteger(Number(digits)))
      throw new JsonError(
        `the integer ${digits} (position ${at}) is too large for a number, which would change its digits: write it as a text, "${digits}", where a text is accepted`,
      );
    at += digits.length - 1;
  }
}

export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // models write invalid JSON, and tools return plain text
  }
}

/**
 * True if a JSON text has more values than a limit: memory and time of parsing, copying and checking
 * grow with the values, not with the length. Counts what separates or contains values.
 */
export function hasMoreValues(text: string, max: number): boolean {
  if (text.length <= max) return false;
  let count = 1;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) at = endOfString(text, at) - 1;
    else if (char === 0x2c || char === 0x7b || char === 0x5b) count++;
    if (count > max) return true;
  }
  return false;
}

/**
 * Number of characters that separate or begin values, also in strings: where those begin is not
 * certain in a text that is not JSON alone.
 */
export function countSeparators(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x2c || char === 0x7b || char === 0x5b) count++;
  }
  return count;
}

/** An array or object that is open at a position of the text. */
interface Level {
  /** The keys so far; undefined for an array. */
  readonly keys: Set<string> | undefined;
  /** The key of this object or array in its parent. */
  readonly under: string | undefined;
  key: string | undefined;
}

/** Rejects keys and nesting that `JSON.parse` accepts; the text must be valid JSON. */
function checkKeys(text: string): void {
  const open: Level[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x7b || char === 0x5b) {
      const keys = char === 0x7b && !isEmptyObject(text, at) ? new Set<string>() : undefined;
      if (open.push({ keys, under: open.at(-1)?.key, key: undefined }) > MAX_DEPTH)
        throw new JsonError(`nested deeper than ${MAX_DEPTH} levels`);
    } else if (char === 0x7d || char === 0x5d) {
      open.pop();
    } else if (char === 0x22) {
      const end = endOfString(text, at);
      const level = open.at(-1);
      if (level?.keys && isKey(text, end)) checkKey(text.slice(at, end), level, level.keys, at);
      at = end - 1;
    }
  }
}

function checkKey(literal: string, level: Level, keys: Set<string>, at: number): void {
  const key = (level.key = JSON.parse(literal) as string);
  if (key === '__proto__' || (key === 'prototype' && level.under === 'constructor'))
    throw new JsonError(`the key ${JSON.stringify(key)} is not accepted here (position ${at})`);
  if (keys.has(key))
    throw new JsonError(`the key ${JSON.stringify(key)} is given twice (position ${at})`);
  keys.add(key);
}

/** The position after the string that begins at `start`, or the end of a text that is cut off. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end + 1;
}

/** The position after the array or object that begins at `start`; undefined if it has no end. */
export function endOfValue(text: string, start = 0): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) at = endOfString(text, at) - 1;
    else if (char === 0x5b || char === 0x7b) depth++;
    else if ((char === 0x5d || char === 0x7d) && --depth === 0) return at + 1;
  }
  return undefined;
}

/** True after an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === 0x5c) first--;
  return (at - first) % 2 === 1;
}

/** True at `{}`: a set for each of a million would take seconds to collect. */
function isEmptyObject(text: string, at: number): boolean {
  return text.charCodeAt(at + 1) === 0x7d;
}

function isKey(text: string, after: number): boolean {
  while (text.charCodeAt(after) <= 0x20) after++;
  return text.charCodeAt(after) === 0x3a;
}

/** Larger JSON is compared as text: parsing and sorting it would block the process. */
const MAX_KEY_VALUES = 50_000;
const MAX_KEY_LENGTH = 1_000_000;

/**
 * A text that is equal for equal JSON; of a large one, the text itself.
 * @throws {@link JsonError} if the text is not JSON
 */
export function jsonKey(text: string): string {
  const isLarge = text.length > MAX_KEY_LENGTH || hasMoreValues(text, MAX_KEY_VALUES);
  return isLarge ? text : canonicalJson(parseJson(text) ?? null);
}

/** JSON with sorted keys: equal values have equal texts. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const object = value as { readonly [key: string]: JsonValue };
  const entries = Object.keys(object).sort();
  return `{${entries.map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key] as JsonValue)}`).join()}}`;
}
