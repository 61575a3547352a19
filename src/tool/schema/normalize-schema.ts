import { describe } from '../../chat/message.js';
import type { JsonSchema } from '../../chat/tool-definition.js';
import { ToolDefinitionError } from '../../errors.js';
import { SchemaChanges, type SchemaChange } from './schema-changes.js';
import { readSchemaInput, type SchemaInput } from './schema-input.js';
import { SchemaMender } from './schema-mender.js';
import { NO_BASE, SchemaReferences, type Draft, type SchemaPlace } from './schema-references.js';
import { finishRoot, objectAtRoot, prepareRoot } from './schema-root.js';
import { isObject } from './schema-types.js';

/** A schema that can be offered to a model, and what had to be changed for that. */
export interface NormalizedSchema {
  readonly schema: JsonSchema;
  /** In the order of the schema; empty if it is as it was given. */
  readonly changes: readonly SchemaChange[];
}

const ROOT: SchemaPlace = { from: '#', to: '#', base: NO_BASE, isPart: false };

/**
 * Makes JSON Schema 2020-12 of what tools are published with: other drafts, OpenAPI, type names of other languages. What it makes
 * is not changed by a second time.
 *
 * Where a limit cannot be read it is left out; where it cannot be known what a schema means, it is refused.
 * @param schema the schema of a tool's arguments; undefined or null for a tool without any
 * @throws {@link ToolDefinitionError} that names the tool and the place, if nobody could mend the schema without a guess
 */
export function normalizeSchema(schema: unknown, toolName: string): NormalizedSchema {
  const changes = new SchemaChanges(toolName);
  const { value, hasReferences } = readInput(schema ?? {}, changes);
  if (!isObject(value)) return changes.refuse('#', `the schema must be an object, not ${describe(schema)}`);
  const mended = mend(prepareRoot(value, changes), hasReferences, changes) as Draft;
  const root = objectAtRoot(mended, changes);
  if (root === mended) return { schema: finishRoot(mended, changes), changes: changes.list };
  const whole = normalizeSchema(root, toolName);
  return { schema: whole.schema, changes: [...changes.list, ...whole.changes] };
}

/** Does the same for a schema of anything, such as a library makes it. */
export function normalizeAnySchema(schema: JsonSchema, name: string): JsonSchema {
  const changes = new SchemaChanges(name);
  const { value, hasReferences } = readInput(schema, changes);
  return mend(value, hasReferences, changes) as JsonSchema;
}

function readInput(schema: unknown, changes: SchemaChanges): SchemaInput {
  try {
    if (isOfLibrary(schema)) return changes.refuse('#', 'it is the schema of a library, not JSON Schema; give it to defineTool as it is');
    return readSchemaInput(schema, changes);
  } catch (error) {
    if (error instanceof ToolDefinitionError) throw error;
    return changes.refuse('#', `it cannot be read: ${(error as Error | undefined)?.message}`, error);
  }
}

function isOfLibrary(schema: unknown): boolean {
  return (typeof schema === 'object' || typeof schema === 'function') && schema !== null && ('~standard' in schema || '_def' in schema);
}

function mend(value: unknown, hasReferences: boolean, changes: SchemaChanges): unknown {
  const references = hasReferences ? new SchemaReferences(value, changes) : undefined;
  const mender = new SchemaMender(changes, references);
  const mended = mender.mend(value, ROOT);
  references?.resolve(mended as Draft, (part, place) => mender.mend(part, place));
  return mended;
}
