import type { JsonSchema } from '../../chat/tool-definition.js';

/** Names of types in other languages, by the type of JSON Schema. */
const NAMES: Readonly<Record<string, string>> = {
  string:
    'string str text char character charsequence varchar date datetime localdate localdatetime timestamp time uuid guid uri url email',
  integer:
    'integer int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 long short byte bigint biginteger',
  number: 'number num numeric float float32 float64 double decimal bigdecimal real',
  boolean: 'boolean bool',
  array:
    'array list tuple set frozenset arraylist linkedlist hashset vector sequence iterable collection',
  object:
    'object obj dict dictionary map hashmap linkedhashmap treemap hashtable mapping record struct',
  null: 'null none nonetype nil void',
  any: 'any anything mixed dynamic unknown *',
};
const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMES).flatMap(([type, names]) => names.split(' ').map((name) => [name, type])),
);
const STANDARD: ReadonlySet<unknown> = new Set(Object.keys(NAMES).filter((type) => type !== 'any'));

export function isTypeName(value: unknown): value is string {
  return STANDARD.has(value);
}

/** Type of a JSON value; a number without a fraction is an integer. */
export function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Checks that a value has one of the types; `undefined` allows every value. */
export function hasType(value: unknown, types: unknown): boolean {
  if (Array.isArray(types)) return types.some((type) => hasType(value, type));
  const found = typeOfValue(value);
  return types === undefined || types === found || (types === 'number' && found === 'integer');
}

/** Maximum length of a type; longer texts are prose. */
const MAX_LENGTH = 200;

/** Schema of a type in another language: `float`, `List<String>`, `int[]`, `str | None`; undefined if its meaning is not certain. */
export function schemaOfType(text: unknown): JsonSchema | undefined {
  const isShort = typeof text === 'string' && text.length <= MAX_LENGTH;
  return isShort ? parseType(text.trim()) : undefined;
}

function parseType(text: string): JsonSchema | undefined {
  const alternatives = text.split(/\s*\|\s*|\s+or\s+/);
  if (alternatives.length > 1) return union(alternatives.map(parseType));
  if (text.endsWith('?')) return union([parseType(text.slice(0, -1).trim()), { type: 'null' }]);
  if (text.endsWith('[]')) return arrayOf(parseType(text.slice(0, -2).trim()));
  const [, name, parameters] = /^([\w.]+)\s*[<[](.+)[>\]]$/.exec(text) ?? [];
  if (name !== undefined && parameters !== undefined)
    return genericType(lastWord(name), parameters.split(/\s*,\s*/).map(parseType));
  const type = TYPES.get(lastWord(text));
  if (type === 'array') return { type, items: {} };
  return type === 'any' ? {} : type === undefined ? undefined : { type };
}

function genericType(
  name: string,
  parameters: readonly (JsonSchema | undefined)[],
): JsonSchema | undefined {
  if (name === 'optional') return union([...parameters, { type: 'null' }]);
  if (name === 'union') return union(parameters);
  if (parameters.includes(undefined)) return undefined;
  const type = TYPES.get(name);
  const [first, second] = parameters;
  if (type === 'object')
    return parameters.length === 2 ? { type, additionalProperties: second } : { type };
  if (type !== 'array') return undefined;
  return parameters.length === 1 ? arrayOf(first) : { type, items: {} };
}

function arrayOf(items: JsonSchema | undefined): JsonSchema | undefined {
  return items && { type: 'array', items };
}

/** Shortest schema that allows what one of several schemas allows. */
export function union(schemas: readonly (JsonSchema | undefined)[]): JsonSchema | undefined {
  const known = schemas.filter((schema) => schema !== undefined);
  if (known.length < schemas.length) return undefined;
  const [first = {}] = known;
  if (known.length <= 1) return first;
  if (known.some((schema) => Object.keys(schema).length === 0)) return {};
  const hasTypesOnly = known.every(
    (schema) => Object.keys(schema).length === 1 && typeof schema['type'] === 'string',
  );
  if (!hasTypesOnly) return { anyOf: known };
  const types = [...new Set(known.map(({ type }) => type))];
  return { type: types.length === 1 ? types[0] : types };
}

/** `list` of `java.util.List`. */
function lastWord(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase();
}
