import type { OutputUnit } from '@cfworker/json-schema';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../chat/tool-definition.js';
import { isPlainObject } from '../internal/options.js';
import { BoundedValidator } from './bounded-validator.js';
import { listOf } from './json-pointer.js';
import { ANNOTATIONS, BOUNDS } from './keywords.js';
import { MemoizedCheck } from './memoized-check.js';
import { hasType } from './normalize/type-names.js';
import type { InputSchema } from './to-json-schema.js';

/** A valid value, or the problems found in it. */
export type Validation = { readonly value: unknown } | { readonly issues: readonly string[] };

const MAX_ISSUES = 8;

/** Checks that a schema can validate values itself. */
export function isStandardSchema(schema: InputSchema): schema is StandardSchemaV1 {
  const standard = (schema as { '~standard'?: { validate?: unknown } })['~standard'];
  return typeof standard?.validate === 'function';
}

/** The check of a value by a schema, or by the JSON Schema of it. */
export function toValidator(
  schema: InputSchema,
  json: JsonSchema,
): (value: unknown) => Validation | Promise<Validation> {
  return isStandardSchema(schema) ? standardValidator(schema) : jsonSchemaValidator(json);
}

/** Checks values by a Standard Schema; a valid value has the schema's defaults and transforms. */
export function standardValidator(
  schema: StandardSchemaV1,
): (value: unknown) => Promise<Validation> {
  return async (value) => {
    const result = await schema['~standard'].validate(value);
    if (!result.issues) return { value: result.value };
    const shown = result.issues.slice(0, MAX_ISSUES);
    return { issues: shown.map(({ path, message }) => `${placeOf(path)}: ${message}`) };
  };
}

function placeOf(path: StandardSchemaV1.Issue['path']): string {
  const keys = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
  return keys.length > 0 ? keys.join('.') : 'the value';
}

/**
 * Checks values by a JSON Schema, without generating code. `pattern`, `patternProperties` and
 * `format` are not checked: a regular expression of a foreign schema on text of a model could block
 * the process for seconds. A check that takes too many steps is given up, and the value refused.
 */
export function jsonSchemaValidator(schema: JsonSchema): (value: unknown) => Validation {
  // made at the first use: most tools of a large catalogue are never called, most calls are valid
  let checked: JsonSchema | undefined;
  let validator: BoundedValidator | undefined;
  return (value) => {
    checked ??= withoutPatterns(schema);
    if (isSurelyValid(checked, value)) return { value };
    const verdict = new MemoizedCheck(checked).check(value);
    if (verdict) return { value };
    validator ??= new BoundedValidator(checked);
    const errors = validator.validate(value);
    if (!errors) return { issues: [verdict === false ? NOT_VALID : UNDECIDED] };
    if (errors.length === 0) return { value };
    const causes = errors.filter(({ keyword }) => !WRAPPERS.has(keyword));
    const shown = (causes.length > 0 ? causes : errors).slice(0, MAX_ISSUES);
    return { issues: shown.map(toIssue) };
  };
}

const NOT_VALID =
  'the arguments: do not fit the schema; there are too many alternatives or items to find the place';
const UNDECIDED = 'the arguments: are too large or too deeply nested to be checked by this schema';

/** Keywords whose errors repeat that something inside them failed. */
const WRAPPERS: ReadonlySet<string> = new Set(
  'properties items prefixItems allOf $ref additionalProperties'.split(' '),
);

function toIssue({ instanceLocation, keyword, error }: OutputUnit): string {
  const place = instanceLocation.slice(2).replaceAll('/', '.') || 'the value';
  return `${place}: ${keyword === 'false' ? 'is not allowed here' : error}`;
}

/**
 * Checks a value by the most common keywords, many times as fast as the validator. A value that is
 * not surely valid may be valid too: rare keywords are not known here.
 */
export function isSurelyValid(schema: unknown, value: unknown): boolean {
  if (!isPlainObject(schema)) return schema === true;
  for (const keyword in schema) if (!surelyFits(value, keyword, schema)) return false;
  return true;
}

function surelyFits(value: unknown, keyword: string, schema: JsonSchema): boolean {
  const rule = schema[keyword];
  switch (keyword) {
    case 'type':
      return hasType(value, rule);
    case 'properties':
    case 'additionalProperties':
      return !isPlainObject(value) || propertiesSurelyFit(value, keyword, schema);
    case 'required':
      return (
        !isPlainObject(value) || listOf(rule).every((name) => Object.hasOwn(value, name as string))
      );
    case 'items':
      return !Array.isArray(value) || value.every((item) => isSurelyValid(rule, item));
    case 'enum':
      return listOf(rule).includes(value);
    case 'const':
      return value === rule;
    case 'anyOf':
      return listOf(rule).some((branch) => isSurelyValid(branch, value));
    default:
      if (ANNOTATIONS.has(keyword)) return true;
      return typeof rule === 'number' && (BOUNDS.get(keyword)?.(value, rule) ?? false);
  }
}

function propertiesSurelyFit(object: JsonSchema, keyword: string, schema: JsonSchema): boolean {
  const known = (schema['properties'] ?? {}) as JsonSchema;
  if (keyword === 'properties') {
    for (const name in known)
      if (Object.hasOwn(object, name) && !isSurelyValid(known[name], object[name])) return false;
    return true;
  }
  for (const name in object)
    if (!Object.hasOwn(known, name) && !isSurelyValid(schema[keyword], object[name])) return false;
  return true;
}

/** Keywords that would run a regular expression of a foreign schema. */
const UNCHECKED = /^(?:pattern|patternProperties|format)$/;
/** Keywords under which a looser schema rejects more; `then` and `else` need `if`. */
const NEGATIVE = /^(?:not|if|contains|oneOf)$/;
const LOOSENED = /"(?:pattern|patternProperties|format)":/;
/** Keywords with data or with schemas by name, where a name may equal a keyword. */
const DATA = /^(?:enum|const|default|examples|dependentRequired)$/;
const MAPS = /^(?:properties|\$defs|definitions|dependentSchemas|dependencies)$/;

/** Copies a schema without regular expressions and formats; the copy accepts the same and more. */
export function withoutPatterns(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema);
  const copy = JSON.parse(text) as JsonSchema;
  // a pattern may allow properties in any place that a reference leads to
  return LOOSENED.test(text) ? loosen(copy, text.includes('"patternProperties":')) : copy;
}

function loosen<T>(value: T, hasNamePatterns: boolean): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => loosen(item, hasNamePatterns)) as T;
  const entries = Object.entries(value).flatMap(([keyword, inner]: [string, unknown]) => {
    // these would reject a property that only a pattern allows
    const isClosing =
      (keyword === 'unevaluatedProperties' && hasNamePatterns) ||
      (keyword === 'additionalProperties' && 'patternProperties' in value);
    if (isClosing || UNCHECKED.test(keyword)) return [];
    if (DATA.test(keyword)) return [[keyword, inner]];
    if (MAPS.test(keyword) && isPlainObject(inner)) {
      const schemas = Object.entries(inner).map(([name, each]) => [
        name,
        loosen(each, hasNamePatterns),
      ]);
      return [[keyword, Object.fromEntries(schemas)]];
    }
    const text = NEGATIVE.test(keyword) ? JSON.stringify(inner) : '';
    // a schema that is referred to may be looser as well
    const isStricter = LOOSENED.test(text) || text.includes('"$ref":');
    if (isStricter && keyword !== 'oneOf') return [];
    return [[isStricter ? 'anyOf' : keyword, loosen(inner, hasNamePatterns)]];
  });
  return Object.fromEntries(entries) as T;
}
