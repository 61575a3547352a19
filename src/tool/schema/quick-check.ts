import type { JsonSchema } from '../../chat/tool-definition.js';
import { isObject, isTypeName } from './schema-types.js';

/** Says of a value that it is surely valid; where it says no, the value may still be valid. */
export type QuickCheck = (value: unknown) => boolean;

const ALWAYS: QuickCheck = () => true;
const NEVER: QuickCheck = () => false;

/**
 * A quick check of values by a schema, made of closures for the keywords that most schemas are made of. A schema with any other
 * keyword has a check that is never sure.
 */
export function quickCheck(schema: unknown): QuickCheck {
  if (typeof schema !== 'object' || schema === null) return schema === true ? ALWAYS : NEVER;
  const checks: QuickCheck[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (ABOUT.has(keyword)) continue;
    const check = MAKERS.get(keyword)?.(value, schema as JsonSchema);
    if (!check) return NEVER;
    if (check !== ALWAYS) checks.push(check);
  }
  const [first = ALWAYS, ...more] = checks;
  return more.length === 0 ? first : (value) => checks.every((check) => check(value));
}

/** Keywords that say nothing about which values are valid. */
const ABOUT: ReadonlySet<string> = new Set('title description default examples $schema $comment $defs definitions deprecated'.split(' '));

/** Makes the check of one keyword; undefined where it can never be sure. */
type Maker = (value: unknown, schema: JsonSchema) => QuickCheck | undefined;

const MAKERS: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  ['type', ofType],
  ['enum', (values) => (Array.isArray(values) ? (value) => isScalar(value) && values.includes(value) : undefined)],
  ['const', (expected) => (value) => isScalar(value) && value === expected],
  ['properties', ofProperties],
  ['required', ofRequired],
  ['additionalProperties', ofOthers],
  ['items', ofItems],
  ['anyOf', ofAlternatives],
  ['minimum', bound((value, limit) => typeof value !== 'number' || value >= limit)],
  ['maximum', bound((value, limit) => typeof value !== 'number' || value <= limit)],
  ['exclusiveMinimum', bound((value, limit) => typeof value !== 'number' || value > limit)],
  ['exclusiveMaximum', bound((value, limit) => typeof value !== 'number' || value < limit)],
  // lengths are of characters, and a character has one unit or two
  ['minLength', bound((value, limit) => typeof value !== 'string' || value.length / 2 >= limit || (limit <= 1 && value.length >= limit))],
  ['maxLength', bound((value, limit) => typeof value !== 'string' || value.length <= limit)],
  ['minItems', bound((value, limit) => !Array.isArray(value) || value.length >= limit)],
  ['maxItems', bound((value, limit) => !Array.isArray(value) || value.length <= limit)],
]);

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function bound(holds: (value: unknown, limit: number) => boolean): Maker {
  return (limit) => (typeof limit === 'number' ? (value) => holds(value, limit) : undefined);
}

function ofType(type: unknown): QuickCheck | undefined {
  if (type === 'object') return isObject;
  if (type === 'array') return Array.isArray;
  if (type === 'integer') return Number.isInteger;
  if (type === 'null') return (value) => value === null;
  if (isTypeName(type)) return (value) => typeof value === type;
  const checks = Array.isArray(type) ? type.map(ofType) : [];
  return checks.length > 0 && !checks.includes(undefined) ? (value) => checks.some((check) => check?.(value)) : undefined;
}

function ofProperties(properties: unknown): QuickCheck | undefined {
  if (!isObject(properties)) return undefined;
  const checks = Object.entries(properties).map(([name, schema]) => [name, quickCheck(schema)] as const);
  return (value) => !isObject(value) || checks.every(([name, check]) => !Object.hasOwn(value, name) || check(value[name]));
}

function ofRequired(names: unknown): QuickCheck | undefined {
  return Array.isArray(names) ? (value) => !isObject(value) || names.every((name) => Object.hasOwn(value, name as string)) : undefined;
}

function ofOthers(schema: unknown, { properties }: JsonSchema): QuickCheck | undefined {
  const known = new Set(Object.keys(properties ?? {}));
  const check = quickCheck(schema);
  if (check === ALWAYS) return ALWAYS;
  return (value) => !isObject(value) || Object.keys(value).every((name) => known.has(name) || check(value[name]));
}

function ofItems(schema: unknown): QuickCheck | undefined {
  const check = quickCheck(schema);
  return (value) => !Array.isArray(value) || value.every(check);
}

function ofAlternatives(schemas: unknown): QuickCheck | undefined {
  const checks = Array.isArray(schemas) ? schemas.map(quickCheck) : [];
  return checks.length > 0 ? (value) => checks.some((check) => check(value)) : undefined;
}
