import type { JsonSchema } from '../../chat/tool-definition.js';
import { ToolDefinitionError } from '../../errors.js';
import { normalizeSchema } from './normalize-schema.js';
import { isObject } from './schema-types.js';

/**
 * The schema of a tool with the properties of another schema.
 * @throws {@link ToolDefinitionError} if both have a property of one name, or one of them refers to itself as a whole
 */
export function augmentSchema(schema: JsonSchema, extra: JsonSchema, toolName: string): JsonSchema {
  const own = (schema['properties'] ?? {}) as JsonSchema;
  const added = normalizeSchema(extra, toolName).schema; // `definitions` become `$defs`
  const taken = new Set(namesOf(schema));
  const clash = Object.keys((added['properties'] ?? {}) as JsonSchema).find((name) => taken.has(name));
  if (clash !== undefined) {
    const message = `augmentTools: the tool "${toolName}" has an argument "${clash}" of its own; give the additional one another name`;
    throw new ToolDefinitionError(message, toolName);
  }
  if ([schema, added].some(refersToRoot)) {
    const message = `augmentTools: the schema of the tool "${toolName}", or the additional one, refers to itself as a whole, and would then refer to both; put the recursive part into a property`;
    throw new ToolDefinitionError(message, toolName);
  }
  const definitions = (schema['$defs'] ?? {}) as JsonSchema;
  const { properties, required, $defs } = withFreeDefinitions(added, definitions);
  const defs = { ...definitions, ...($defs as JsonSchema | undefined) };
  return {
    ...schema,
    properties: { ...own, ...(properties as JsonSchema) },
    required: [...listOf(schema['required']), ...listOf(required)],
    ...(Object.keys(defs).length > 0 && { $defs: defs }),
  };
}

/** The arguments that a schema speaks of, also in its alternatives and parts. */
function namesOf(schema: JsonSchema): readonly unknown[] {
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listOf(schema[keyword])).filter(isObject);
  return [...Object.keys((schema['properties'] ?? {}) as JsonSchema), ...listOf(schema['required']), ...parts.flatMap(namesOf)];
}

function refersToRoot(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (value as JsonSchema)['$ref'] === '#' || Object.values(value).some(refersToRoot);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A schema whose definitions have no name that is taken. */
function withFreeDefinitions(schema: JsonSchema, taken: JsonSchema): JsonSchema {
  const { $defs, ...rest } = schema;
  const own = ($defs ?? {}) as JsonSchema;
  const names = new Map(Object.keys(own).map((name) => [name, Object.hasOwn(taken, name) ? freeName(name, { ...taken, ...own }) : name]));
  if (names.size === 0) return rest;
  const definitions = Object.entries($defs as JsonSchema).map(([name, value]) => [names.get(name), withReferences(value, names)]);
  return { ...(withReferences(rest, names) as JsonSchema), $defs: Object.fromEntries(definitions) as JsonSchema };
}

function freeName(name: string, taken: JsonSchema): string {
  let free = name;
  for (let count = 2; Object.hasOwn(taken, free); count++) free = `${name}_${count}`;
  return free;
}

const DEFINITION = '#/$defs/';

function withReferences(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const refers = key === '$ref' && typeof inner === 'string' && inner.startsWith(DEFINITION);
      return [key, refers ? renamedReference(inner, names) : withReferences(inner, names)];
    }),
  );
}

function renamedReference(reference: string, names: ReadonlyMap<string, string>): string {
  const [name = '', ...path] = reference.slice(DEFINITION.length).split('/');
  return DEFINITION + [names.get(name) ?? name, ...path].join('/');
}
