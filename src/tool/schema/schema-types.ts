import type { JsonSchema } from '../../chat/tool-definition.js';

/** The types of JSON Schema, each with the words that other languages have for it. */
const WORDS: Readonly<Record<string, string>> = {
  string:
    'string str text char character charsequence varchar date datetime localdate localdatetime timestamp time uuid guid uri url email',
  integer: 'integer int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 long short byte bigint biginteger',
  number: 'number num numeric float float32 float64 double decimal bigdecimal real',
  boolean: 'boolean bool',
  array: 'array list tuple set frozenset arraylist linkedlist hashset vector sequence iterable collection',
  object: 'object obj dict dictionary map hashmap linkedhashmap treemap hashtable mapping record struct',
  null: 'null none nonetype nil void',
  any: 'any anything mixed dynamic unknown *',
};

const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries(WORDS).flatMap(([type, words]) => words.split(' ').map((word) => [word, type] as const)),
);

const STANDARD: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object', 'null']);

/** Whether a value is one of the type names of JSON Schema. */
export function isTypeName(value: unknown): value is string {
  return STANDARD.has(value);
}

/** Longer texts are no type but prose. */
const MAX_LENGTH = 200;

/** Whether a value is an object with keys, not an array. */
export function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The type of a JSON value; a number without a fraction is an integer. */
export function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Whether a value has one of the types; no types admit every value. */
export function hasType(value: unknown, types: unknown): boolean {
  if (types === undefined) return true;
  const found = typeOfValue(value);
  return [types].flat().some((type) => type === found || (type === 'number' && found === 'integer'));
}

/**
 * What a type of another language means as JSON Schema: `HashMap`, `float`, `List<String>`, `int[]`, `str | None`.
 * @returns undefined if that is not certain
 */
export function schemaOfType(text: string): JsonSchema | undefined {
  return text.length > MAX_LENGTH ? undefined : read(text.trim());
}

function read(text: string): JsonSchema | undefined {
  const alternatives = splitOutside(text, /^(?:\||\s+or\s)/);
  if (alternatives.length > 1) return union(alternatives.map(read));
  if (text.endsWith('?')) return union([read(text.slice(0, -1).trim()), { type: 'null' }]);
  if (text.endsWith('[]')) return arrayOf(read(text.slice(0, -2).trim()));
  const generic = /^([\w.]+)\s*[<[](.+)[>\]]$/.exec(text);
  return generic ? readGeneric(lastWord(generic[1] as string), splitOutside(generic[2] as string, /^,/).map(read)) : readWord(text);
}

function readWord(text: string): JsonSchema | undefined {
  const type = TYPES.get(lastWord(text));
  if (type === 'any') return {};
  return type === undefined ? undefined : { type };
}

function readGeneric(name: string, parts: readonly (JsonSchema | undefined)[]): JsonSchema | undefined {
  if (name === 'optional') return union([...parts, { type: 'null' }]);
  if (name === 'union') return union(parts);
  if (parts.includes(undefined)) return undefined;
  const type = TYPES.get(name);
  if (type === 'object') return { type, ...(parts.length === 2 && { additionalProperties: whole(parts[1] as JsonSchema) }) };
  if (type === 'array' && parts.length === 1) return arrayOf(parts[0]);
  return type === 'array' ? { type, items: {} } : undefined;
}

function arrayOf(items: JsonSchema | undefined): JsonSchema | undefined {
  return items && { type: 'array', items: whole(items) };
}

/** Arrays inside say what their items are; providers want to know it. */
function whole(schema: JsonSchema): JsonSchema {
  return schema['type'] === 'array' ? { ...schema, items: schema['items'] ?? {} } : schema;
}

/** What admits each of several things, as briefly as possible. */
export function union(parts: readonly (JsonSchema | undefined)[]): JsonSchema | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length) return undefined;
  if (known.length === 1) return known[0];
  if (known.length === 0 || known.some((part) => Object.keys(part).length === 0)) return {};
  const types = new Set(known.map(({ type }) => type));
  const isPlain = known.every((part) => Object.keys(part).length === 1 && typeof part['type'] === 'string');
  if (!isPlain) return { anyOf: known.map(whole) };
  return { type: types.size === 1 ? [...types][0] : [...types] };
}

/** `java.util.List` as `list`. */
function lastWord(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase();
}

/** The parts of a text between separators that are not inside of brackets. */
function splitOutside(text: string, separator: RegExp): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if ('<[('.includes(text.charAt(at))) depth++;
    else if ('>])'.includes(text.charAt(at))) depth--;
    const found = depth === 0 ? separator.exec(text.slice(at)) : null;
    if (!found) continue;
    parts.push(text.slice(start, at).trim());
    start = at + found[0].length;
    at = start - 1;
  }
  return [...parts, text.slice(start).trim()];
}
