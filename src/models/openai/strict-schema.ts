import type { JsonSchema } from '../../chat/tool-definition.js';
import { isPlainObject } from '../../internal/options.js';
import type { JsonObject } from '../http/json-object.js';

/**
 * Converts a schema to the form of OpenAI's strict mode: every property is required and no other is
 * allowed; a property that was optional may be null instead, and `oneOf` becomes `anyOf`.
 * https://platform.openai.com/docs/guides/structured-outputs
 */
export function toStrictSchema(schema: JsonSchema): JsonSchema {
  return toStrict(withDefinitions(schema)) as JsonSchema;
}

/**
 * Moves what references lead to into definitions. A reference to a property would lead to another
 * schema once that property may be null; zod 3 makes such references for a schema that is used
 * twice.
 */
function withDefinitions(schema: JsonSchema): JsonSchema {
  const names = new Map<unknown, string>();
  JSON.stringify(schema, (keyword, value: unknown) => {
    if (keyword === '$ref' && typeof value === 'string' && OTHER_REFERENCE.test(value))
      if (resolvePointer(schema, value) !== undefined) names.set(value, `shared_${names.size + 1}`);
    return value;
  });
  if (names.size === 0) return schema;
  const redirect = (value: unknown): JsonSchema =>
    JSON.parse(JSON.stringify(value), (keyword, inner: unknown) => {
      const name = keyword === '$ref' ? names.get(inner) : undefined;
      return name === undefined ? inner : `#/$defs/${name}`;
    }) as JsonSchema;
  const shared = [...names].map(([pointer, name]): readonly [string, JsonSchema] => [
    name,
    redirect(resolvePointer(schema, String(pointer))),
  ]);
  const { $defs, ...others } = redirect(schema);
  return {
    ...others,
    $defs: { ...($defs as JsonSchema | undefined), ...Object.fromEntries(shared) },
  };
}

/** A reference into the schema, but not to a definition. */
const OTHER_REFERENCE = /^#\/(?!(?:\$defs|definitions)\/[^/]+$)/;

function resolvePointer(schema: JsonSchema, pointer: string): unknown {
  const steps = decodeURIComponent(pointer).slice(2).split('/');
  const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce<unknown>((value, name) => (value as JsonObject | undefined)?.[name], schema);
}

/** Keywords whose values are data, not schemas. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);
/** Keywords whose values are maps from names to schemas, where a name may look like a keyword. */
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);

function toStrict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toStrict);
  if (!isPlainObject(schema)) return schema;
  const entries = Object.entries(schema).map(([keyword, value]) => [
    // strict mode knows `anyOf` alone; a value that fits exactly one schema fits any of them
    keyword === 'oneOf' && !('anyOf' in schema) ? 'anyOf' : keyword,
    toStrictValue(keyword, value),
  ]);
  const strict = Object.fromEntries(entries) as JsonObject;
  return isPlainObject(strict['properties']) ? toClosed(strict, strict['properties']) : strict;
}

function toStrictValue(keyword: string, value: unknown): unknown {
  if (DATA.has(keyword)) return value;
  return MAPS.has(keyword) && isPlainObject(value) ? mapValues(value, toStrict) : toStrict(value);
}

function mapValues(
  map: JsonObject,
  convert: (value: unknown, name: string) => unknown,
): JsonObject {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, convert(value, name)]),
  );
}

function toClosed(schema: JsonObject, properties: JsonObject): JsonSchema {
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const known = required.filter((name) => Object.hasOwn(properties, String(name)));
  return {
    ...schema,
    properties: mapValues(properties, (property, name) =>
      required.includes(name) ? property : orNull(property),
    ) as JsonSchema,
    required: [...new Set([...known, ...Object.keys(properties)])] as readonly string[],
    additionalProperties: false,
  };
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
  const { type, enum: values, anyOf, oneOf } = schema;
  if (Array.isArray(values)) return values.includes(null);
  if ('const' in schema) return schema['const'] === null;
  const alternatives = [anyOf, oneOf].filter(Array.isArray).flat();
  return [type].flat().includes('null') || alternatives.some(admitsNull);
}
