import type { JsonSchema } from '../chat/tool-definition.js';
import { isPlainObject } from '../internal/options.js';
import type { CheckSteps } from './check-steps.js';
import { listOf } from './json-pointer.js';
import { ANNOTATIONS, BOUNDS } from './keywords.js';
import { hasType } from './normalize/type-names.js';

/** Steps for one name or constant of a schema that is compared with those of the value. */
const PER_NAME = 0.1;

/**
 * Checks a value by the most common keywords, many times as fast as the validator. A value that is
 * not surely valid may be valid too: rare keywords are not known here.
 */
export function isSurelyValid(schema: unknown, value: unknown, steps: CheckSteps): boolean {
  steps.take();
  if (!isPlainObject(schema)) return schema === true;
  for (const keyword in schema) if (!surelyFits(value, keyword, schema, steps)) return false;
  return true;
}

function surelyFits(
  value: unknown,
  keyword: string,
  schema: JsonSchema,
  steps: CheckSteps,
): boolean {
  const rule = schema[keyword];
  switch (keyword) {
    case 'type':
      return hasType(value, rule);
    case 'properties':
    case 'additionalProperties':
      return !isPlainObject(value) || propertiesSurelyFit(value, keyword, schema, steps);
    case 'required':
      return (
        !isPlainObject(value) || listOf(rule).every((name) => Object.hasOwn(value, name as string))
      );
    case 'items':
      return !Array.isArray(value) || value.every((item) => isSurelyValid(rule, item, steps));
    case 'enum':
      return includesScalar(listOf(rule), value, steps);
    case 'const':
      return value === rule;
    case 'anyOf':
      return listOf(rule).some((branch) => isSurelyValid(branch, value, steps));
    default:
      if (ANNOTATIONS.has(keyword)) return true;
      return typeof rule === 'number' && (BOUNDS.get(keyword)?.(value, rule) ?? false);
  }
}

function propertiesSurelyFit(
  object: JsonSchema,
  keyword: string,
  schema: JsonSchema,
  steps: CheckSteps,
): boolean {
  const known = (schema['properties'] ?? {}) as JsonSchema;
  if (keyword === 'properties') {
    for (const name in known) {
      steps.take(PER_NAME);
      if (Object.hasOwn(object, name) && !isSurelyValid(known[name], object[name], steps))
        return false;
    }
    return true;
  }
  for (const name in object)
    if (!Object.hasOwn(known, name) && !isSurelyValid(schema[keyword], object[name], steps))
      return false;
  return true;
}

/** Finds a value among constants; an object is never found. */
export function includesScalar(
  constants: readonly unknown[],
  value: unknown,
  steps: CheckSteps,
): boolean {
  steps.take(constants.length * PER_NAME);
  return constants.includes(value);
}
