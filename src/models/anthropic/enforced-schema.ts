import type { JsonSchema } from '../../core/chat/tool-definition.js';
import { memoize } from '../../core/internal/memoize.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { decodeReference, listOf, valueAt } from '../../core/json-schema/json-pointer.js';

/** Keywords that the API enforces, and annotations. */
const ENFORCED = new Set(
  'type properties required additionalProperties items enum const anyOf allOf oneOf $ref $defs definitions title description default examples $schema $comment'.split(
    ' ',
  ),
);
/** Keywords that limit a value; the API enforces some of their values alone. */
const LIMITS = new Set(
  'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems pattern format'.split(
    ' ',
  ),
);
const FORMATS: ReadonlySet<unknown> = new Set(
  'date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '),
);
/** Lookaround, references to groups and word boundaries. */
const HARD_PATTERN = /\(\?<?[=!]|\\[1-9bBk]/;
/** Numbers of optional properties and of unions that the API accepts. */
const MAX_OPTIONAL = 24;
const MAX_UNIONS = 16;

/** Keywords whose values are data, not schemas, and maps from names to schemas. */
const DATA = new Set(['enum', 'const', 'default', 'examples']);
const MAPS = new Set(['properties', '$defs', 'definitions']);

/**
 * Converts a schema to the form of the structured outputs of the API: objects are closed, `oneOf`
 * becomes `anyOf`, and limits that the API rejects move to the description. The answer is checked
 * by the schema itself.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
export const toEnforced = memoize((schema: JsonSchema) => convert(schema) as JsonSchema);

function convert(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(convert);
  if (!isPlainObject(schema)) return schema;
  const { oneOf, anyOf = oneOf, $schema: _dialect, description, ...others } = schema;
  const limits = Object.entries(others).filter(([name, value]) => isRejected(name, value));
  const kept = Object.entries(others).filter(([name, value]) => !isRejected(name, value));
  const notes = limits.map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const text = [description, notes.join(', ')].filter(Boolean).join(' — ');
  return {
    ...(isPlainObject(others['properties']) && { additionalProperties: false }),
    ...Object.fromEntries(kept.map(([name, value]) => [name, convertValue(name, value)])),
    ...(anyOf !== undefined && { anyOf: convert(anyOf) }),
    ...(text !== '' && { description: text }),
  };
}

function convertValue(keyword: string, value: unknown): unknown {
  if (DATA.has(keyword)) return value;
  if (!MAPS.has(keyword) || !isPlainObject(value)) return convert(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, convert(part)]));
}

function isRejected(keyword: string, value: unknown): boolean {
  if (!LIMITS.has(keyword)) return false;
  if (keyword === 'format') return !FORMATS.has(value);
  if (keyword === 'pattern') return typeof value !== 'string' || HARD_PATTERN.test(value);
  return keyword !== 'minItems' || (value !== 0 && value !== 1);
}

/** Checks that the API can enforce a schema; limits, which it cannot, are checked by the caller. */
export const isEnforceable = memoize(
  (schema: JsonSchema) => schema['type'] === 'object' && new SchemaCheck(schema).accepts(schema),
);

class SchemaCheck {
  private optional = 0;
  private unions = 0;
  /** References that are being followed (true: recursion) or have been (false). */
  private readonly references = new Map<string, boolean>();

  constructor(private readonly root: JsonSchema) {}

  accepts(schema: unknown): boolean {
    if (!isPlainObject(schema)) return false;
    const { type, items, additionalProperties = false, anyOf, oneOf, $ref } = schema;
    const types = [type].flat();
    if (anyOf !== undefined || oneOf !== undefined || types.length > 1) this.unions++;
    return (
      Object.keys(schema).every((keyword) => ENFORCED.has(keyword) || LIMITS.has(keyword)) &&
      ['type', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', '$ref'].some((key) => key in schema) &&
      listOf(schema['enum']).every((value) => typeof value !== 'object' || value === null) &&
      (!types.includes('object') || this.acceptsObject(schema)) &&
      additionalProperties === false &&
      (!types.includes('array') || this.accepts(items)) &&
      ['anyOf', 'oneOf', 'allOf'].every((name) =>
        listOf(schema[name]).every((part) => this.accepts(part)),
      ) &&
      ($ref === undefined || this.acceptsReference($ref)) &&
      this.optional <= MAX_OPTIONAL &&
      this.unions <= MAX_UNIONS
    );
  }

  private acceptsObject({ properties, required }: JsonObject): boolean {
    if (!isPlainObject(properties)) return false;
    const names = listOf(required);
    this.optional += Object.keys(properties).filter((name) => !names.includes(name)).length;
    return Object.values(properties).every((property) => this.accepts(property));
  }

  private acceptsReference(reference: unknown): boolean {
    if (typeof reference !== 'string' || !reference.startsWith('#')) return false;
    const known = this.references.get(reference);
    if (known !== undefined) return !known;
    this.references.set(reference, true);
    const isAccepted = this.accepts(valueAt(this.root, decodeReference(reference)));
    this.references.set(reference, false);
    return isAccepted;
  }
}
