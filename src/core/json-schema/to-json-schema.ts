import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../chat/tool-definition.js';
import { InvalidArgumentError, ToolDefinitionError } from '../errors/errors.js';
import { parseJson, type JsonValue } from '../internal/json.js';
import { isPlainObject } from '../internal/options.js';
import { describe } from '../errors/describe.js';
import {
  definitionAtRoot,
  normalizeAnySchema,
  normalizeSchema,
  type NormalizedSchema,
} from './normalize/normalize-schema.js';
import { isStandardSchema } from './standard-schema.js';

/**
 * Schema of arguments or answers: of zod, of any Standard Schema library, or JSON Schema, as an
 * object or as JSON text.
 */
export type InputSchema = StandardSchemaV1 | JsonSchema | string;

/** Type of what the model must write, before coercion and transforms; JSON Schema has no types. */
export type InferInput<S> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<S>
  : Readonly<Record<string, unknown>>;

/** Type of what the application receives, after coercion and transforms. */
export type InferOutput<S> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<S>
  : Readonly<Record<string, unknown>>;

/**
 * Converts a schema to JSON Schema of its input, for the model.
 * @param owner the owner of the schema, for messages
 * @param toolName the tool whose arguments it describes, if any
 * @throws {@link ToolDefinitionError} if the schema of a tool has no JSON form
 * @throws {@link InvalidArgumentError} if another schema has none, or if a schema of zod needs
 * another version or an import
 */
export function toJsonSchema(schema: InputSchema, owner: string, toolName?: string): JsonSchema {
  const fail = (problem: string, options?: ErrorOptions): Error =>
    toolName === undefined
      ? new InvalidArgumentError(`${owner}: ${problem}`, options)
      : new ToolDefinitionError(`${owner}: ${problem}`, toolName, options);
  const given: unknown = typeof schema === 'string' ? parseSchema(schema, fail) : schema;
  const expected = 'a zod schema, a Standard Schema or a JSON Schema object';
  if (!isSchema(given)) throw fail(`the schema must be ${expected}, not ${describe(given)}`);
  const missing = missingImport(given);
  if (missing !== undefined) throw new InvalidArgumentError(`${owner}: ${missing}`);
  try {
    // the copy by text rejects what JSON cannot express, and no later change reaches it
    const text = JSON.stringify(convert(given), rejectSchemaInside);
    const { $schema: _dialect, ...json } = JSON.parse(text) as JsonSchema;
    return json;
  } catch (error) {
    throw fail(`the schema has no JSON Schema form: ${(error as Error).message}`, { cause: error });
  }
}

function parseSchema(
  text: string,
  fail: (problem: string, options: ErrorOptions) => Error,
): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw fail(`the schema ${describe(text)} is ${(error as Error).message}`, { cause: error });
  }
}

