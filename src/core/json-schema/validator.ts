import type { JsonSchema } from '../chat/tool-definition.js';
import { isPlainObject } from '../internal/options.js';
import { CheckSteps, EXCEEDED, MAX_CHECK_STEPS, type CheckLimits } from './check-steps.js';
import { NONE } from './issues.js';
import { SchemaCheck } from './schema-check.js';
import { isStandardSchema, standardValidator, type Validation } from './standard-schema.js';
import type { InputSchema } from './to-json-schema.js';

export type { CheckLimits } from './check-steps.js';
export type { Validation } from './standard-schema.js';

/** The check of a value. */
export type Validate = (value: unknown, limits?: CheckLimits) => Validation | Promise<Validation>;

/** The check of a value by a schema, or by the JSON Schema of it. */
export function toValidator(schema: InputSchema, json: JsonSchema): Validate {
  return isStandardSchema(schema) ? standardValidator(schema) : jsonSchemaValidator(json);
}

/**
 * Checks values by a JSON Schema, without generating code. `pattern`, `patternProperties` and
 * `format` are not checked: a regular expression of a foreign schema on text of a model could block
 * the process for seconds. A check that takes too many steps is given up, and the value refused.
 */
export function jsonSchemaValidator(
  schema: JsonSchema,
): (value: unknown, limits?: CheckLimits) => Validation {
  // made at the first use: most tools of a large catalogue are never called
  let checked: JsonSchema | undefined;
  return (value, { maxCheckSteps = MAX_CHECK_STEPS } = {}) => {
    checked ??= withoutPatterns(schema);
    const steps = new CheckSteps(maxCheckSteps);
    try {
      const issues = new SchemaCheck(checked, steps).issuesOf(checked, value);
      if (issues === NONE) return { value };
      return { issues: issues.map(({ place, text }) => `${place || 'the value'}: ${text()}`) };
    } catch (error) {
      if (error !== EXCEEDED) throw error;
      return { issues: [UNDECIDED], cause: steps.exceeded() };
    }
  };
}

const UNDECIDED = 'the arguments: are too large or too deeply nested to be checked by this schema';

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
