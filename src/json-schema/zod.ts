import type { StandardJSONSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../chat/tool-definition.js';

/** The parts of a schema of zod 4 that are read here; the core does not import zod. */
interface ZodFour {
  readonly _zod: { readonly def: { readonly type: string; readonly values?: readonly unknown[] } };
  readonly '~standard': Partial<StandardJSONSchemaV1.Props>;
}

/** Options of zod 4 for the conversion to JSON Schema. */
export interface ZodFourOptions {
  readonly unrepresentable: 'any';
  override(this: void, at: { zodSchema: ZodFour; path: readonly (string | number)[] }): void;
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
export function isZodFour(value: object): value is ZodFour {
  return '_zod' in value;
}

export function isZodThree(value: object): boolean {
  const { _def } = value as { readonly _def?: { readonly typeName?: unknown } };
  return typeof _def?.typeName === 'string' && _def.typeName.startsWith('Zod');
}

/** Explains which import a schema of zod needs; undefined if it needs none. */
export function missingImport(schema: object): string | undefined {
  if (converter) return undefined;
  const remedy = 'import "advisor-chain/zod3" before tools are defined';
  if (isZodThree(schema)) return `for schemas of zod 3, ${remedy}`;
  return isZodFour(schema) && !schema['~standard'].jsonSchema
    ? `the schema has no Standard JSON Schema: upgrade to zod >= 4.2, or, for zod/mini too, ${remedy}`
    : undefined;
}

/**
 * JSON Schema of the input of a zod schema; undefined if it is of another library.
 * @throws Error with the path if JSON cannot carry a part of it
 */
export function fromZod(schema: object): JsonSchema | undefined {
  if (isZodThree(schema)) return converter?.convertZodThree(schema);
  if (!isZodFour(schema)) return undefined;
  const errors: Error[] = [];
  const options: ZodFourOptions = {
    unrepresentable: 'any', // zod's own error has no path
    override: ({ zodSchema, path }) => {
      const { type, values = [] } = zodSchema._zod.def;
      const isConverted = !UNREPRESENTABLE.has(type) && values.every(isJsonLiteral);
      if (!isConverted) errors.unshift(unrepresentable(type, path));
    },
  };
  // its own converter knows the descriptions that another copy of zod does not
  const { jsonSchema } = schema['~standard'];
  const json = jsonSchema
    ? jsonSchema.input({ target: 'draft-2020-12', libraryOptions: { ...options } })
    : converter?.convertZodFour(schema, options);
  if (errors[0]) throw errors[0];
  return json;
}

/** Types that zod 4 does not convert, and files, whose schema would be a text. */
const UNREPRESENTABLE: ReadonlySet<string> = new Set(
  'bigint symbol undefined void date map set nan custom function transform file'.split(' '),
);

function isJsonLiteral(value: unknown): boolean {
  return value !== undefined && typeof value !== 'bigint';
}

export function unrepresentable(type: string, path: readonly (string | number)[]): Error {
  const place = path.join('.') || 'the root';
  return new Error(`the type ${type} cannot be represented in JSON Schema (at ${place})`);
}
