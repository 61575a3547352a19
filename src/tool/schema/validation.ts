import { Validator, type OutputUnit, type Schema } from '@cfworker/json-schema';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../../chat/tool-definition.js';
import { withoutPatterns } from './schema-patterns.js';
import { quickCheck, type QuickCheck } from './quick-check.js';
import type { Validation } from '../tool.js';

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
  // made at the first use: most tools of a large catalogue are never called, and most calls are right
  let checked: JsonSchema | undefined;
  let isSurelyValid: QuickCheck | undefined;
  let validator: Validator | undefined;
  return (value) => {
    checked ??= withoutPatterns(schema);
    isSurelyValid ??= quickCheck(checked);
    if (isSurelyValid(value)) return { value };
    validator ??= new Validator(checked as Schema, '2020-12', false);
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
