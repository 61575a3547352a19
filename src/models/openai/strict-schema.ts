import type { JsonSchema } from '../../chat/tool-definition.js';
import { isWire, type Wire } from './wire-json.js';

/**
 * A schema as OpenAI's strict mode wants it: every property is required and no other is allowed; a property that was optional
 * may be null instead, and `oneOf` is `anyOf`. https://platform.openai.com/docs/guides/structured-outputs
 */
export function toStrictSchema(schema: JsonSchema): JsonSchema {
  return strict(withDefinitions(schema)) as JsonSchema;
}

/**
 * A schema whose references lead to definitions only. A reference to a property would lead to something else once that property may
 * be null; zod 3 makes such references for a schema that is used twice.
 */
function withDefinitions(schema: JsonSchema): JsonSchema {
  const names = new Map<string, string>();
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(collect);
    if (!isWire(value)) return;
    const { $ref: reference } = value;
    if (typeof reference === 'string' && reference.startsWith('#/') && !/^#\/(\$defs|definitions)\/[^/]+$/.test(reference))
      if (at(schema, reference) !== undefined) names.set(reference, `shared_${names.size + 1}`);
    Object.values(value).forEach(collect);
  };
  collect(schema);
  if (names.size === 0) return schema;
  const lead = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(lead);
    if (!isWire(value)) return value;
    const changed = Object.fromEntries(Object.entries(value).map(([keyword, inner]) => [keyword, lead(inner)]));
    const name = names.get(String(value['$ref']));
    return name === undefined ? changed : { ...changed, $ref: `#/$defs/${name}` };
  };
  const shared = Object.fromEntries([...names].map(([reference, name]) => [name, lead(at(schema, reference))]));
  const whole = lead(schema) as JsonSchema;
  return { ...whole, $defs: { ...(whole['$defs'] as JsonSchema | undefined), ...shared } };
}

/** What a pointer leads to. */
function at(schema: JsonSchema, reference: string): unknown {
  const steps = decodeURIComponent(reference).slice(2).split('/');
  const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name], schema);
}

/** Keywords whose values are data, not schemas. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);
/** Keywords whose values are maps from names to schemas, where a name may look like a keyword. */
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);

function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (!isWire(schema)) return schema;
  const changed = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keywordOf(keyword, schema), inside(keyword, value)]),
  );
  return isWire(changed['properties']) ? closed(changed, changed['properties']) : changed;
}

/** Strict mode knows `anyOf` alone; what fits one of several fits any of them. */
function keywordOf(keyword: string, schema: Wire): string {
  return keyword === 'oneOf' && !('anyOf' in schema) ? 'anyOf' : keyword;
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
    required: [...new Set([...required.filter((name) => Object.hasOwn(properties, String(name))), ...Object.keys(properties)])],
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
