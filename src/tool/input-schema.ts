import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { toJSONSchema, type $ZodType } from 'zod/v4/core';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { describe } from '../chat/message.js';
import type { JsonSchema } from '../chat/tool-definition.js';
import { ToolDefinitionError } from '../errors.js';

/** What describes arguments or answers: a schema of zod 4, zod 3 or any Standard Schema library, or a plain JSON Schema. */
export type InputSchema = StandardSchemaV1 | JsonSchema;

/** The type that a schema stands for; a plain JSON Schema stands for any object. */
export type InferInput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : Readonly<Record<string, unknown>>;

type ZodThree = Parameters<typeof zodToJsonSchema>[0];

/** Whether a schema can check values by itself. */
export function isStandardSchema(schema: InputSchema): schema is StandardSchemaV1 {
  return typeof (schema as { '~standard'?: { validate?: unknown } })['~standard']?.validate === 'function';
}

/**
 * A schema as JSON Schema, for the model.
 * @param owner whose schema it is, for messages
 * @throws {@link ToolDefinitionError} if the schema has no JSON form
 */
export function toJsonSchema(schema: InputSchema, owner: string): JsonSchema {
  if (typeof schema !== 'object' && typeof schema !== 'function') {
    throw new ToolDefinitionError(
      `${owner}: the schema must be a zod schema, a Standard Schema or a JSON Schema object, not ${describe(schema)}`,
      owner,
    );
  }
  try {
    const { $schema: _dialect, ...json } = convert(schema);
    return json;
  } catch (error) {
    if (error instanceof ToolDefinitionError) throw error;
    throw new ToolDefinitionError(`${owner}: the schema has no JSON Schema form: ${(error as Error).message}`, owner, { cause: error });
  }
}

function convert(schema: InputSchema): JsonSchema {
  if ('_zod' in schema) return toJSONSchema(schema as unknown as $ZodType, { io: 'input' }) as JsonSchema;
  if (isZodThree(schema)) return zodToJsonSchema(schema, { target: 'jsonSchema7', $refStrategy: 'root' }) as JsonSchema;
  if (!isStandardSchema(schema)) return schema;
  const trait = (schema['~standard'] as Partial<StandardJSONSchemaV1.Props>).jsonSchema;
  if (trait) return trait.input({ target: 'draft-2020-12' });
  throw new Error(
    `${schema['~standard'].vendor} schemas do not convert by themselves; give the JSON Schema as \`inputSchema\` beside \`input\``,
  );
}

function isZodThree(schema: InputSchema): schema is InputSchema & ZodThree {
  const inside = (schema as { _def?: { typeName?: unknown } })._def;
  return typeof inside?.typeName === 'string' && inside.typeName.startsWith('Zod');
}

/**
 * The JSON Schema of a tool's arguments.
 * @throws {@link ToolDefinitionError} if it does not describe an object
 */
export function toToolSchema(schema: InputSchema, toolName: string): JsonSchema {
  const json = toJsonSchema(schema, toolName);
  if (Object.keys(json).length === 0 && !isStandardSchema(schema)) return { type: 'object', properties: {} };
  if (json['type'] === undefined && isObject(json['properties'])) return { type: 'object', ...json };
  if (json['type'] === 'object') return json['properties'] === undefined && !('$ref' in json) ? { ...json, properties: {} } : json;
  const found = json['type'] === undefined ? Object.keys(json).join(', ') || 'nothing' : describe(json['type']);
  throw new ToolDefinitionError(
    `tool "${toolName}": its arguments must be an object (type "object" at the root), the schema has ${found}`,
    toolName,
  );
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
