import type { StandardJSONSchemaV1 } from '@standard-schema/spec';
import { toJSONSchema, type $ZodType, type ToJSONSchemaParams } from 'zod/v4/core';
import { zodToJsonSchema } from 'zod-to-json-schema';
import type { JsonSchema } from '../../chat/tool-definition.js';
import { normalizeAnySchema } from './normalize-schema.js';

type ZodThree = Parameters<typeof zodToJsonSchema>[0];

/** Whether a value is a schema of zod 4, `zod/mini` included. */
export function isZodFour(value: object): value is $ZodType {
  return '_zod' in value;
}

/** Whether a value is a schema of zod 3. */
export function isZodThree(value: object): value is ZodThree {
  const inside = (value as { readonly _def?: { readonly typeName?: unknown } })._def;
  return typeof inside?.typeName === 'string' && inside.typeName.startsWith('Zod');
}

/**
 * A schema of zod 4 as JSON Schema of what it takes in.
 * @throws Error naming the place if JSON cannot carry a part of it
 */
export function fromZodFour(schema: $ZodType): JsonSchema {
  try {
    return convertZodFour(schema, { override: ({ zodSchema, path }) => refuse(zodSchema._zod.def.type === 'file', 'A file', path) });
  } catch (error) {
    throw new Error(`${(error as Error).message}${placeOf(schema)}`, { cause: error });
  }
}

function convertZodFour(schema: $ZodType, options: ToJSONSchemaParams): JsonSchema {
  // the schema's own converter knows the descriptions that another copy of zod does not; zod before 4.2 has none
  const { jsonSchema } = schema['~standard'] as Partial<StandardJSONSchemaV1.Props>;
  const json = jsonSchema
    ? jsonSchema.input({ target: 'draft-2020-12', libraryOptions: options as Record<string, unknown> })
    : toJSONSchema(schema, { io: 'input', ...options });
  return json as JsonSchema;
}

/** What zod 4 refuses to convert. */
const NOT_JSON_FOUR: ReadonlySet<string> = new Set('bigint symbol undefined void date map set nan custom function transform'.split(' '));

/** The first place with something that zod 4 refuses to convert: its own message does not say where. */
function placeOf(schema: $ZodType): string {
  const paths: (readonly (string | number)[])[] = [];
  convertZodFour(schema, {
    unrepresentable: 'any',
    override: ({ zodSchema, path }) => {
      if (NOT_JSON_FOUR.has(zodSchema._zod.def.type)) paths.unshift(path);
    },
  });
  return paths[0] ? ` (at ${paths[0].join('.') || 'the root'})` : '';
}

/** What zod 3 converts to something that it would not accept, or leaves out. */
const NOT_JSON_THREE: ReadonlySet<string> = new Set(
  'BigInt Date Function Map NaN Set Symbol Undefined Void'.split(' ').map((name) => `Zod${name}`),
);

/**
 * A schema of zod 3 as JSON Schema of what it takes in.
 * @throws Error naming the place if JSON cannot carry a part of it
 */
export function fromZodThree(schema: ZodThree): JsonSchema {
  const json = zodToJsonSchema(schema, {
    target: 'jsonSchema7',
    $refStrategy: 'root',
    pipeStrategy: 'input',
    postProcess: (json, def, { currentPath }) => {
      const { typeName, coerce, value } = def as { readonly typeName?: string; readonly coerce?: boolean; readonly value?: unknown };
      refuse(NOT_JSON_THREE.has(typeName ?? '') && !coerce, typeName ?? '', currentPath.slice(1));
      const isLiteral = typeName === 'ZodLiteral';
      refuse(isLiteral && value === undefined, 'A literal undefined', currentPath.slice(1));
      // converted by the type of the value, null would become an object
      return isLiteral && value === null ? { ...json, type: 'null' } : json;
    },
  }) as JsonSchema;
  return normalizeAnySchema(json, 'zod');
}

function refuse(isRefused: boolean, what: string, path: readonly (string | number)[]): void {
  if (isRefused) throw new Error(`${what} cannot be represented in JSON Schema (at ${path.join('.') || 'the root'})`);
}
