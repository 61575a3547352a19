import type { JsonSchema } from '../../chat/tool-definition.js';
import { ToolDefinitionError } from '../../errors.js';

/**
 * The schema of a tool with the properties of another schema.
 * @throws {@link ToolDefinitionError} if both have a property of one name
 */
export function augmentSchema(schema: JsonSchema, extra: JsonSchema, toolName: string): JsonSchema {
  const own = (schema['properties'] ?? {}) as JsonSchema;
  const clash = Object.keys((extra['properties'] ?? {}) as JsonSchema).find((name) => Object.hasOwn(own, name));
  if (clash !== undefined) {
    const message = `augmentTools: the tool "${toolName}" has an argument "${clash}" of its own; give the additional one another name`;
    throw new ToolDefinitionError(message, toolName);
  }
  const definitions = (schema['$defs'] ?? {}) as JsonSchema;
  const { properties, required, $defs } = withFreeDefinitions(extra, definitions);
  const defs = { ...definitions, ...($defs as JsonSchema | undefined) };
  return {
    ...schema,
    properties: { ...own, ...(properties as JsonSchema) },
    required: [...listOf(schema['required']), ...listOf(required)],
    ...(Object.keys(defs).length > 0 && { $defs: defs }),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A schema whose definitions have no name that is taken. */
function withFreeDefinitions(schema: JsonSchema, taken: JsonSchema): JsonSchema {
  const { $defs, ...rest } = schema;
  const names = new Map(Object.keys(($defs ?? {}) as JsonSchema).map((name) => [name, freeName(name, taken)]));
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
