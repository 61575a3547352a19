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
  return typeof text === 'string' && text.length <= MAX_LENGTH ? parseType(text.trim()) : undefined;
}

function parseType(text: string): JsonSchema | undefined {
  const alternatives = text.split(/\s*\|\s*|\s+or\s+/);
  if (alternatives.length > 1) return union(alternatives.map(parseType));
  if (text.endsWith('?')) return parseType(`optional<${text.slice(0, -1).trim()}>`);
  if (text.endsWith('[]')) return parseType(`list<${text.slice(0, -2).trim()}>`);
  const [, name = text, list] = /^([\w.]+)\s*[<[](.+)[>\]]$/.exec(text) ?? [];
  const parameters = list?.split(/\s*,\s*/).map(parseType) ?? [];
  const word = name.slice(name.lastIndexOf('.') + 1).toLowerCase(); // `list` of `java.util.List`
  if (list && word === 'optional') return union([...parameters, { type: 'null' }]);
  if (list && word === 'union') return union(parameters);
  const type = TYPES.get(word);
  if (type === undefined || parameters.includes(undefined)) return undefined;
  const [first = {}, second] = parameters;
  if (type === 'array') return { type, items: second ? {} : first };
  if (type === 'object' && second) return { type, additionalProperties: second };
  return type === 'any' ? {} : { type };
}

/** Shortest schema that allows what one of several schemas allows. */
export function union(schemas: readonly (JsonSchema | undefined)[]): JsonSchema | undefined {
  const known = schemas.filter((schema) => schema !== undefined);
  if (known.length < schemas.length) return undefined;
  if (known.length <= 1) return known[0] ?? {};
  if (known.every(({ type, ...others }) => type !== undefined && Object.keys(others).length === 0))
    return { type: oneOrAll(known.flatMap(({ type }) => type)) };
  return known.some((schema) => Object.keys(schema).length === 0) ? {} : { anyOf: known };
}

/** The different types of a list, as the value of `type`. */
export function oneOrAll(types: readonly unknown[]): unknown {
  const different = [...new Set(types)];
  return different.length === 1 ? different[0] : different;
}
