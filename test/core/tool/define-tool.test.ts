import type { StandardSchemaV1 } from '@standard-schema/spec';
import { expect } from 'chai';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as zodThree } from 'zod/v3';
import { z as zodThreePackage } from 'zod3';
import { z as zodFourOfThree } from 'zod3/v4';
import type { JsonSchema } from '../../../src/core/chat/tool-definition.js';
import { ToolDefinitionError } from '../../../src/core/errors/errors.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import type { InputSchema } from '../../../src/core/json-schema/to-json-schema.js';
import { runBatch } from '../../support/batch.js';
import '../../../src/core/json-schema/zod3.js';

const noop = (): string => 'ok';

function advertised(input: InputSchema): JsonSchema {
  return defineTool({ name: 'tool', input, execute: noop }).definition.inputSchema;
}

function refusal(define: () => unknown): ToolDefinitionError {
  try {
    define();
  } catch (error) {
    expect(error).to.be.instanceOf(ToolDefinitionError);
    return error as ToolDefinitionError;
  }
  throw new Error('the tool was not refused');
}

/** A Standard Schema without a JSON form: what valibot or arktype schemas look like from outside. */
function standardSchema<T>(
  validate: (value: unknown) => StandardSchemaV1.Result<T> | Promise<StandardSchemaV1.Result<T>>,
): StandardSchemaV1<unknown, T> {
  return { '~standard': { version: 1, vendor: 'acme', validate } };
}

const city = standardSchema<{ city: string }>((value) => {
  const { city: name } = value as { city?: unknown };
  return typeof name === 'string'
    ? { value: { city: name.toUpperCase() } }
    : { issues: [{ message: 'no city', path: ['city', { key: 0 }] }] };
});
const citySchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
} as const;

