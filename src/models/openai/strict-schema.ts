import type { JsonSchema } from '../../core/chat/tool-definition.js';
import { memoize } from '../../core/internal/memoize.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { decodeReference, listOf, valueAt } from '../../core/json-schema/json-pointer.js';

/**
 * Converts a schema to the form of OpenAI's strict mode: every property is required and no other is
 * allowed; a property that was optional may be null instead, and `oneOf` becomes `anyOf`. Formats
 * and patterns that strict mode rejects are removed: the answer is checked by the schema itself.
 * https://platform.openai.com/docs/guides/structured-outputs
 */
export function toStrictSchema(schema: JsonSchema): JsonSchema {
  return toStrict(withDefinitions(schema)) as JsonSchema;
}

/** Keywords of which strict mode needs one, other keywords that it knows, and annotations. */
const TYPES = 'type anyOf oneOf enum const $ref'.split(' ');
const STRICT_KEYWORDS: ReadonlySet<string> = new Set([
  ...TYPES,
  ...'properties required additionalProperties items $defs definitions pattern format'.split(' '),
  ...'multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems'.split(' '),
  ...'minLength maxLength title description default examples $comment'.split(' '),
]);
const STRICT_FORMATS: ReadonlySet<unknown> = new Set(
  'date-time time date duration email hostname ipv4 ipv6 uuid'.split(' '),
);
const LOOKAROUND = /\(\?<?[=!]/;

/**
 * Checks that strict mode can express a schema: an object at the root, and all parts are closed and
 * have a type.
 */
export const isStrictSchema = memoize(
  (schema: JsonSchema) =>
    schema['type'] === 'object' && !('anyOf' in schema || 'oneOf' in schema) && isStrict(schema),
);

function isStrict(schema: unknown): boolean {
  if (!isPlainObject(schema)) return false;
  const { type, properties, additionalProperties = false, items } = schema;
  const types = [type].flat();
  const keywords = Object.keys(schema);
  const maps = [...MAPS].flatMap((map) => Object.values((schema[map] ?? {}) as JsonObject));
  const branches = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])];
  return (
    keywords.every((keyword) => STRICT_KEYWORDS.has(keyword)) &&
    TYPES.some((keyword) => keyword in schema) &&
    (!types.includes('object') || (isPlainObject(properties) && additionalProperties === false)) &&
    (!types.includes('array') || items !== undefined) &&
    [...maps, ...branches, ...(items === undefined ? [] : [items])].every(isStrict)
  );
}

/** A reference into the schema, but not to a definition. */
const OTHER_REFERENCE = /^#\/(?!(?:\$defs|definitions)\/[^/]+$)/;

/**
 * Moves what references lead to into definitions. A reference to a property would lead to another
 * schema once that property may be null; zod 3 makes such references for a schema that is used
 * twice.
 */
function withDefinitions(schema: JsonSchema): JsonSchema {
  const definitions: Record<string, unknown> = {};
  const names = new Map<unknown, string>();
  const redirect = (part: unknown): JsonSchema =>
    JSON.parse(JSON.stringify(part), (keyword, value: unknown) =>
      keyword === '$ref' ? toDefinition(value) : value,
    ) as JsonSchema;
  const toDefinition = (reference: unknown): unknown => {
    if (typeof reference !== 'string' || !OTHER_REFERENCE.test(reference)) return reference;
    const target = valueAt(schema, decodeReference(reference));
    if (target === undefined) return reference;
    const name = names.get(reference) ?? `shared_${names.size + 1}`;
    if (!names.has(reference)) {
      names.set(reference, name);
      definitions[name] = redirect(target);
    }
    return `#/$defs/${name}`;
  };
  const { $defs, ...others } = redirect(schema);
  return names.size === 0
    ? schema
    : { ...others, $defs: { ...($defs as JsonSchema | undefined), ...definitions } };
}

/** Keywords whose values are data, not schemas. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);
/** Keywords whose values are maps from names to schemas, where a name may look like a keyword. */
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);

function toStrict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toStrict);
  if (!isPlainObject(schema)) return schema;
  // strict mode knows `anyOf` alone; a value that fits exactly one schema fits any of them
  const { oneOf, anyOf = oneOf, format, pattern, ...others } = schema;
  const known = {
    ...others,
    ...(STRICT_FORMATS.has(format) && { format }),
    ...(typeof pattern === 'string' && !LOOKAROUND.test(pattern) && { pattern }),
    ...(anyOf !== undefined && { anyOf }),
  };
  const strict = mapValues(known, toStrictValue);
  const { properties } = strict;
  if (!isPlainObject(properties)) return strict;
  const required = listOf(strict['required']).filter((name) =>
    Object.hasOwn(properties, String(name)),
  );
  return {
    ...strict,
    properties: mapValues(properties, (property, name) =>
      required.includes(name) ? property : orNull(property),
    ),
    required: [...new Set([...required, ...Object.keys(properties)])],
    additionalProperties: false,
  };
}

function toStrictValue(value: unknown, keyword: string): unknown {
  if (DATA.has(keyword)) return value;
  return MAPS.has(keyword) && isPlainObject(value) ? mapValues(value, toStrict) : toStrict(value);
}

function mapValues(map: JsonObject, to: (value: unknown, name: string) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, to(value, name)]));
}

function orNull(schema: unknown): unknown {
  if (!isPlainObject(schema) || admitsNull(schema)) return schema;
  const { type } = schema;
  if (type === undefined || 'enum' in schema || 'const' in schema)
    return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [type, 'null'].flat() };
}

function admitsNull(schema: unknown): boolean {
  if (!isPlainObject(schema)) return false;
  const { type, enum: values, anyOf } = schema;
  if (Array.isArray(values)) return values.includes(null);
  if ('const' in schema) return schema['const'] === null;
  return [type].flat().includes('null') || listOf(anyOf).some(admitsNull);
}
