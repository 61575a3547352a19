import { Validator, type OutputUnit, type Schema } from '@cfworker/json-schema';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../chat/tool-definition.js';
import type { Validation } from './tool.js';

const MAX_ISSUES = 8;

/** Checks values by a Standard Schema; the value of a success is what the schema made of it (defaults, transforms). */
export function standardValidator(schema: StandardSchemaV1): (value: unknown) => Promise<Validation> {
  return async (value) => toValidation(await schema['~standard'].validate(value));
}

function toValidation(result: StandardSchemaV1.Result<unknown>): Validation {
  if (!result.issues) return { value: result.value };
  return { issues: result.issues.slice(0, MAX_ISSUES).map((issue) => `${pathOf(issue.path)}: ${issue.message}`) };
}

function pathOf(path: StandardSchemaV1.Issue['path']): string {
  const keys = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
  return keys.length > 0 ? keys.join('.') : 'the value';
}

/**
 * Checks values by a JSON Schema, without generating code.
 *
 * `pattern`, `patternProperties` and `format` are left out: they would run the regular expressions of a foreign schema over
 * text that a model wrote, which can block the process for seconds.
 */
export function jsonSchemaValidator(schema: JsonSchema): (value: unknown) => Validation {
  let validator: Validator | undefined; // made at the first use: most tools of a large catalogue are never called
  return (value) => {
    validator ??= new Validator(withoutPatterns(schema) as Schema, '2020-12', false);
    const result = validator.validate(value);
    if (result.valid) return { value };
    const leaves = result.errors.filter((error) => !WRAPPERS.has(error.keyword));
    const shown = (leaves.length > 0 ? leaves : result.errors).slice(0, MAX_ISSUES);
    return { issues: shown.map(toIssue) };
  };
}

function toIssue({ instanceLocation, keyword, error }: OutputUnit): string {
  const place = instanceLocation.slice(2).replaceAll('/', '.') || 'the arguments';
  return `${place}: ${keyword === 'false' ? 'is not allowed here' : error}`;
}

/** Keywords whose errors only say that something inside them failed. */
const WRAPPERS: ReadonlySet<string> = new Set(['properties', 'items', 'prefixItems', 'allOf', '$ref', 'additionalProperties']);

const LEFT_OUT: ReadonlySet<string> = new Set(['pattern', 'patternProperties', 'format']);
/** Keywords that would refuse a property which only a pattern allows. */
const REST: ReadonlySet<string> = new Set(['additionalProperties', 'unevaluatedProperties']);
/** Keywords below which a looser schema refuses more; without `if`, `then` and `else` mean nothing. */
const NEGATIVE: ReadonlySet<string> = new Set(['not', 'if', 'contains']);
/** Keywords whose values are data or maps from names to schemas, where a name may look like a keyword. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (typeof schema !== 'object' || schema === null) return schema;
  const isKept = (keyword: string): boolean => !LEFT_OUT.has(keyword) && !('patternProperties' in schema && REST.has(keyword));
  const entries = Object.entries(schema).filter(([keyword]) => isKept(keyword));
  return Object.fromEntries(entries.flatMap(([keyword, value]) => loosened(keyword, value, inside(keyword, value))));
}

/** Where a schema must not hold, or only one of several may, a looser schema would make the whole stricter. */
function loosened(keyword: string, before: unknown, after: unknown): [keyword: string, value: unknown][] {
  const changed = (NEGATIVE.has(keyword) || keyword === 'oneOf') && JSON.stringify(before) !== JSON.stringify(after);
  if (!changed) return [[keyword, after]];
  return keyword === 'oneOf' ? [['anyOf', after]] : [];
}

function inside(keyword: string, value: unknown): unknown {
  if (DATA.has(keyword)) return value;
  if (!MAPS.has(keyword) || typeof value !== 'object' || value === null) return withoutPatterns(value);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, withoutPatterns(schema)]));
}
