import type { JsonSchema } from '../chat/tool-definition.js';
import { ToolDefinitionError } from '../errors.js';
import { isPlainObject } from '../internal/options.js';
import { freeName, listOf } from './json-pointer.js';
import { normalizeSchema } from './normalize/normalize-schema.js';

/**
 * Adds the properties of another schema to the schema of a tool.
 * @throws {@link ToolDefinitionError} if both have a property of one name, or one refers to its root
 */
export function mergeSchemas(schema: JsonSchema, extra: JsonSchema, toolName: string): JsonSchema {
  const added = normalizeSchema(extra, toolName).schema; // `definitions` become `$defs`
  const names = new Set(argumentNames(schema));
  const clash = Object.keys(objectOf(added['properties'])).find((name) => names.has(name));
  const problem =
    clash !== undefined
      ? `the tool "${toolName}" has an argument "${clash}" of its own; give the additional one another name`
      : [schema, added].some(refersToRoot)
        ? `the schema of the tool "${toolName}", or the additional one, refers to itself as a whole, and would then refer to both; put the recursive part into a property`
        : undefined;
  if (problem !== undefined) throw new ToolDefinitionError(`augmentTools: ${problem}`, toolName);
  const definitions = objectOf(schema['$defs']);
  const renamed = renameDefinitions(added, definitions);
  const all = { ...definitions, ...objectOf(renamed['$defs']) };
  return {
    ...schema,
    properties: { ...objectOf(schema['properties']), ...objectOf(renamed['properties']) },
    required: [...listOf(schema['required']), ...listOf(renamed['required'])],
    ...(Object.keys(all).length > 0 && { $defs: all }),
  };
}

/** Names of all arguments, also of those that only alternatives and parts mention. */
function argumentNames(schema: JsonSchema): readonly unknown[] {
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listOf(schema[keyword]));
  return [
    ...Object.keys(objectOf(schema['properties'])),
    ...listOf(schema['required']),
    ...parts.filter(isPlainObject).flatMap(argumentNames),
  ];
}

function refersToRoot(schema: JsonSchema): boolean {
  return JSON.stringify(schema).includes('"$ref":"#"');
}

function objectOf(value: unknown): JsonSchema {
  return (value ?? {}) as JsonSchema;
}

const DEFINITIONS = '#/$defs/';

/** Renames the definitions of a schema whose names are taken. */
function renameDefinitions(schema: JsonSchema, taken: JsonSchema): JsonSchema {
  const own = objectOf(schema['$defs']);
  const newName = (name: string): string =>
    Object.hasOwn(taken, name) ? freeName(name, { ...taken, ...own }) : name;
  const { $defs, ...rest } = JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    if (key !== '$ref' || typeof value !== 'string' || !value.startsWith(DEFINITIONS)) return value;
    const [name = '', ...path] = value.slice(DEFINITIONS.length).split('/');
    return DEFINITIONS + [newName(name), ...path].join('/');
  }) as JsonSchema;
  const entries = Object.entries(objectOf($defs)).map(([name, value]) => [newName(name), value]);
  return { ...rest, $defs: Object.fromEntries(entries) as JsonSchema };
}
