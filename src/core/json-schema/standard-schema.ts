import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A valid value, or the problems found in it. */
export type Validation =
  | { readonly value: unknown }
  | {
      readonly issues: readonly string[];
      /** The limit that ended the check. */
      readonly cause?: Error;
    };

/** Maximum number of issues of one value. */
export const MAX_ISSUES = 8;

/** Checks that a schema can validate values itself. */
export function isStandardSchema(schema: object | string): schema is StandardSchemaV1 {
  const standard = (schema as { '~standard'?: { validate?: unknown } })['~standard'];
  return typeof standard?.validate === 'function';
}

/** Checks values by a Standard Schema; a valid value has the schema's defaults and transforms. */
export function standardValidator(
  schema: StandardSchemaV1,
): (value: unknown) => Promise<Validation> {
  return async (value) => {
    const result = await schema['~standard'].validate(value);
    if (!result.issues) return { value: result.value };
    const shown = result.issues.slice(0, MAX_ISSUES);
    return { issues: shown.map(({ path, message }) => `${issuePath(path)}: ${message}`) };
  };
}

function issuePath(path: StandardSchemaV1.Issue['path']): string {
  const keys = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
  return keys.length > 0 ? keys.join('.') : 'the value';
}
