import { JsonError } from '../errors.js';

/** Any value that JSON can express. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Deeper nesting is refused: no honest document has it, and it would exhaust the stack of whoever reads it. */
const MAX_DEPTH = 200;

/**
 * Parses JSON from outside (a model, a server, a store).
 *
 * Stricter than `JSON.parse`: a key given twice, the key `__proto__`, `prototype` inside `constructor`, and nesting deeper than 200
 * are refused, since a reader and a tool could otherwise see different values, or a later merge reach a prototype.
 * @throws {@link JsonError} with the reason and the place
 */
export function parseJson(text: string): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new JsonError(`not valid JSON: ${(error as Error).message}`, { cause: error });
  }
  checkKeys(text);
  return value;
}

/** An array or object that is open at a place of the text. */
interface Level {
  /** The keys so far; undefined in an array. */
  readonly keys: Set<string> | undefined;
  /** The key that the object is the value of. */
  readonly under: string | undefined;
  key: string | undefined;
}

/** Walks the text of a document that is known to be valid JSON and refuses what `JSON.parse` lets through. */
function checkKeys(text: string): void {
  const open: Level[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x7b || char === 0x5b) {
      const keys = char === 0x7b ? new Set<string>() : undefined;
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
  if (keys.has(key)) throw new JsonError(`the key ${JSON.stringify(key)} is given twice (position ${at})`);
  keys.add(key);
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  return at + 1;
}

function isKey(text: string, after: number): boolean {
  while (text.charCodeAt(after) <= 0x20) after++;
  return text.charCodeAt(after) === 0x3a;
}

/** The same text for equal values, whatever the order of their keys. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const object = value as { readonly [key: string]: JsonValue };
  const entries = Object.keys(object).sort();
  return `{${entries.map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key] as JsonValue)}`).join()}}`;
}