describe('defineTool', () => {
  describe('the advertised schema', () => {
    const golden: Readonly<Record<string, readonly [input: InputSchema, expected: JsonSchema]>> = {
      'zod 4': [
        z.object({
          city: z.string().describe('Name of the city'),
          days: z.int().min(1).max(7).default(3),
          unit: z.enum(['celsius', 'fahrenheit']).optional(),
          where: z.object({ lat: z.number(), lon: z.number() }).nullable(),
          tags: z.array(z.string()).optional(),
        }),
        {
          type: 'object',
          properties: {
            city: { type: 'string', description: 'Name of the city' },
            days: { default: 3, type: 'integer', minimum: 1, maximum: 7 },
            unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
            where: {
              anyOf: [
                {
                  type: 'object',
                  properties: { lat: { type: 'number' }, lon: { type: 'number' } },
                  required: ['lat', 'lon'],
                },
                { type: 'null' },
              ],
            },
            tags: { type: 'array', items: { type: 'string' } },
          },
          required: ['city', 'where'],
        },
      ],
      'zod 4 mini': [
        mini.object({ city: mini.string(), days: mini.optional(mini.number()) }),
        {
          type: 'object',
          properties: { city: { type: 'string' }, days: { type: 'number' } },
          required: ['city'],
        },
      ],
      'zod 4 as zod 3.25 ships it': [
        zodFourOfThree.object({
          city: zodFourOfThree.string(),
          days: zodFourOfThree.number().default(3),
        }),
        {
          type: 'object',
          properties: { city: { type: 'string' }, days: { default: 3, type: 'number' } },
          required: ['city'],
        },
      ],
      'zod 3': [
        zodThreePackage.object({
          city: zodThreePackage.string().describe('Name of the city'),
          days: zodThreePackage.number().int().default(3),
          unit: zodThreePackage.enum(['celsius', 'fahrenheit']).optional(),
        }),
        {
          type: 'object',
          properties: {
            city: { type: 'string', description: 'Name of the city' },
            days: { type: 'integer', default: 3 },
            unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
          },
          required: ['city'],
          additionalProperties: false,
        },
      ],
      'zod/v3': [
        zodThree.object({ city: zodThree.string() }),
        {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
          additionalProperties: false,
        },
      ],
      'plain JSON Schema': [citySchema, citySchema],
      'JSON Schema with definitions': [
        { ...citySchema, $defs: { unit: { type: 'string' } } },
        { ...citySchema, $defs: { unit: { type: 'string' } } },
      ],
      'JSON Schema whose root refers to a definition': [
        { $ref: '#/$defs/city', $defs: { city: citySchema } },
        citySchema,
      ],
      'JSON Schema whose root refers to a definition that refers to another': [
        {
          $ref: '#/$defs/a',
          $defs: {
            a: { type: 'object', properties: { b: { $ref: '#/$defs/b' } } },
            b: { type: 'string' },
          },
        },
        {
          type: 'object',
          properties: { b: { $ref: '#/$defs/b' } },
          $defs: {
            a: { type: 'object', properties: { b: { $ref: '#/$defs/b' } } },
            b: { type: 'string' },
          },
        },
      ],
      'JSON Schema without a type': [
        { properties: { city: { type: 'string' } } },
        { type: 'object', properties: { city: { type: 'string' } } },
      ],
      'JSON Schema without properties': [
        { type: 'object', additionalProperties: { type: 'number' } },
        { type: 'object', additionalProperties: { type: 'number' }, properties: {} },
      ],
    };
    for (const [kind, [input, expected]] of Object.entries(golden)) {
      it(`[F20] is complete for ${kind}`, () => {
        expect(advertised(input)).to.deep.equal(expected);
      });
    }

    it('[F20] [TOL-43] is an object without properties for a tool without arguments', () => {
      const tool = defineTool({ name: 'now', execute: noop });

      expect(tool.definition.inputSchema).to.deep.equal({ type: 'object', properties: {} });
    });

    it('[F20] comes from the JSON trait of a Standard Schema, for its input', () => {
      const asked: unknown[] = [];
      const jsonSchema = {
        input: (options: unknown) => (
          asked.push(options),
          { $schema: 'https://json-schema.org/draft/2020-12/schema', ...citySchema }
        ),
        output: () => ({ type: 'object', properties: { wrong: {} } }),
      };
      const schema = { '~standard': { ...city['~standard'], jsonSchema } };

      expect(advertised(schema)).to.deep.equal(citySchema);
      expect(asked).to.deep.equal([{ target: 'draft-2020-12' }]);
    });

    it("[F20] accepts a function as a Standard Schema, such as arktype's", () => {
      const schema = Object.assign(() => undefined, {
        '~standard': { ...city['~standard'], jsonSchema: { input: () => citySchema } },
      });

      expect(advertised(schema as unknown as InputSchema)).to.deep.equal(citySchema);
    });

    it('[F20] comes from inputSchema if the library cannot convert its schema', () => {
      const tool = defineTool({
        name: 'weather',
        input: city,
        inputSchema: citySchema,
        execute: noop,
      });

      expect(tool.definition.inputSchema).to.deep.equal(citySchema);
    });

    it('[F25] does not change when the original schema changes', () => {
      const schema = { type: 'object', properties: { city: { type: 'string' } } };
      const tool = defineTool({ name: 'weather', input: schema, execute: noop });

      schema.properties.city.type = 'number';

      expect(tool.definition.inputSchema).to.deep.equal({
        type: 'object',
        properties: { city: { type: 'string' } },
      });
    });
  });

  describe('odd schemas', () => {
    interface Tree {
      readonly label: string;
      readonly children?: readonly Tree[] | undefined;
    }
    const tree: z.ZodType<Tree> = z.object({
      label: z.string(),
      get children() {
        return z.array(tree).optional();
      },
    });
    const treeThree: zodThree.ZodType<Tree> = zodThree.object({
      label: zodThree.string(),
      children: zodThree.lazy(() => zodThree.array(treeThree)).optional(),
    });
    const accepted: Readonly<Record<string, readonly [input: InputSchema, properties: unknown]>> = {
      'zod 4 transform': [
        z.object({ size: z.string().transform((text) => text.length) }),
        { size: { type: 'string' } },
      ],
      'zod 4 pipe': [
        z.object({ size: z.string().pipe(z.transform(Number)) }),
        { size: { type: 'string' } },
      ],
      'zod 4 codec': [
        z.object({ size: z.codec(z.string(), z.bigint(), { decode: BigInt, encode: String }) }),
        { size: { type: 'string' } },
      ],
      'zod 4 recursive': [
        tree,
        { label: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
      ],
      'zod 4 record root': [z.record(z.string(), z.number()), {}],
      'zod 4 intersection': [
        z.object({ a: z.string() }).and(z.object({ b: z.number() })),
        { a: { type: 'string' }, b: { type: 'number' } },
      ],
      'zod 4 optional root': [z.object({ a: z.string() }).optional(), { a: { type: 'string' } }],
      'zod 4 lazy root': [z.lazy(() => z.object({ a: z.string() })), { a: { type: 'string' } }],
      'zod 4 root with an id': [
        z.object({ a: z.string() }).meta({ id: 'Named' }),
        { a: { type: 'string' } },
      ],
      'zod 4 refined root': [
        z.object({ a: z.string() }).refine(() => true),
        { a: { type: 'string' } },
      ],
      'zod 4 default and nullish': [
        z.object({ a: z.string().default('x'), b: z.string().nullish() }),
        { a: { default: 'x', type: 'string' }, b: { type: ['string', 'null'] } },
      ],
      'zod 3 transform': [
        zodThree.object({ size: zodThree.string().transform((text) => text.length) }),
        { size: { type: 'string' } },
      ],
      'zod 3 pipe': [
        zodThree.object({ size: zodThree.string().pipe(zodThree.coerce.number()) }),
        { size: { type: 'string' } },
      ],
      'zod 3 recursive': [
        treeThree,
        { label: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
      ],
      'zod 3 record root': [zodThree.record(zodThree.number()), {}],
      'zod 3 coerced date': [
        zodThree.object({ at: zodThree.coerce.date() }),
        { at: { type: 'string', format: 'date-time' } },
      ],
    };
    for (const [kind, [input, properties]] of Object.entries(accepted)) {
      it(`[F21] advertises the input of a ${kind}`, () => {
        const schema = advertised(input);

        expect(schema['type']).to.equal('object');
        expect(schema['properties']).to.deep.equal(properties);
        expect(schema).to.not.have.any.keys('$schema', '$ref');
      });
    }

    const refused: Readonly<Record<string, readonly [input: InputSchema, place: string]>> = {
      'zod 4 date': [
        z.object({ trip: z.object({ start: z.date() }) }),
        'properties.trip.properties.start',
      ],
      'zod 4 bigint': [z.object({ ids: z.array(z.bigint()) }), 'properties.ids.items'],
      'zod 4 map': [z.object({ m: z.map(z.string(), z.string()) }), 'properties.m'],
      'zod 4 set': [z.object({ s: z.set(z.string()) }), 'properties.s'],
      'zod 4 symbol': [z.object({ s: z.symbol() }), 'properties.s'],
      'zod 4 undefined': [z.object({ s: z.undefined() }), 'properties.s'],
      'zod 4 NaN': [z.object({ s: z.nan() }), 'properties.s'],
      'zod 4 instanceof': [z.object({ s: z.instanceof(Map) }), 'properties.s'],
      'zod 4 file': [z.object({ s: z.file() }), 'properties.s'],
      'zod 4 bigint literal': [z.object({ s: z.literal(1n) }), 'literal'],
      'zod 4 of zod 3.25, date': [
        zodFourOfThree.object({ start: zodFourOfThree.date() }),
        'properties.start',
      ],
      'zod 4 union root': [
        z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
        'anyOf',
      ],
      'zod 4 string root': [z.string(), '"string"'],
      'zod 4 any root': [z.any(), 'nothing'],
      'zod 3 date': [
        zodThree.object({ trip: zodThree.object({ start: zodThree.date() }) }),
        'properties.trip.properties.start',
      ],
      'zod 3 bigint': [
        zodThree.object({ ids: zodThree.array(zodThree.bigint()) }),
        'properties.ids.items',
      ],
      'zod 3 map': [
        zodThree.object({ m: zodThree.map(zodThree.string(), zodThree.string()) }),
        'properties.m',
      ],
      'zod 3 set': [zodThree.object({ m: zodThree.set(zodThree.string()) }), 'properties.m'],
      'zod 3 function': [zodThree.object({ m: zodThree.function() }), 'properties.m'],
      'zod 3 undefined': [zodThree.object({ m: zodThree.undefined() }), 'properties.m'],
      'zod 3 literal undefined': [
        zodThree.object({ m: zodThree.literal(undefined) }),
        'properties.m',
      ],
      'zod 3 union root': [
        zodThree.union([zodThree.object({}), zodThree.object({ b: zodThree.string() })]),
        'anyOf',
      ],
      'zod 3 string root': [zodThree.string(), '"string"'],
      'Standard Schema without a JSON form': [
        city,
        'acme schemas do not convert by themselves; give the JSON Schema as `inputSchema`',
      ],
      'JSON Schema with a schema of zod inside': [
        { type: 'object', properties: { at: z.object({ lat: z.number() }) } },
        '"at" is a schema of zod',
      ],
      'shape of zod without its z.object': [
        { city: z.string() } as JsonSchema,
        '"city" is a schema of zod',
      ],
      Map: [
        new Map() as unknown as JsonSchema,
        'a zod schema, a Standard Schema or a JSON Schema object',
      ],
      'Promise of a schema': [
        Promise.resolve({}) as unknown as JsonSchema,
        'a zod schema, a Standard Schema or a JSON Schema object',
      ],
      'JSON Schema of an array': [{ type: 'array', items: {} }, '"array"'],
      'JSON Schema whose root refers to nothing': [
        { $ref: '#/$defs/none', $defs: {} },
        'it refers to',
      ],
      'JSON Schema whose root refers to a definition that there is not': [
        { $ref: '#/$defs/none' },
        '$ref',
      ],
      'JSON Schema with a list of types': [{ type: ['object', 'null'] }, 'an array of 2'],
    };
    for (const [kind, schemas] of Object.entries({
      'two of a library': { input: z.object({}), inputSchema: z.object({}) },
      'two as JSON Schema': { input: citySchema, inputSchema: citySchema },
      'JSON Schema beside one of a library as inputSchema': {
        input: citySchema,
        inputSchema: z.object({}),
      },
    }))
      it(`rejects two schemas of the arguments: ${kind}`, () => {
        expect(
          refusal(() => defineTool({ name: 'tool', execute: noop, ...schemas } as never)).message,
        ).to.include('tool "tool": give one schema, as `input` or as `inputSchema`');
      });

    for (const [kind, [input, place]] of Object.entries(refused)) {
      it(`[F21] rejects a ${kind}, and names the tool and the path`, () => {
        const error = refusal(() => defineTool({ name: 'book_trip', input, execute: noop }));

        expect(error.message).to.include('"book_trip"').and.to.include(place);
        expect(error.toolName).to.equal('book_trip');
        expect(error.code).to.equal('tool_definition');
      });
    }

    it('[F21] rejects a JSON Schema that JSON cannot express', () => {
      const cyclic: Record<string, unknown> = { type: 'object' };
      cyclic['properties'] = { self: cyclic };

      expect(refusal(() => advertised(cyclic)).message).to.match(
        /tool "tool": the schema has no JSON Schema form: .*circular/,
      );
      expect(refusal(() => advertised({ type: 'object', maxProperties: 1n })).message).to.include(
        'BigInt',
      );
    });

    for (const [what, input] of Object.entries({
      'the JSON text of a string': '"string"',
      'a number': 4,
      'a function': noop,
      'an array': [],
    })) {
      it(`[F21] rejects ${what} as a schema`, () => {
        expect(refusal(() => advertised(input as unknown as InputSchema)).message).to.match(
          /the schema must be a zod schema, .* not /,
        );
      });
    }

    for (const input of [undefined, null]) {
      it(`[F20] rejects ${input} as a schema, which mostly is one that does not exist yet`, () => {
        const options = { name: 'tool', input, execute: noop } as unknown as {
          name: string;
          input: JsonSchema;
          execute: () => string;
        };

        expect(refusal(() => defineTool(options)).message).to.equal(
          `tool "tool": input must be a schema, or left out, not ${input}`,
        );
      });
    }
  });

  describe('the name', () => {
    for (const name of ['a', 'get_weather', 'get-weather', 'getWeather2', '_', 'x'.repeat(64)]) {
      it(`[F24] may be "${name.length > 20 ? '64 characters' : name}"`, () => {
        expect(defineTool({ name, execute: noop }).definition.name).to.equal(name);
      });
    }

    for (const name of [
      '',
      ' ',
      'get weather',
      'a.b',
      'ns:tool',
      'wetter_für',
      'x'.repeat(65),
      'a\n',
      'get_weаther',
      7,
      undefined,
      null,
      {},
    ]) {
      it(`[F24] cannot be ${typeof name === 'string' ? JSON.stringify(name).slice(0, 20) : JSON.stringify(name)}`, () => {
        const error = refusal(() => defineTool({ name: name as string, execute: noop }));

        expect(error.message).to.match(
          /^defineTool: name must be 1 to 64 letters, digits, "_" or "-", not /,
        );
      });
    }
  });

  describe('the description', () => {
    const words = {
      getCurrentWeather: 'get current weather',
      get_current_weather: 'get current weather',
      'get-current-weather': 'get current weather',
      getHTTPStatus: 'get http status',
      weather2day: 'weather2day',
      ALL_CAPS: 'all caps',
    };
    for (const [name, expected] of Object.entries(words)) {
      it(`[TOL-22] is "${expected}" for ${name} by default`, () => {
        expect(defineTool({ name, execute: noop }).definition.description).to.equal(expected);
      });
    }

    it('[TOL-22] [CLI-46] is the words of the name if it is blank, and unchanged otherwise', () => {
      expect(
        defineTool({ name: 'get_it', description: '  ', execute: noop }).definition.description,
      ).to.equal('get it');
      expect(
        defineTool({ name: 'get_it', description: ' Gets it. ', execute: noop }).definition
          .description,
      ).to.equal(' Gets it. ');
    });
  });

  describe('other options', () => {
    it('sets the metadata', () => {
      const plain = defineTool({ name: 'plain', execute: noop });
      const special = defineTool({
        name: 'special',
        returnDirect: true,
        deferred: true,
        timeout: 500,
        strict: false,
        execute: noop,
      });

      expect(plain.metadata).to.deep.equal({ returnDirect: false, deferred: false });
      expect(plain.definition).to.not.have.property('strict');
      expect(special.metadata).to.deep.equal({ returnDirect: true, deferred: true, timeout: 500 });
      expect(special.definition.strict).to.equal(false);
    });

    it('sets effect and concurrency key', () => {
      const onToolError = (): string => 'no';
      const keyed = defineTool({
        name: 'keyed',
        input: z.object({ file: z.string() }),
        effect: 'idempotent',
        concurrencyKey: ({ file }) => file,
        maxConcurrency: 2,
        retries: 3,
        onToolError,
        execute: noop,
      });
      const { concurrencyKey, ...metadata } = keyed.metadata;

      expect(metadata).to.deep.equal({
        returnDirect: false,
        deferred: false,
        effect: 'idempotent',
        maxConcurrency: 2,
        retries: 3,
        onToolError,
      });
      expect(concurrencyKey?.({ file: 'a.txt' })).to.equal('a.txt');
      expect(
        defineTool({ name: 'one', concurrencyKey: 'all', execute: noop }).metadata.concurrencyKey?.(
          {},
        ),
      ).to.equal('all');
    });

    for (const [given, meant] of Object.entries({
      parameters: 'input',
      schema: 'input',
      handler: 'execute',
      func: 'execute',
      timeoutMs: 'timeout',
    })) {
      it(`rejects the option ${given} of other libraries, and names ${meant}`, () => {
        const error = refusal(() => defineTool({ name: 't', execute: noop, [given]: {} }));

        expect(error.message).to.equal(
          `tool "t": there is no option \`${given}\`; use \`${meant}\``,
        );
      });
    }

    it('rejects an unknown option, and names the nearest one', () => {
      expect(
        refusal(() => defineTool({ name: 't', execute: noop, retruns: 1 } as never)).message,
      ).to.match(/^tool "t": there is no option `retruns`; did you mean `retries`\?$/);
    });

    it('[F24] accepts any name with strictName: false, for a model that maps names', () => {
      for (const name of ['maps.search', 'ns:tool', 'wetter für', 'x'.repeat(512)])
        expect(defineTool({ name, strictName: false, execute: noop }).definition.name).to.equal(
          name,
        );
      for (const name of ['', ' ', 'a\nb', 'x'.repeat(513), 7])
        expect(
          refusal(() => defineTool({ name: name as string, strictName: false, execute: noop }))
            .message,
        ).to.match(
          /^defineTool: name must be a non-blank string of at most 512 characters on one line, not /,
        );
    });

    const wrong: Readonly<Record<string, readonly [options: object, message: string]>> = {
      'retries of what may do something twice': [
        { retries: 1 },
        "tool \"t\": retries needs the effect 'read' or 'idempotent', not undefined: a call with side effects is never repeated",
      ],
      'an effect that is none': [
        { effect: 'writes' },
        "tool \"t\": effect must be 'read', 'idempotent' or 'write', not \"writes\"",
      ],
      'a cap of 0': [
        { maxConcurrency: 0 },
        'tool "t": maxConcurrency must be an integer >= 1 or Infinity, not 0',
      ],
      'a key that is neither': [
        { concurrencyKey: 7 },
        'tool "t": concurrencyKey must be a string or a function, not 7',
      ],
      'a converter that is no function': [
        { resultConverter: 'x' },
        'tool "t": resultConverter must be a function, not "x"',
      ],
      'a toModelOutput that is no function': [
        { toModelOutput: {} },
        'tool "t": toModelOutput must be a function, not an object',
      ],
      'a strict that is no flag': [
        { strict: 'yes' },
        'tool "t": strict must be true or false, not "yes"',
      ],
      'no execute': [{ execute: undefined }, 'tool "t": execute must be a function, not undefined'],
      'an execute that is no function': [
        { execute: 'x' },
        'tool "t": execute must be a function, not "x"',
      ],
      'a description that is no text': [
        { description: 7 },
        'tool "t": description must be a string, not 7',
      ],
      'a timeout of 0': [
        { timeout: 0 },
        'tool "t": timeout must be a number of milliseconds > 0 and < 2 ** 31, or Infinity, not 0',
      ],
      'a timeout that is no number': [
        { timeout: '5' },
        'tool "t": timeout must be a number of milliseconds > 0 and < 2 ** 31, or Infinity, not "5"',
      ],
      'a timeout at which a timer fires at once': [
        { timeout: 2 ** 31 },
        'tool "t": timeout must be a number of milliseconds > 0 and < 2 ** 31, or Infinity, not 2147483648',
      ],
    };
    for (const [what, [options, message]] of Object.entries(wrong)) {
      it(`rejects ${what}`, () => {
        expect(
          refusal(() => defineTool({ name: 't', execute: noop, ...options })).message,
        ).to.equal(message);
      });
    }

    it('rejects missing options', () => {
      expect(refusal(() => defineTool(undefined as never)).message).to.include(
        'the argument must be an object { name, description, input, execute }',
      );
    });
  });

  describe('the arguments of the tool', () => {
    const seen = async (
      input: InputSchema | undefined,
      args: string | object,
      inputSchema?: InputSchema,
    ): Promise<unknown> => {
      const got: unknown[] = [];
      const execute = (value: unknown): string => (got.push(value), 'ok');
      const tool = defineTool({
        name: 'tool',
        execute,
        ...(input && { input }),
        ...(inputSchema && { inputSchema }),
      });
      const { contents } = await runBatch([tool], [{ name: 'tool', args }]);
      return got.length > 0 ? got[0] : contents[0];
    };

    it('[F19] are the output of zod 4: defaults once, transforms, unknown keys removed', async () => {
      const input = z.object({
        city: z.string().trim(),
        days: z.number().default(3),
        when: z.string().transform((text) => text.length),
      });

      expect(await seen(input, { city: ' Rome ', when: 'now', extra: 1 })).to.deep.equal({
        city: 'Rome',
        days: 3,
        when: 3,
      });
    });

    for (const [library, inputSchema] of Object.entries({
      'zod 4': z.object({ city: z.string().trim(), days: z.number().default(3) }),
      'zod 3': zodThree.object({
        city: zodThree.string().trim(),
        days: zodThree.number().default(3),
      }),
    }))
      it(`are the output of a schema of ${library} that is given as inputSchema`, async () => {
        expect(await seen(undefined, { city: ' Rome ' }, inputSchema)).to.deep.equal({
          city: 'Rome',
          days: 3,
        });
        expect(await seen(undefined, { city: 7 }, inputSchema)).to.match(/not valid:\n- city: /);
      });

    it('[F19] are the output of zod 3', async () => {
      const input = zodThree.object({
        city: zodThree.string().trim(),
        days: zodThree.number().default(3),
      });

      expect(await seen(input, { city: ' Rome ', extra: 1 })).to.deep.equal({
        city: 'Rome',
        days: 3,
      });
    });

    it('[F19] are the output of an asynchronous schema', async () => {
      const input = z.object({
        city: z.string().refine(async (name) => Promise.resolve(name === 'Rome'), 'unknown city'),
      });

      expect(await seen(input, { city: 'Rome' })).to.deep.equal({ city: 'Rome' });
      expect(await seen(input, { city: 'Atlantis' })).to.equal(
        'The arguments of "tool" are not valid:\n- city: unknown city',
      );
    });

    it('[F19] are the output of a Standard Schema', async () => {
      expect(await seen(city, { city: 'Rome' }, citySchema)).to.deep.equal({ city: 'ROME' });
      expect(await seen(city, {}, citySchema)).to.equal(
        'The arguments of "tool" are not valid:\n- city.0: no city',
      );
    });

    it('[F19] are checked by a schema that returns a custom thenable', async () => {
      const then = (resolve: (result: object) => void): void =>
        resolve({ issues: [{ message: 'never' }] });
      const thenable: unknown = Object.fromEntries([['then', then]]);
      const lazy = standardSchema<unknown>(
        () => thenable as Promise<StandardSchemaV1.Result<unknown>>,
      );

      expect(await seen(lazy, {}, citySchema)).to.equal(
        'The arguments of "tool" are not valid:\n- the value: never',
      );
    });

    it('[F19] are checked by a plain JSON Schema, as input or as inputSchema alone', async () => {
      const problem =
        'The arguments of "tool" are not valid:\n- city: Instance type "number" is invalid. Expected "string".';

      expect(await seen(citySchema, { city: 'Rome', more: 1 })).to.deep.equal({
        city: 'Rome',
        more: 1,
      });
      expect(await seen(citySchema, { city: 7 })).to.equal(problem);
      expect(await seen(undefined, { city: 7 }, citySchema)).to.equal(problem);
    });

    it('are any object if there is no schema', async () => {
      expect(await seen(undefined, { anything: [1] })).to.deep.equal({ anything: [1] });
    });

    it('are rejected with a general text if the schema throws', async () => {
      const broken = standardSchema<unknown>(() => {
        throw new Error('secret of the schema');
      });

      expect(await seen(broken, {}, citySchema)).to.equal(
        'The arguments of "tool" are not valid:\n- they could not be checked: the schema failed on them',
      );
    });
  });

  it('[D69] takes the schema of the arguments as JSON text', () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const input = JSON.stringify(schema);

    const tool = defineTool({ name: 'my_tool', input, execute: () => 'x' });

    expect(tool.definition.inputSchema).to.deep.equal(schema);
    expect(tool.validate?.({ city: 7 })).to.have.property('issues');
    expect(() => defineTool({ name: 'my_tool', input: '{', execute: () => 'x' })).to.throw(
      ToolDefinitionError,
      'tool "my_tool": the schema "{" is not valid JSON',
    );
  });

  it('[D26] describes a coerced date as text and passes a Date', async () => {
    const input = z.object({ at: z.coerce.date(), big: z.coerce.bigint() });

    const tool = defineTool({ name: 'my_tool', input, execute: ({ at }) => at.getTime() });

    expect(tool.definition.inputSchema['properties']).to.deep.equal({
      at: { type: 'string', format: 'date-time' },
      big: { type: 'integer' },
    });
    expect(await tool.validate?.({ at: '2026-05-01T10:00:00Z', big: 7 })).to.deep.equal({
      value: { at: new Date('2026-05-01T10:00:00Z'), big: 7n },
    });
  });
});
