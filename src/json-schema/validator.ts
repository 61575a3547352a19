import type { OutputUnit } from '@cfworker/json-schema';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../chat/tool-definition.js';
import { isPlainObject } from '../internal/options.js';
import { BoundedValidator } from './bounded-validator.js';
import { CheckSteps, EXCEEDED, MAX_CHECK_STEPS, type CheckLimits } from './check-steps.js';
import { isSurelyValid } from './sure-check.js';
import { MemoizedCheck } from './memoized-check.js';
import type { InputSchema } from './to-json-schema.js';

export type { CheckLimits } from './check-steps.js';

/** A valid value, or the problems found in it. */
export type Validation =
  | { readonly value: unknown }
  | {
      readonly issues: readonly string[];
      /** The limit that ended the check. */
      readonly cause?: Error;
    };

/** The check of a value. */
export type Validate = (value: unknown, limits?: CheckLimits) => Validation | Promise<Validation>;

const MAX_ISSUES = 8;

/** Checks that a schema can validate values itself. */
export function isStandardSchema(schema: InputSchema): schema is StandardSchemaV1 {
  const standard = (schema as { '~standard'?: { validate?: unknown } })['~standard'];
  return typeof standard?.validate === 'function';
}

/** The check of a value by a schema, or by the JSON Schema of it. */
export function toValidator(schema: InputSchema, json: JsonSchema): Validate {
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
export function jsonSchemaValidator(
  schema: JsonSchema,
): (value: unknown, limits?: CheckLimits) => Validation {
  // made at the first use: most tools of a large catalogue are never called, most calls are valid
  let checked: JsonSchema | undefined;
  let validator: BoundedValidator | undefined;
  return (value, { maxCheckSteps = MAX_CHECK_STEPS } = {}) => {
    checked ??= withoutPatterns(schema);
    const steps = new CheckSteps(maxCheckSteps);
    let verdict: boolean | undefined;
    try {
      if (isSurelyValid(checked, value, steps)) return { value };
      verdict = new MemoizedCheck(checked, steps).check(value);
      if (verdict) return { value };
      validator ??= new BoundedValidator(checked);
      const errors = validator.validate(value, steps);
      return errors.length === 0 ? { value } : { issues: issuesOf(errors) };
    } catch (error) {
      if (error !== EXCEEDED) throw error;
      if (verdict === false) return { issues: [NOT_VALID] };
      return { issues: [UNDECIDED], cause: steps.exceeded() };
    }
  };
}

function issuesOf(errors: readonly OutputUnit[]): readonly string[] {
  const causes = errors.filter(({ keyword }) => !WRAPPERS.has(keyword));
  return (causes.length > 0 ? causes : errors).slice(0, MAX_ISSUES).map(toIssue);
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
