import type { JsonSchema } from '../../chat/tool-definition.js';

/**
 * A schema as OpenAI's strict mode wants it: every property is required and no other is allowed; a property that was optional
 * may be null instead. https://platform.openai.com/docs/guides/structured-outputs
 */
export function toStrictSchema(schema: JsonSchema): JsonSchema {
  return strict(schema) as JsonSchema;
}

function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (!isObject(schema)) return schema;
  const changed = Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, inside(keyword, value)]));
  return isObject(changed['properties']) ? closed(changed, changed['properties']) : changed;
}

function inside(keyword: string, value: unknown): unknown {
  if (keyword === 'enum' || keyword === 'const' || keyword === 'default') return value;
  if ((keyword === 'properties' || keyword === '$defs' || keyword === 'definitions') && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, property]) => [name, strict(property)]));
  }
  return strict(value);
}

function closed(schema: Record<string, unknown>, properties: Record<string, unknown>): JsonSchema {
  const required: unknown = schema['required'];
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  const entries = Object.entries(properties).map(([name, property]) => [name, isRequired(name) ? property : orNull(property)]);
  return {
    ...schema,
    properties: Object.fromEntries(entries) as JsonSchema,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

function orNull(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const { type } = schema;
  if (typeof type !== 'string' || 'enum' in schema || 'const' in schema)
    return Array.isArray(type) && type.includes('null') ? schema : { anyOf: [schema, { type: 'null' }] };
  return type === 'null' ? schema : { ...schema, type: [type, 'null'] };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
