import type { JsonSchema } from '../../chat/tool-definition.js';
import { ToolDefinitionError } from '../../errors.js';
import { describe } from '../../internal/text.js';
import { isPlainObject } from '../../internal/options.js';
import { childPointer } from '../json-pointer.js';
import { normalizeDocument } from './normalizer.js';
import { finishRoot, prepareRoot } from './root.js';
import { SchemaContext, type Draft, type SchemaChange } from './schema-context.js';

/** A JSON Schema that can be offered to models. */
export interface NormalizedSchema {
  readonly schema: JsonSchema;
  /** Changes in the order of the schema; empty for a schema that needed none. */
  readonly changes: readonly SchemaChange[];
}

/**
 * Converts the schema of a published tool to JSON Schema 2020-12, from other drafts, OpenAPI and
 * type names of other languages. Limits that cannot be read are removed. Normalizing the result
 * again changes nothing.
 * @param schema the schema of a tool's arguments; undefined or null for a tool without any
 * @throws {@link ToolDefinitionError} with tool and path if the meaning would have to be guessed
 */
export function normalizeSchema(schema: unknown, toolName: string): NormalizedSchema {
  const context = new SchemaContext(toolName);
  const value = readSchema(schema ?? {}, context);
  if (!isPlainObject(value))
    return context.reject(`the schema must be an object, not ${describe(schema)}`);
  const draft = normalizeDocument(prepareRoot(value, context), context);
  finishRoot(draft, context);
  return { schema: draft, changes: context.changes };
}

/** Normalizes a schema of any value, such as a library makes. */
export function normalizeAnySchema(schema: JsonSchema, name: string): JsonSchema {
  const context = new SchemaContext(name);
  return normalizeDocument(readSchema(schema, context) as JsonSchema, context);
}

function readSchema(schema: unknown, context: SchemaContext): unknown {
  try {
    if (isOfLibrary(schema))
      return context.reject(
        'it is the schema of a library, not JSON Schema; give it to defineTool unchanged',
      );
    return copySchema(schema, context);
  } catch (error) {
    if (error instanceof ToolDefinitionError) throw error;
    return context.reject(`it cannot be read: ${(error as Error | undefined)?.message}`, error);
  }
}

function isOfLibrary(schema: unknown): boolean {
  const isObject = (typeof schema === 'object' && schema !== null) || typeof schema === 'function';
  return isObject && ('~standard' in schema || '_def' in schema);
}

/** Maximum depth, which protects the stack of everything that reads the schema. */
const MAX_DEPTH = 100;
const TOO_DEEP = `it is nested deeper than ${MAX_DEPTH} levels, or contains itself`;
/** Maximum number of values; a hundred times what the largest published tools have. */
const MAX_VALUES = 100_000;
const TOO_LARGE = `it has more than ${MAX_VALUES} values, or contains itself`;

/** Copies a schema as JSON does, without keys that reach a prototype. */
function copySchema(schema: unknown, context: SchemaContext): unknown {
  let values = 0;

  const copy = (value: unknown, path: string, depth: number): unknown => {
    if (++values > MAX_VALUES) context.reject(TOO_LARGE);
    if (depth > MAX_DEPTH) context.at(path).reject(TOO_DEEP);
    if (typeof value === 'bigint') context.at(path).reject('a BigInt is not JSON');
    if (typeof value === 'number') return Number.isFinite(value) ? value : null;
    if (typeof value !== 'object' || value === null) return isJson(value) ? value : null;
    if (Array.isArray(value))
      return Array.from(value, (item, index) => copy(item, childPointer(path, index), depth + 1));
    const copied: Draft = {};
    for (const [key, inner] of Object.entries(value)) {
      if (key === '__proto__')
        context.at(path).warning('its key "__proto__" is never accepted', 'removed it');
      else if (isJson(inner)) copied[key] = copy(inner, childPointer(path, key), depth + 1);
    }
    return copied;
  };

  return copy(schema, context.path, 0);
}

/** Checks that JSON does not omit a value. A BigInt is rejected instead. */
function isJson(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}
