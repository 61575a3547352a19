import type { JsonSchema } from '../../chat/tool-definition.js';
import { isWire, type Wire } from './wire-json.js';

/**
 * A schema as OpenAI's strict mode wants it: every property is required and no other is allowed; a property that was optional
 * may be null instead. https://platform.openai.com/docs/guides/structured-outputs
 */
export function toStrictSchema(schema: JsonSchema): JsonSchema {
  return strict(schema) as JsonSchema;
}

/** Keywords whose values are data, not schemas. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);
/** Keywords whose values are maps from names to schemas, where a name may look like a keyword. */
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);

function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (!isWire(schema)) return schema;
  const changed = Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, inside(keyword, value)]));
  return isWire(changed['properties']) ? closed(changed, changed['properties']) : changed;
}

function inside(keyword: string, value: unknown): unknown {
  if (DATA.has(keyword)) return value;
  if (!MAPS.has(keyword) || !isWire(value)) return strict(value);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, strict(schema)]));
}

function closed(schema: Wire, properties: Wire): JsonSchema {
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const entries = Object.entries(properties).map(([name, property]) => [name, required.includes(name) ? property : orNull(property)]);
  return {
    ...schema,
    properties: Object.fromEntries(entries) as JsonSchema,
    required: [...new Set([...required, ...Object.keys(properties)])],
    additionalProperties: false,
  };
}

function orNull(schema: unknown): unknown {
  if (!isWire(schema) || admitsNull(schema)) return schema;
  const { type } = schema;
  if (type === undefined || 'enum' in schema || 'const' in schema) return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [type, 'null'].flat() };
}

function admitsNull(schema: unknown): boolean {
  if (!isWire(schema)) return false;
  const { type, enum: values, anyOf, oneOf } = schema;
  if (Array.isArray(values)) return values.includes(null);
  if ('const' in schema) return schema['const'] === null;
  const alternatives = [anyOf, oneOf].filter(Array.isArray).flat();
  return [type].flat().includes('null') || alternatives.some(admitsNull);
}