/** Rules out a Map, a Promise and the like, which would be read as an empty JSON Schema. */
function isSchema(value: unknown): value is Exclude<InputSchema, string> {
  if (typeof value !== 'function' && !isPlainObject(value)) return false;
  if (isStandardSchema(value as InputSchema) || isZodThree(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return typeof value === 'object' && isPlain;
}

/** Rejects schemas of zod inside JSON Schema: read as unknown keywords, they would allow everything. */
function rejectSchemaInside(name: string, value: unknown): unknown {
  if (isPlainObject(value) && (isZodFour(value) || isZodThree(value)))
    throw new Error(
      `"${name}" is a schema of zod inside a plain one; make the whole with zod: z.object({ … })`,
    );
  return value;
}

function convert(schema: Exclude<InputSchema, string>): JsonSchema {
  if (converter && isZodThree(schema)) return converter.convertZodThree(schema);
  if (isZodFour(schema)) return convertZodFour(schema);
  if (!isStandardSchema(schema)) return schema;
  const { vendor, jsonSchema } = schema['~standard'] as StandardSchemaV1.Props &
    Partial<StandardJSONSchemaV1.Props>;
  if (jsonSchema) return jsonSchema.input({ target: 'draft-2020-12' });
  const remedy = 'give the JSON Schema as `inputSchema` beside it';
  throw new Error(`${vendor} schemas do not convert by themselves; ${remedy}`);
}

/**
 * Converts the schema of a tool's arguments to JSON Schema of an object.
 * @throws {@link ToolDefinitionError} if it does not describe an object
 */
export function toToolSchema(schema: InputSchema, toolName: string): JsonSchema {
  const json = definitionAtRoot(toJsonSchema(schema, `tool "${toolName}"`, toolName));
  const isPlain = !isStandardSchema(schema);
  if (isPlain && Object.keys(json).length === 0) return { type: 'object', properties: {} };
  const { type, properties } = json;
  const isObject = type === 'object' || (type === undefined && isPlainObject(properties));
  const object = { ...json, type: 'object', properties: properties ?? {} };
  if (isPlain) rejectErrors(normalizeSchema(isObject ? object : json, toolName), toolName);
  if (isObject) return object;
  const found = type === undefined ? Object.keys(json).join(', ') || 'nothing' : describe(type);
  throw new ToolDefinitionError(
    `tool "${toolName}": its arguments must be an object (type "object" at the root), the schema has ${found}${isPlain ? `; ${HINT}` : ''}`,
    toolName,
  );
}

/**
 * Converts the schema of a tool's result to JSON Schema.
 * @throws {@link ToolDefinitionError} if it is not JSON Schema and has no such form
 */
export function toResultSchema(schema: InputSchema, toolName: string): JsonSchema {
  const json = toJsonSchema(schema, `tool "${toolName}": output`, toolName);
  if (!isStandardSchema(schema)) rejectErrors(normalizeAnySchema(json, toolName), toolName);
  return json;
}

const HINT = 'normalizeSchema(schema, name).schema normalizes it, and `changes` lists the changes';
const MAX_ERRORS = 3;

/** Rejects a schema that is not JSON Schema: normalizing it silently would hide the author's mistake. */
function rejectErrors({ changes }: NormalizedSchema, toolName: string): void {
  const errors = changes.flatMap(({ severity, path, problem }) =>
    severity === 'error' ? [`${path}: ${problem}`] : [],
  );
  if (errors.length === 0) return;
  const more = errors.length > MAX_ERRORS ? `, and ${errors.length - MAX_ERRORS} more` : '';
  throw new ToolDefinitionError(
    `tool "${toolName}": its schema is not JSON Schema (2020-12) at ${errors.slice(0, MAX_ERRORS).join('; ')}${more}. ${HINT}`,
    toolName,
  );
}

/** The parts of a schema of zod 4 that are read here; the core does not import zod. */
interface ZodFour {
  readonly _zod: {
    readonly def: {
      readonly type: string;
      readonly coerce?: boolean;
      readonly values?: readonly unknown[];
    };
  };
  readonly '~standard': Partial<StandardJSONSchemaV1.Props>;
}

/** Options of zod 4 for the conversion to JSON Schema. */
export interface ZodFourOptions {
  readonly unrepresentable: 'any';
  override(
    this: void,
    at: {
      readonly zodSchema: ZodFour;
      readonly jsonSchema: object;
      readonly path: readonly (string | number)[];
    },
  ): void;
}

/** Converts schemas that do not implement Standard JSON Schema. */
export interface ZodConverter {
  convertZodThree(schema: object): JsonSchema;
  convertZodFour(schema: object, options: ZodFourOptions): JsonSchema;
}

let converter: ZodConverter | undefined;

export function registerZodConverter(zodConverter: ZodConverter): void {
  converter = zodConverter;
}

/** Recognizes schemas of zod 4, `zod/mini` included. */
function isZodFour(value: object): value is ZodFour {
  return '_zod' in value;
}

function isZodThree(value: object): boolean {
  const { _def } = value as { readonly _def?: { readonly typeName?: unknown } };
  return String(_def?.typeName).startsWith('Zod');
}

/** Explains which import a schema of zod needs; undefined if it needs none. */
function missingImport(schema: object): string | undefined {
  if (converter) return undefined;
  const remedy = 'import "advisor-chain/zod3" in the first file of the application';
  if (isZodThree(schema)) return `for schemas of zod 3, ${remedy}`;
  return isZodFour(schema) && !schema['~standard'].jsonSchema
    ? `the schema has no Standard JSON Schema: upgrade to zod >= 4.2, or, for zod/mini too, ${remedy}`
    : undefined;
}

/** @throws Error with the path if JSON cannot carry a part of the schema */
function convertZodFour(schema: ZodFour): JsonSchema {
  const errors: Error[] = [];
  const options: ZodFourOptions = {
    unrepresentable: 'any', // zod's own error has no path
    override: ({ zodSchema, jsonSchema, path }) => {
      const { type, coerce, values = [] } = zodSchema._zod.def;
      const coerced = coerce ? COERCED.get(type) : undefined;
      const isRepresentable = values.every(
        (value) => value !== undefined && typeof value !== 'bigint',
      );
      if (coerced) Object.assign(jsonSchema, coerced);
      else if (UNREPRESENTABLE.has(type) || !isRepresentable)
        errors.unshift(unrepresentable(type, path));
    },
  };
  // its own converter knows the descriptions that another copy of zod does not
  const { jsonSchema } = schema['~standard'];
  const json = jsonSchema
    ? jsonSchema.input({ target: 'draft-2020-12', libraryOptions: { ...options } })
    : converter?.convertZodFour(schema, options);
  if (errors[0]) throw errors[0];
  return json ?? {};
}

/** JSON of values that `z.coerce` makes from it; it accepts more than that. */
const COERCED: ReadonlyMap<string, JsonSchema> = new Map([
  ['date', { type: 'string', format: 'date-time' }],
  ['bigint', { type: 'integer' }],
]);

/** Types that zod 4 does not convert, and files, whose schema would be a text. */
const UNREPRESENTABLE: ReadonlySet<string> = new Set(
  'bigint symbol undefined void date map set nan custom function transform file'.split(' '),
);

export function unrepresentable(type: string, path: readonly (string | number)[]): Error {
  const place = path.join('.') || 'the root';
  const hint = /date/i.test(type) ? '; z.coerce.date() makes a date from text' : '';
  return new Error(`the type ${type} cannot be represented in JSON Schema (at ${place})${hint}`);
}
