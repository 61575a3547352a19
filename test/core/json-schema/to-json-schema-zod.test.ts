import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { z } from 'zod';
import { z as zodThree } from 'zod3';
import type { JsonSchema } from '../../../src/core/chat/tool-definition.js';
import { ToolDefinitionError } from '../../../src/core/errors/errors.js';
import { toStrictSchema } from '../../../src/models/openai/strict-schema.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import type { InputSchema } from '../../../src/core/json-schema/to-json-schema.js';
import { normalizeSchema } from '../../../src/core/json-schema/normalize/normalize-schema.js';
import '../../../src/core/json-schema/zod3.js';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

function advertised(input: InputSchema): JsonSchema {
  return defineTool({ name: 'my_tool', input, execute: () => 'x' }).definition.inputSchema;
}

/** Advertised schema of a property. */
function property(schema: z.ZodType | zodThree.ZodTypeAny): unknown {
  const input = '_zod' in schema ? z.object({ a: schema }) : zodThree.object({ a: schema });
  return (advertised(input)['properties'] as JsonSchema)['a'];
}

enum Unit {
  Celsius = 'C',
  Fahrenheit = 'F',
}

interface Tree {
  readonly label: string;
  readonly children?: readonly Tree[] | undefined;
}

const tree: z.ZodType<Tree> = z.lazy(() =>
  z.object({ label: z.string(), children: z.array(tree).optional() }),
);
const treeThree: zodThree.ZodType<Tree> = zodThree.lazy(() =>
  zodThree.object({ label: zodThree.string(), children: zodThree.array(treeThree).optional() }),
);

