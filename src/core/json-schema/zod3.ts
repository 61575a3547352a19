import { toJSONSchema, type $ZodType } from 'zod/v4/core';
import { zodToJsonSchema } from 'zod-to-json-schema';
import type { JsonSchema } from '../chat/tool-definition.js';
import { normalizeAnySchema } from './normalize/normalize-schema.js';
import { registerZodConverter, unrepresentable } from './to-json-schema.js';

/** Types that the converter would change to types with other values, or remove. */
const UNREPRESENTABLE: ReadonlySet<string> = new Set(
  'BigInt Date Function Map NaN Set Symbol Undefined Void'.split(' ').map((name) => `Zod${name}`),
);

interface ZodThreeDefinition {
  readonly typeName?: string;
  readonly coerce?: boolean;
  readonly value?: unknown;
}

function convertZodThree(schema: object): JsonSchema {
  const json = zodToJsonSchema(schema as Parameters<typeof zodToJsonSchema>[0], {
    target: 'jsonSchema7',
    $refStrategy: 'root',
    pipeStrategy: 'input',
    postProcess: (json, def, { currentPath }) => {
      const { typeName = '', coerce, value } = def as ZodThreeDefinition;
      const isLiteral = typeName === 'ZodLiteral';
      if ((UNREPRESENTABLE.has(typeName) && !coerce) || (isLiteral && value === undefined))
        throw unrepresentable(typeName, currentPath.slice(1));
      // converted by the type of the value, null would become an object
      return isLiteral && value === null ? { ...json, type: 'null' } : json;
    },
  });
  return normalizeAnySchema(json as JsonSchema, 'zod').schema;
}

// Importing this module lets tools and answers have schemas of zod 3, of zod/mini and of zod 4 before 4.2.
registerZodConverter({
  convertZodThree,
  convertZodFour: (schema, options) =>
    toJSONSchema(schema as $ZodType, { io: 'input', ...options }) as JsonSchema,
});
