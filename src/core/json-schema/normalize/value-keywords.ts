import { truncate } from '../../internal/text.js';
import { describe } from '../../errors/describe.js';
import { canonicalJson, type JsonValue } from '../../internal/json.js';
import {
  BOOLEAN,
  FINITE,
  integer,
  isPlainObject,
  POSITIVE,
  rule,
  type Rule,
} from '../../internal/options.js';
import type { SchemaContext } from './schema-context.js';

/** Normalizes the value of a keyword that contains no schemas; undefined removes the keyword. */
export type ValueNormalizer = (value: unknown, at: SchemaContext) => unknown;

const STRING = rule('a string', (value) => typeof value === 'string');
const ARRAY = rule('an array', Array.isArray);
const NAMES = rule(
  'an array of different names',
  (value) => Array.isArray(value) && value.length === namesOf(value)?.length,
);

export const normalizeNumber = repairing(FINITE, numberOf);
export const normalizeNames = repairing(NAMES, namesOf);
const normalizeCount = repairing(integer(0), numberOf);
const normalizeArray = repairing(ARRAY, (value) => [value]);

/** Keywords of JSON Schema whose values are data. */
export const VALUE_KEYWORDS: ReadonlyMap<string, ValueNormalizer> = new Map([
  ...words('minLength minItems minProperties minContains', normalizeCount),
  ...words('maxLength maxItems maxProperties maxContains', normalizeCount),
  ...words('multipleOf', repairing(POSITIVE, numberOf)),
  ...words('title description', repairing(STRING, scalarText)),
  ...words('$comment format contentEncoding contentMediaType', repairing(STRING)),
  ...words('uniqueItems deprecated readOnly writeOnly', repairing(BOOLEAN, booleanOf)),
  ...words('examples', normalizeArray),
  ...words('pattern', normalizePattern),
  ...words('enum', normalizeEnum),
]);

/** Entries with one value for each word of a list. */
export function words<T>(list: string, value: T): readonly (readonly [string, T])[] {
  return list.split(' ').map((word) => [word, value]);
}

/** @param repair makes another value, which is used if it follows the rule */
function repairing(
  { accepts, text }: Rule,
  repair: (value: unknown) => unknown = () => undefined,
): ValueNormalizer {
  return (value, at) => {
    if (accepts(value)) return value;
    const repaired = accepts(repair(value)) ? repair(value) : undefined;
    const action = repaired === undefined ? 'removed it' : changedTo(repaired);
    at.error(`it must be ${text}, not ${describe(value)}`, action);
    return repaired;
  };
}

/** Action of a change that replaces a value. */
export function changedTo(value: unknown): string {
  return `changed it to ${truncate(JSON.stringify(value), 100)}`;
}

function scalarText(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function normalizePattern(value: unknown, at: SchemaContext): unknown {
  const source = repairing(STRING)(value, at);
  return typeof source === 'string' && isPattern(source, at) ? source : undefined;
}

/** Checks a regular expression by compiling it, and records one that JavaScript does not know. */
export function isPattern(source: string, at: SchemaContext): boolean {
  const compiles = ['u', ''].some((flags) => {
    try {
      return new RegExp(source, flags) instanceof RegExp;
    } catch {
      return false;
    }
  });
  if (!compiles)
    at.warning(`${describe(source)} is not a regular expression of JavaScript`, 'removed it');
  return compiles;
}

function normalizeEnum(value: unknown, at: SchemaContext): unknown {
  if (isPlainObject(value) || (typeof value === 'string' && /[,;|]/.test(value)))
    return at.reject(`the values must be an array, not ${describe(value)}`);
  const values = normalizeArray(value, at) as readonly JsonValue[];
  const byJson = new Map(values.map((each) => [canonicalJson(each), each]));
  if (byJson.size < values.length) at.warning('it contains a value twice', 'removed the repeats');
  if (byJson.size > 0) return [...byJson.values()];
  return at.warning('it allows no value at all', 'removed it');
}

/** The different names of a list, or a single one. */
function namesOf(value: unknown): readonly string[] | undefined {
  const list = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(list)) return undefined;
  return [...new Set(list.filter((name) => typeof name === 'string'))];
}

/** Reads a number or its text; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  const isText = typeof value === 'string' && value.trim() !== '';
  const number = isText || typeof value === 'number' ? Number(value) : NaN;
  return Number.isFinite(number) ? number : undefined;
}

const BOOLEANS = new Map([...words('true yes', true), ...words('false no', false)]);

/** Reads a boolean or its text; undefined for anything else. */
export function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  return typeof value === 'string' ? BOOLEANS.get(value.toLowerCase()) : undefined;
}
