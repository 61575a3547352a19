import type { JsonSchema } from '../../chat/tool-definition.js';

/** Types of JSON Schema, each with its names in other languages. */
const NAMES = [
  'string str text char character charsequence varchar uuid guid uri url email',
  'string date datetime localdate localdatetime timestamp time',
  'integer int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 long short byte bigint biginteger',
  'number num numeric float float32 float64 double decimal bigdecimal real',
  'boolean bool',
  'array list tuple set frozenset arraylist linkedlist hashset vector sequence iterable collection',
  'object obj dict dictionary map hashmap linkedhashmap treemap hashtable mapping record struct',
  'null none nonetype nil void',
  'any anything mixed dynamic unknown *',
].map((line) => line.split(' '));
const TYPES = new Map(NAMES.flatMap((names) => names.map((name) => [name, names[0]])));

export function isTypeName(value: unknown): boolean {
  return value !== 'any' && NAMES.some(([type]) => type === value);
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

/** The different types of a list, as the value of `type`. */
export function oneOrAll(types: readonly unknown[]): unknown {
  const different = [...new Set(types)];
  return different.length === 1 ? different[0] : different;
}

/** Schema of types that other languages name so, as `java.util.List`; undefined if one is unknown. */
export function schemaOfTypes(names: readonly unknown[]): JsonSchema | undefined {
  const types = names.map(
    (name) => typeof name === 'string' && TYPES.get(name.replace(/^.*\./, '').toLowerCase()),
  );
  if (types.length === 0 || !types.every(Boolean)) return undefined;
  if (types.includes('any')) return {};
  return { type: oneOrAll(types), ...(types.includes('array') && { items: {} }) };
}
