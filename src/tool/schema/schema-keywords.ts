import { canonicalJson, type JsonValue } from '../../chat/json.js';
import { describe } from '../../chat/message.js';
import type { SchemaChanges } from './schema-changes.js';
import { isObject } from './schema-types.js';

/** Mends the value of a keyword that has no schemas inside; undefined leaves the keyword out. */
export type ValueMender = (value: unknown, path: string, changes: SchemaChanges) => unknown;

/** How many schemas a keyword has inside. */
type Inside = 'one' | 'list' | 'map';

/** The keywords of JSON Schema whose values are schemas. */
export const SCHEMA_KEYWORDS: ReadonlyMap<string, Inside> = new Map<string, Inside>([
  ...words<Inside>(
    'items contains not if then else additionalProperties propertyNames unevaluatedItems unevaluatedProperties contentSchema',
    'one',
  ),
  ...words<Inside>('allOf anyOf oneOf prefixItems', 'list'),
  ...words<Inside>('properties patternProperties $defs dependentSchemas', 'map'),
]);

/** The keywords of JSON Schema whose values are data. */
export const VALUE_KEYWORDS: ReadonlyMap<string, ValueMender> = new Map<string, ValueMender>([
  ...words('minLength minItems minProperties minContains', count(Math.ceil)),
  ...words('maxLength maxItems maxProperties maxContains', count(Math.floor)),
  ...words('minimum maximum exclusiveMinimum exclusiveMaximum multipleOf', limit),
  ...words('title description', prose),
  ...words('$comment format contentEncoding contentMediaType', text),
  ...words('uniqueItems deprecated readOnly writeOnly', flag),
  ['pattern', pattern],
  ['enum', choices],
  ['examples', examples],
  ['required', names],
  ['dependentRequired', namesByName],
]);

function words<T>(list: string, value: T): readonly (readonly [string, T])[] {
  return list.split(' ').map((word) => [word, value] as const);
}

function count(round: (value: number) => number): ValueMender {
  return (value, path, changes) => {
    if (Number.isInteger(value) && (value as number) >= 0) return value;
    const number = numberOf(value);
    const whole = number === undefined ? -1 : round(number);
    if (whole < 0) return leftOut(value, path, changes, 'a whole number of 0 or more');
    changes.fault(path, `${describe(value)} is no whole number`, `made it ${whole}`);
    return whole;
  };
}

function limit(value: unknown, path: string, changes: SchemaChanges): unknown {
  const number = numberOf(value);
  if (number === undefined || (path.endsWith('/multipleOf') && number <= 0)) return leftOut(value, path, changes, 'a number');
  if (number !== value) changes.fault(path, `${describe(value)} is no number`, `made it ${number}`);
  return number;
}

function prose(value: unknown, path: string, changes: SchemaChanges): unknown {
  if (typeof value === 'string') return value;
  const parts = [value].flat();
  if (parts.length === 0 || parts.some((part) => typeof part === 'object')) return leftOut(value, path, changes, 'a text');
  changes.fault(path, `${describe(value)} is no text`, 'made a text of it');
  return parts.map(String).join(' ');
}

function text(value: unknown, path: string, changes: SchemaChanges): unknown {
  return typeof value === 'string' ? value : leftOut(value, path, changes, 'a text');
}

function flag(value: unknown, path: string, changes: SchemaChanges): unknown {
  if (typeof value === 'boolean') return value;
  const meant = flagOf(value);
  if (meant === undefined) return leftOut(value, path, changes, 'true or false');
  changes.fault(path, `${describe(value)} is a text`, `made it ${meant}`);
  return meant;
}

function pattern(value: unknown, path: string, changes: SchemaChanges): unknown {
  if (typeof value !== 'string') return leftOut(value, path, changes, 'a text');
  if (isPattern(value)) return value;
  changes.advice(path, `${describe(value)} is no regular expression of JavaScript`, 'left it out');
  return undefined;
}

/** Whether a text is a regular expression, which is not run here. */
export function isPattern(source: string): boolean {
  return ['u', ''].some((flags) => {
    try {
      return new RegExp(source, flags) instanceof RegExp;
    } catch {
      return false;
    }
  });
}

function choices(value: unknown, path: string, changes: SchemaChanges): unknown {
  if (Array.isArray(value)) {
    if (value.length > 0) return withoutRepeats(value, path, changes, false);
    changes.advice(path, 'it allows no value at all', 'left it out');
    return undefined;
  }
  if (isObject(value) || (typeof value === 'string' && /[,;|]/.test(value)))
    return changes.refuse(path, `the values must be an array, not ${describe(value)}`);
  changes.fault(path, `${describe(value)} is no array`, 'made it the only value');
  return [value];
}

function examples(value: unknown, path: string, changes: SchemaChanges): unknown {
  if (Array.isArray(value)) return value;
  changes.fault(path, `${describe(value)} is no array`, 'made it the only example');
  return [value];
}

/** Names of properties. */
export function names(value: unknown, path: string, changes: SchemaChanges): unknown {
  if (!Array.isArray(value)) return namesOf(value, path, changes);
  const texts = value.filter((name) => typeof name === 'string');
  if (texts.length < value.length) changes.fault(path, 'some of the names are no texts', 'left those out');
  return withoutRepeats(texts, path, changes, true);
}

function namesOf(value: unknown, path: string, changes: SchemaChanges): unknown {
  const isEmpty = isObject(value) && Object.keys(value).length === 0; // PHP writes an empty array so
  if (typeof value !== 'string' && !isEmpty) return leftOut(value, path, changes, 'an array of names');
  changes.fault(path, `${describe(value)} is no array of names`, 'made one of it');
  return isEmpty ? [] : [value];
}

function namesByName(value: unknown, path: string, changes: SchemaChanges): unknown {
  if (!isObject(value)) return leftOut(value, path, changes, 'an object of arrays of names');
  const entries = Object.entries(value).map(([name, list]) => [name, names(list, `${path}/${name}`, changes)] as const);
  return Object.fromEntries(entries.filter(([, list]) => list !== undefined));
}

function withoutRepeats(values: readonly unknown[], path: string, changes: SchemaChanges, isFault: boolean): unknown {
  const byText = new Map(values.map((value) => [canonicalJson(value as JsonValue), value]));
  if (byText.size === values.length) return values;
  changes[isFault ? 'fault' : 'advice'](path, 'it has a value twice', 'left the repeats out');
  return [...byText.values()];
}

function leftOut(value: unknown, path: string, changes: SchemaChanges, rule: string): undefined {
  changes.fault(path, `it must be ${rule}, not ${describe(value)}`, 'left it out');
}

/** The number that is meant by a number or its text. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value !== 'number' && (typeof value !== 'string' || value.trim() === '')) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** What is meant by true, false or their texts. */
export function flagOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  if (word === 'true' || word === 'yes') return true;
  return word === 'false' || word === 'no' ? false : undefined;
}
