import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { describe } from '../../chat/message.js';
import type { JsonSchema } from '../../chat/tool-definition.js';
import { ToolDefinitionError } from '../../errors.js';
import { normalizeSchema } from './normalize-schema.js';
import { definitionAtRoot } from './schema-root.js';
import { isObject } from './schema-types.js';
import { fromZodFour, fromZodThree, isZodFour, isZodThree } from './zod-schema.js';

/** What describes arguments or answers: a schema of zod 4, zod 3 or any Standard Schema library, or a plain JSON Schema. */
export type InputSchema = StandardSchemaV1 | JsonSchema;

/** The type that a schema stands for; a plain JSON Schema stands for any object. */
export type InferInput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : Readonly<Record<string, unknown>>;

/** Whether a schema can check values by itself. */
export function isStandardSchema(schema: InputSchema): schema is StandardSchemaV1 {
  return typeof (schema as { '~standard'?: { validate?: unknown } })['~standard']?.validate === 'function';
}

/**
 * A schema as JSON Schema, for the model.
 * @param owner whose schema it is, for messages
 * @throws {@link ToolDefinitionError} if the schema has no JSON form
 */
export function toJsonSchema(schema: InputSchema, owner: string, toolName = owner): JsonSchema {
  if (!isSchema(schema)) {
    const expected = 'a zod schema, a Standard Schema or a JSON Schema object';
    throw new ToolDefinitionError(`${owner}: the schema must be ${expected}, not ${describe(schema)}`, toolName);
  }
  try {
    // as text and back: what is not JSON shows now, and nobody can change it later
    const { $schema: _dialect, ...json } = JSON.parse(JSON.stringify(convert(schema), refuseSchema)) as JsonSchema;
    return json;
  } catch (error) {
    throw new ToolDefinitionError(`${owner}: the schema has no JSON Schema form: ${(error as Error).message}`, toolName, { cause: error });
  }
}

/** A Map or a Promise is no schema, though it has no property that JSON Schema would refuse. */
function isSchema(value: unknown): boolean {
  if (typeof value !== 'function' && !isObject(value)) return false;
  if (isStandardSchema(value as InputSchema) || isZodThree(value as InputSchema)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return typeof value === 'object' && (prototype === null || Object.getPrototypeOf(prototype) === null);
}

/** JSON Schema cannot have schemas of zod inside: their fields would be taken for unknown keywords, and allow everything. */
function refuseSchema(name: string, value: unknown): unknown {
  if (isObject(value) && (isZodFour(value) || isZodThree(value)))
    throw new Error(`"${name}" is a schema of zod inside a plain one; make the whole with zod: z.object({ … })`);
  return value;
}

function convert(schema: InputSchema): JsonSchema {
  if (isZodFour(schema)) return fromZodFour(schema);
  if (isZodThree(schema)) return fromZodThree(schema);
  if (!isStandardSchema(schema)) return schema;
  const { vendor, jsonSchema } = schema['~standard'] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;
  if (jsonSchema) return jsonSchema.input({ target: 'draft-2020-12' });
  throw new Error(`${vendor} schemas do not convert by themselves; give the JSON Schema as \`inputSchema\` beside \`input\``);
}

/**
 * The JSON Schema of a tool's arguments.
 * @throws {@link ToolDefinitionError} if it does not describe an object
 */
export function toToolSchema(schema: InputSchema, toolName: string): JsonSchema {
  const json = definitionAtRoot(toJsonSchema(schema, `tool "${toolName}"`, toolName));
  const isPlain = !isStandardSchema(schema);
  if (isPlain && Object.keys(json).length === 0) return { type: 'object', properties: {} };
  const whole = objectAtRoot(json);
  if (whole && isPlain) refuseFaults(whole, toolName);
  if (whole) return whole;
  const { type } = json;
  const found = type === undefined ? Object.keys(json).join(', ') || 'nothing' : describe(type);
  const hint = isPlain && canBeNormalized(json, toolName) ? `; ${HINT}` : '';
  throw new ToolDefinitionError(
    `tool "${toolName}": its arguments must be an object (type "object" at the root), the schema has ${found}${hint}`,
    toolName,
  );
}

function objectAtRoot(json: JsonSchema): JsonSchema | undefined {
  const { type, properties } = json;
  if (type === undefined && isObject(properties)) return { type: 'object', ...json };
  if (type !== 'object') return undefined;
  return (properties ?? undefined) === undefined ? { ...json, properties: {} } : json;
}

const HINT = 'normalizeSchema(schema, name).schema mends it, and tells in `changes` how';
const MAX_FAULTS = 3;

/** A schema that is no JSON Schema is never mended silently: what the model is offered would not be what the author wrote. */
function refuseFaults(schema: JsonSchema, toolName: string): void {
  const faults = normalizeSchema(schema, toolName).changes.filter(({ isFault }) => isFault);
  if (faults.length === 0) return;
  const shown = faults.slice(0, MAX_FAULTS).map(({ path, problem }) => `${path}: ${problem}`);
  const more = faults.length > MAX_FAULTS ? `, and ${faults.length - MAX_FAULTS} more` : '';
  throw new ToolDefinitionError(
    `tool "${toolName}": its schema is no JSON Schema (2020-12) at ${shown.join('; ')}${more}. ${HINT}`,
    toolName,
  );
}

function canBeNormalized(schema: JsonSchema, toolName: string): boolean {
  try {
    return isObject(normalizeSchema(schema, toolName).schema);
  } catch {
    return false;
  }
}