describe('toJsonSchema of zod', () => {
  it('[TOL-35] makes an object of simple parameters, all required, closed in strict mode only', () => {
    const schema = advertised(
      z.object({ name: z.string(), age: z.int(), score: z.number(), on: z.boolean() }),
    );

    expect(schema['type']).to.equal('object');
    expect(schema['required']).to.deep.equal(['name', 'age', 'score', 'on']);
    expect(
      Object.values(schema['properties'] as JsonSchema).map((each) => (each as JsonSchema)['type']),
    ).to.deep.equal(['string', 'integer', 'number', 'boolean']);
    expect(toStrictSchema(schema)['additionalProperties']).to.equal(false);
  });

  it('[TOL-35] does not require optional parameters', () => {
    const four = advertised(
      z.object({
        a: z.string(),
        b: z.string().optional(),
        c: z.string().default('x'),
        d: z.string().nullish(),
        e: z.string().nullable(),
      }),
    );
    const three = advertised(
      zodThree.object({
        a: zodThree.string(),
        b: zodThree.string().optional(),
        c: zodThree.string().default('x'),
        d: zodThree.string().nullish(),
        e: zodThree.string().nullable(),
      }),
    );

    for (const schema of [four, three]) {
      expect(schema['required']).to.deep.equal(['a', 'e']);
      expect(schema['properties']).to.have.nested.property('c.default', 'x');
    }
  });

  it('[TOL-37] allows additional properties where the schema does', () => {
    const a = z.string();

    expect(advertised(z.object({ a }))).to.not.have.property('additionalProperties');
    expect(advertised(z.looseObject({ a }))['additionalProperties']).to.deep.equal({});
    expect(advertised(z.strictObject({ a }))['additionalProperties']).to.equal(false);
    expect(advertised(z.object({ a }).catchall(z.number()))['additionalProperties']).to.deep.equal({
      type: 'number',
    });
    expect(
      advertised(zodThree.object({ a: zodThree.string() }).passthrough())['additionalProperties'],
    ).to.equal(true);
  });

  it('[TOL-37] writes types in lower case', () => {
    const types =
      JSON.stringify(
        advertised(z.object({ i: z.int(), l: z.array(z.string()), n: z.null() })),
      ).match(/"type":"\w+"/g) ?? [];

    expect(types).to.have.length(5);
    expect(types.join('')).to.equal(types.join('').toLowerCase());
  });

  it('[TOL-38] keeps descriptions at every level', () => {
    const inner = z.object({ city: z.string().describe('The city') }).describe('The place');
    const schema = advertised(
      z.object({
        where: inner,
        stops: z
          .array(z.object({ name: z.string().describe('The name') }).describe('A stop'))
          .describe('The stops'),
        unit: z.enum(['C', 'F']).optional().describe('The unit'),
        either: z
          .union([z.string().describe('A text'), z.number().describe('A number')])
          .describe('One of both'),
        map: z.record(z.string(), z.number().describe('A count')).describe('The counts'),
      }),
    );

    expect(schema).to.nested.include({
      'properties.where.description': 'The place',
      'properties.where.properties.city.description': 'The city',
      'properties.stops.description': 'The stops',
      'properties.stops.items.description': 'A stop',
      'properties.stops.items.properties.name.description': 'The name',
      'properties.unit.description': 'The unit',
      'properties.either.description': 'One of both',
      'properties.either.anyOf[1].description': 'A number',
      'properties.map.description': 'The counts',
      'properties.map.additionalProperties.description': 'A count',
    });
  });

  it('[TOL-39] contains only the arguments, not the context of the call', () => {
    const tool = defineTool({
      name: 'my_tool',
      input: z.object({ a: z.string() }),
      execute: ({ a }, { values }) => `${a}${String(values['tenant'])}`,
    });

    expect(tool.definition.inputSchema['properties']).to.have.all.keys('a');
  });

  it('[TOL-42] gives the same result for concurrent conversions', async () => {
    const input = z.object({ a: tree, b: z.enum(Unit) });
    const made = await Promise.all(Array.from({ length: 50 }, async () => advertised(input)));

    expect(new Set(made.map((schema) => JSON.stringify(schema))).size).to.equal(1);
  });

  const corpus: Readonly<
    Record<string, readonly [schema: z.ZodType | zodThree.ZodTypeAny, expected: unknown]>
  > = {
    'zod 4 enum': [z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    'zod 4 enum of TypeScript': [z.enum(Unit), { type: 'string', enum: ['C', 'F'] }],
    'zod 4 literal': [z.literal(['a', 1]), { enum: ['a', 1] }],
    'zod 4 union': [z.union([z.string(), z.number()]), { type: ['string', 'number'] }],
    'zod 4 union of objects': [
      z.union([z.object({ a: z.string() }), z.array(z.string())]),
      undefined,
    ],
    'zod 4 discriminated union': [
      z.discriminatedUnion('by', [
        z.object({ by: z.literal('car') }),
        z.object({ by: z.literal('foot'), km: z.number() }),
      ]),
      {
        oneOf: [
          {
            type: 'object',
            properties: { by: { type: 'string', const: 'car' } },
            required: ['by'],
          },
          {
            type: 'object',
            properties: { by: { type: 'string', const: 'foot' }, km: { type: 'number' } },
            required: ['by', 'km'],
          },
        ],
      },
    ],
    'zod 4 record': [
      z.record(z.string(), z.number()),
      {
        type: 'object',
        propertyNames: { type: 'string' },
        additionalProperties: { type: 'number' },
      },
    ],
    'zod 4 tuple': [
      z.tuple([z.string(), z.number()]),
      {
        type: 'array',
        prefixItems: [{ type: 'string' }, { type: 'number' }],
        items: false,
        minItems: 2,
        maxItems: 2,
      },
    ],
    'zod 4 tuple with a rest': [
      z.tuple([z.string()]).rest(z.number()),
      { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' }, minItems: 1 },
    ],
    'zod 4 ISO date': [z.iso.date(), undefined],
    'zod 4 transform': [z.string().transform(Number), { type: 'string' }],
    'zod 4 preprocess': [z.preprocess(Number, z.number()), undefined],
    'zod 4 lazy': [tree, undefined],
    'zod 4 intersection': [z.object({ a: z.string() }).and(z.object({ b: z.number() })), undefined],
    'zod 4 template literal': [z.templateLiteral(['a', z.number()]), undefined],
    'zod 4 branded and readonly': [
      z.array(z.string().brand('x')).readonly(),
      { readOnly: true, type: 'array', items: { type: 'string' } },
    ],
    'zod 4 unknown': [z.unknown(), {}],
    'zod 4 never': [z.never(), { not: {} }],
    'zod 3 enum': [zodThree.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    'zod 3 enum of TypeScript': [zodThree.nativeEnum(Unit), { type: 'string', enum: ['C', 'F'] }],
    'zod 3 union': [
      zodThree.union([zodThree.string(), zodThree.number()]),
      { type: ['string', 'number'] },
    ],
    'zod 3 discriminated union': [
      zodThree.discriminatedUnion('by', [
        zodThree.object({ by: zodThree.literal('car') }),
        zodThree.object({ by: zodThree.literal('foot') }),
      ]),
      {
        anyOf: [
          {
            type: 'object',
            properties: { by: { type: 'string', const: 'car' } },
            required: ['by'],
            additionalProperties: false,
          },
          {
            type: 'object',
            properties: { by: { type: 'string', const: 'foot' } },
            required: ['by'],
            additionalProperties: false,
          },
        ],
      },
    ],
    'zod 3 record': [
      zodThree.record(zodThree.number()),
      { type: 'object', additionalProperties: { type: 'number' } },
    ],
    'zod 3 tuple': [
      zodThree.tuple([zodThree.string(), zodThree.number()]),
      {
        type: 'array',
        minItems: 2,
        maxItems: 2,
        prefixItems: [{ type: 'string' }, { type: 'number' }],
        items: {},
      },
    ],
    'zod 3 tuple with a rest': [
      zodThree.tuple([zodThree.string()]).rest(zodThree.number()),
      { type: 'array', minItems: 1, prefixItems: [{ type: 'string' }], items: { type: 'number' } },
    ],
    'zod 3 array of anything': [zodThree.array(zodThree.any()), { type: 'array', items: {} }],
    'zod 3 transform': [zodThree.string().transform(Number), { type: 'string' }],
    'zod 3 lazy': [treeThree, undefined],
    'zod 3 intersection': [
      zodThree.object({ a: zodThree.string() }).and(zodThree.object({ b: zodThree.number() })),
      undefined,
    ],
    'zod 3 number limits': [
      zodThree.number().gt(0).lt(9),
      { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 9 },
    ],
    'zod 3 nullable': [zodThree.string().nullable(), { type: ['string', 'null'] }],
    'zod 3 null literal': [
      zodThree.literal(null).describe('x'),
      { type: 'null', description: 'x' },
    ],
  };
  for (const [kind, [schema, expected]] of Object.entries(corpus))
    it(`[F20] [F21] [TOL-38] makes JSON Schema 2020-12 of ${kind}`, () => {
      const found = property(schema);
      const input = '_zod' in schema ? z.object({ a: schema }) : zodThree.object({ a: schema });
      const whole = advertised(input);

      if (expected !== undefined) expect(found).to.deep.equal(expected);
      expect(ajv.validateSchema(whole), `${JSON.stringify(whole)}: ${ajv.errorsText()}`).to.equal(
        true,
      );
      ajv.compile(whole);
      expect(
        normalizeSchema(whole, 'my_tool').changes.filter(({ severity }) => severity === 'error'),
      ).to.deep.equal([]);
    });

  for (const [kind, schema] of Object.entries<z.ZodType | zodThree.ZodTypeAny>({
    'zod 4 date in a tuple': z.tuple([z.date()]),
    'zod 4 date in a union': z.union([z.string(), z.date()]),
    'zod 4 bigint in a record': z.record(z.string(), z.bigint()),
    'zod 4 transform alone': z.transform(Number),
    'zod 4 date in a lazy schema': z.lazy(() => z.date()),
    'zod 4 promise': z.promise(z.date()),
    'zod 3 date in a tuple': zodThree.tuple([zodThree.date()]),
    'zod 3 date in a union': zodThree.union([zodThree.string(), zodThree.date()]),
    'zod 3 bigint in a record': zodThree.record(zodThree.bigint()),
    'zod 3 date in a discriminated union': zodThree.discriminatedUnion('by', [
      zodThree.object({ by: zodThree.literal('a'), at: zodThree.date() }),
    ]),
    'zod 3 date in a lazy schema': zodThree.lazy(() => zodThree.date()),
  }))
    it(`[F21] rejects ${kind} with the tool and the path`, () => {
      const input = '_zod' in schema ? z.object({ a: schema }) : zodThree.object({ a: schema });

      expect(() => advertised(input))
        .to.throw(
          ToolDefinitionError,
          /tool "my_tool": the schema has no JSON Schema form: .*\(at properties\.a/,
        )
        .with.property('toolName', 'my_tool');
    });
});
