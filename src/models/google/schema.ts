import type { JsonSchema } from '../../core/chat/tool-definition.js';
import { memoize } from '../../core/internal/memoize.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';

/** Keywords whose values are maps from names to schemas. */
const MAPS = ['properties', '$defs'];
/** Keywords whose values are schemas, or lists of them. */
const SCHEMAS = ['items', 'prefixItems', 'anyOf', 'oneOf', 'additionalProperties'];
/** Keywords that the API keeps, and annotations. https://ai.google.dev/gemini-api/docs/structured-output */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...MAPS,
  ...SCHEMAS,
  ...'$id $ref $anchor type format enum const minItems maxItems minimum maximum required'.split(
    ' ',
  ),
  ...'$schema title description default examples $comment propertyOrdering'.split(' '),
]);

/** A schema in the form of the API: `const` is an `enum` with one value. */
export const toGoogleSchema = memoize((schema: JsonSchema) => converted(schema) as JsonObject);

/** Checks that the API can enforce a schema: it ignores keywords that it does not have. */
export const isEnforced = memoize(
  (schema: JsonSchema) => schema['type'] === 'object' && hasKnownKeywords(schema),
);

function converted(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(converted);
  if (!isPlainObject(schema)) return schema;
  const { $schema: _, const: value, ...others } = schema;
  const result: Record<string, unknown> = 'const' in schema ? { ...others, enum: [value] } : others;
  for (const name of SCHEMAS) if (name in result) result[name] = converted(result[name]);
  for (const name of MAPS) {
    const map = result[name];
    if (!isPlainObject(map)) continue;
    result[name] = Object.fromEntries(
      Object.entries(map).map(([key, each]) => [key, converted(each)]),
    );
  }
  return result;
}

function hasKnownKeywords(schema: unknown): boolean {
  if (typeof schema === 'boolean') return true;
  if (!isPlainObject(schema)) return false;
  const values = [...listOf(schema['enum']), ...('const' in schema ? [schema['const']] : [])];
  const maps = MAPS.flatMap((name) => Object.values((schema[name] ?? {}) as JsonObject));
  const schemas = SCHEMAS.flatMap((name) => schema[name] ?? []);
  return (
    Object.keys(schema).every((name) => KEYWORDS.has(name)) &&
    values.every((value) => typeof value === 'string' || typeof value === 'number') &&
    [...maps, ...schemas].every(hasKnownKeywords)
  );
}
