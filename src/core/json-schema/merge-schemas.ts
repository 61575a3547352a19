import type { JsonSchema } from '../chat/tool-definition.js';
import { ToolDefinitionError } from '../errors/errors.js';
import { isPlainObject } from '../internal/options.js';
import { freeName, listOf } from './json-pointer.js';
import { normalizeSchema } from './normalize/normalize-schema.js';
import { toToolSchema, type InputSchema } from './to-json-schema.js';

/**
 * Adds the properties of another schema to the schema of the arguments of a tool, for a tool that
 * takes the additional arguments out by itself; `augmentTools` does both.
 * @param schema schema of an object, in any form that `defineTool` takes
 * @param extra schema with the additional properties, in any such form
 * @param toolName name for errors
 * @returns JSON Schema with the properties, the required names and the definitions of both
 * @throws {@link ToolDefinitionError} if one does not describe an object or refers to its root, or
 * both have a property of one name
 */
export function augmentSchema(
  schema: InputSchema,
  extra: InputSchema,
  toolName = 'tool',
): JsonSchema {
  const where = 'augmentSchema';
  return mergeSchemas(toToolSchema(schema, toolName), toToolSchema(extra, where), toolName, where);
}

/**
 * Adds the properties of another schema to the schema of a tool.
 * @throws {@link ToolDefinitionError} if both have a property of one name, or one refers to its root
 */
export function mergeSchemas(
  schema: JsonSchema,
  extra: JsonSchema,
  toolName: string,
  where: string,
): JsonSchema {
  const definitions = schemaOrEmpty(schema['$defs']);
  // `definitions` become `$defs`
  const added = renameDefinitions(normalizeSchema(extra, toolName).schema, definitions);
  const names = argumentNames(schema);
  const clash = Object.keys(schemaOrEmpty(added['properties'])).find((name) =>
    names.includes(name),
  );
  const fail = (problem: string): never => {
    throw new ToolDefinitionError(`${where}: ${problem}`, toolName);
  };
  if (clash !== undefined)
    fail(
      `the tool "${toolName}" has an argument "${clash}" of its own; give the additional one another name`,
    );
  if (JSON.stringify([schema, added]).includes('"$ref":"#"'))
    fail(
      `the schema of the tool "${toolName}", or the additional one, refers to itself as a whole, and would then refer to both; put the recursive part into a property`,
    );
  const $defs = { ...definitions, ...schemaOrEmpty(added['$defs']) };
  return {
    ...schema,
    properties: { ...schemaOrEmpty(schema['properties']), ...schemaOrEmpty(added['properties']) },
    required: [...listOf(schema['required']), ...listOf(added['required'])],
    ...(Object.keys($defs).length > 0 && { $defs }),
  };
}

/** Names of all arguments, also of those that only alternatives and parts mention. */
function argumentNames(schema: JsonSchema): readonly unknown[] {
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listOf(schema[keyword]));
  return [
    ...Object.keys(schemaOrEmpty(schema['properties'])),
    ...listOf(schema['required']),
    ...parts.filter(isPlainObject).flatMap(argumentNames),
  ];
}

function schemaOrEmpty(value: unknown): JsonSchema {
  return (value ?? {}) as JsonSchema;
}

/** Renames the definitions of a schema whose names are taken. */
function renameDefinitions({ $defs, ...rest }: JsonSchema, taken: JsonSchema): JsonSchema {
  const own = schemaOrEmpty($defs);
  const newName = (name: string): string =>
    Object.hasOwn(taken, name) ? freeName(name, { ...taken, ...own }) : name;
  const entries = Object.entries(own).map(([name, value]) => [newName(name), value]);
  const renamed = { ...rest, $defs: Object.fromEntries(entries) as JsonSchema };
  return JSON.parse(JSON.stringify(renamed), (key, value: unknown) => {
    const isReference = key === '$ref' && typeof value === 'string';
    return isReference ? value.replace(/(?<=^#\/\$defs\/)[^/]+/, newName) : value;
  }) as JsonSchema;
}
