import type { JsonSchema } from '../../chat/tool-definition.js';
import { ToolDefinitionError } from '../../errors/errors.js';
import { parseJson } from '../../internal/json.js';
import { isPlainObject } from '../../internal/options.js';
import { describe } from '../../errors/describe.js';
import { decodeReference, valueAt } from '../json-pointer.js';
import { finishSchema, normalizeDocument } from './normalizer.js';
import { SchemaContext, type Draft, type SchemaChange } from './schema-context.js';
import { KEYWORDS } from './schema-keywords.js';
import { hasType } from './type-names.js';

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
  const value = copySchema(schema ?? {}, context);
  if (!isPlainObject(value))
    return context.reject(`the schema must be an object, not ${describe(schema)}`);
  const draft = normalizeDocument(prepareRoot(value, context), context);
  finishRoot(draft, context);
  return { schema: draft, changes: context.changes };
}

/** Normalizes a schema of any value, such as a result, or one that a library makes. */
export function normalizeAnySchema(schema: JsonSchema, name: string): NormalizedSchema {
  const context = new SchemaContext(name);
  const draft = normalizeDocument(copySchema(schema, context) as JsonSchema, context);
  return { schema: draft, changes: context.changes };
}

/** Maximum number of values; a hundred times what the largest published tools have. */
const MAX_VALUES = 100_000;

/** Copies a schema as JSON does. */
function copySchema(schema: unknown, context: SchemaContext): unknown {
  let values = 0;
  try {
    if (isOfLibrary(schema))
      context.reject(
        'it is the schema of a library, not JSON Schema; give it to defineTool unchanged',
      );
    const text = JSON.stringify(schema, (_key, value: unknown) => {
      if (++values > MAX_VALUES) context.reject(`it has more than ${MAX_VALUES} values`);
      return value;
    }) as string | undefined;
    return parseJson(text ?? 'null');
  } catch (error) {
    if (error instanceof ToolDefinitionError) throw error;
    const { message = 'unknown' } = (error ?? {}) as Partial<Error>;
    return context.reject(`it cannot be read as JSON: ${message}`, error);
  }
}

function isOfLibrary(schema: unknown): boolean {
  const isObject = (typeof schema === 'object' && schema !== null) || typeof schema === 'function';
  return isObject && ('~standard' in schema || '_def' in schema);
}

const ANNOTATIONS: ReadonlySet<string> = new Set(
  '$schema $id id title description $comment default examples deprecated nullable optional strict'.split(
    ' ',
  ),
);
/** Keywords of an object, or of a schema that may describe one. */
const OBJECT_KEYWORD = /propert|require|depend|Of$|^\$ref$|^if$|^\$defs$|^definitions$/i;
const MAX_CHAIN = 10;

/** Replaces a root that only refers to one of its definitions by that definition. */
export function definitionAtRoot(json: JsonSchema, steps = 0): JsonSchema {
  const { $ref: reference, ...all } = json;
  const { $defs: _defs, definitions: _definitions, ...rest } = all;
  const isReference =
    typeof reference === 'string' && /^#\/(?:\$defs|definitions)\//.test(reference);
  if (!isReference || steps > MAX_CHAIN) return json;
  const found = valueAt(json, decodeReference(reference));
  const isAlone = Object.keys(rest).every(
    (keyword) => ANNOTATIONS.has(keyword) || (keyword === 'type' && rest['type'] === 'object'),
  );
  if (!isPlainObject(found) || !isAlone) return json;
  const isUsed = JSON.stringify(found).includes('"$ref"');
  return definitionAtRoot({ ...(isUsed ? all : rest), ...found }, steps + 1);
}

/** Moves a definition to the root, and adds the type and the properties that providers require. */
function prepareRoot(given: JsonSchema, context: SchemaContext): JsonSchema {
  const moved = definitionAtRoot(given);
  if (moved !== given)
    context.warning('its root only refers to a definition', 'moved the definition there');
  const { nullable, ...root } = moved;
  const { type, properties } = root;
  if ((nullable ?? undefined) !== undefined)
    context.child('nullable').warning('arguments are never null', 'removed it');
  if ((type ?? undefined) === undefined) checkUntyped(root, context);
  if ((properties ?? undefined) === undefined)
    context.warning('its root has no properties', 'added an empty object of properties');
  return { ...root, type: type ?? 'object', properties: properties ?? {} };
}

function checkUntyped({ type: _type, ...root }: JsonSchema, context: SchemaContext): void {
  const keywords = Object.keys(root).filter((keyword) => !ANNOTATIONS.has(keyword));
  const mayBeObject = (key: string): boolean => KEYWORDS.has(key) && OBJECT_KEYWORD.test(key);
  if (keywords.length > 0 && !keywords.some(mayBeObject)) {
    const found = keywords.slice(0, 5).map(describe).join(', ');
    context.reject(`its root has neither a type nor properties, only ${found}`);
  }
  context.warning('its root has no type', 'made it an object');
}

/** Makes a root an object that allows others too; rejects one that allows no objects. */
function finishRoot(draft: Draft, context: SchemaContext): void {
  const found = JSON.stringify(draft['type']) ?? 'anything';
  const mustBe = 'arguments must be an object';
  if (hasType({}, draft['type']) && draft['type'] !== 'object') {
    context.child('type').warning(`${mustBe}, not ${found}`, 'changed it to "object"');
    draft['type'] = 'object';
    finishSchema(draft, draft, context); // an enum or a default may fit the other types only
  }
  if (draft['type'] !== 'object')
    context.reject(`${mustBe} (type "object" at the root), the schema has ${found}`);
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
    const branches = (draft[keyword] ?? [{}]) as readonly unknown[];
    if (!branches[keyword === 'allOf' ? 'every' : 'some'](allowsObject))
      context.child(keyword).reject(mustBe);
  }
}

function allowsObject(schema: unknown): boolean {
  return isPlainObject(schema) ? hasType({}, schema['type']) : schema === true;
}
