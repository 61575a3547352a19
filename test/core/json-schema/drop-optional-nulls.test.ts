import { expect } from 'chai';
import { z } from 'zod';
import type { JsonValue } from '../../../src/core/internal/json.js';
import type { JsonSchema } from '../../../src/core/chat/tool-definition.js';
import { toStrictSchema } from '../../../src/models/openai/strict-schema.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import { dropOptionalNulls } from '../../../src/core/json-schema/drop-optional-nulls.js';
import { runBatch } from '../../support/batch.js';

const object = (properties: JsonSchema, required: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required,
});

describe('dropOptionalNulls', () => {
  const text = { type: 'string' };
  const cases: Readonly<
    Record<string, readonly [schema: JsonSchema, value: JsonValue, expected: JsonValue]>
  > = {
    'drops the null of an optional property': [object({ a: text }), { a: null }, {}],
    'keeps the null of a required property': [object({ a: text }, ['a']), { a: null }, { a: null }],
    'keeps a null that the type allows': [
      object({ a: { type: ['string', 'null'] } }),
      { a: null },
      { a: null },
    ],
    'keeps a null that is the type': [object({ a: { type: 'null' } }), { a: null }, { a: null }],
    'drops a null that only OpenAPI allows, which the validator rejects': [
      object({ a: { type: 'string', nullable: true } }),
      { a: null },
      {},
    ],
    'drops a null of the only alternative whose required properties are there': [
      object(
        {
          o: { anyOf: [object({ u: text, m: text }, ['u']), object({ p: text, m: text }, ['p'])] },
        },
        ['o'],
      ),
      { o: { u: 'x', m: null } },
      { o: { u: 'x' } },
    ],
    'drops a null of the only alternative that knows all properties': [
      object({ o: { anyOf: [object({ u: text, m: text }), object({ u: text, n: text })] } }, ['o']),
      { o: { u: 'x', m: null } },
      { o: { u: 'x' } },
    ],
    'keeps a null where two alternatives may be meant': [
      object(
        {
          o: { anyOf: [object({ u: text, m: text }), object({ u: text, m: { type: 'number' } })] },
        },
        ['o'],
      ),
      { o: { u: 'x', m: null } },
      { o: { u: 'x', m: null } },
    ],
    'keeps a null where any value is valid': [
      object({ a: {}, b: { description: 'x' } }),
      { a: null, b: null },
      { a: null, b: null },
    ],
    'keeps a null where the schema is true': [object({ a: true }), { a: null }, { a: null }],
    'drops a null where the schema is false': [object({ a: false }), { a: null }, {}],
    'keeps a null among the values of an enum': [
      object({ a: { enum: ['x', null] } }),
      { a: null },
      { a: null },
    ],
    'drops a null that an enum does not have': [object({ a: { enum: ['x'] } }), { a: null }, {}],
    'keeps a null that is the constant': [object({ a: { const: null } }), { a: null }, { a: null }],
    'drops a null beside another constant': [object({ a: { const: 1 } }), { a: null }, {}],
    'keeps a null that an alternative allows': [
      object({ a: { anyOf: [text, { type: 'null' }] } }),
      { a: null },
      { a: null },
    ],
    'drops a null that no alternative allows': [
      object({ a: { oneOf: [text, { type: 'number' }] } }),
      { a: null },
      {},
    ],
    'drops a null that one schema of allOf does not allow': [
      object({ a: { allOf: [{}, text] } }),
      { a: null },
      {},
    ],
    'keeps the null of an unknown property': [object({ a: text }), { b: null }, { b: null }],
    'keeps everything else': [
      object({ a: text, b: text }),
      { a: '', b: 'null' },
      { a: '', b: 'null' },
    ],
    'drops nulls in objects': [object({ o: object({ a: text }) }), { o: { a: null } }, { o: {} }],
    'drops nulls in objects of arrays': [
      object({ l: { type: 'array', items: object({ a: text }) } }),
      { l: [{ a: null }, 1] },
      { l: [{}, 1] },
    ],
    'keeps nulls among the items of an array': [
      object({ l: { type: 'array', items: text } }),
      { l: [null] },
      { l: [null] },
    ],
    'drops nulls in objects of tuples': [
      object({ l: { prefixItems: [{}, object({ a: text })] } }),
      { l: [{ a: null }, { a: null }] },
      { l: [{ a: null }, {}] },
    ],
    'drops nulls in objects of maps': [
      { type: 'object', additionalProperties: object({ a: text }) },
      { k: { a: null } },
      { k: {} },
    ],
    'drops nulls by all schemas of allOf': [
      { allOf: [object({ a: text }), object({ b: text })] },
      { a: null, b: null },
      {},
    ],
    'drops nulls by the only possible alternative': [
      object({ o: { anyOf: [object({ a: text }), { type: 'null' }, { type: 'array' }] } }),
      { o: { a: null } },
      { o: {} },
    ],
    'distinguishes alternatives by their constants': [
      object({
        o: {
          oneOf: [
            object({ kind: { const: 'x' }, a: text }),
            object({ kind: { const: 'y' }, a: { type: ['string', 'null'] } }),
          ],
        },
      }),
      { o: { kind: 'x', a: null } },
      { o: { kind: 'x' } },
    ],
    'keeps nulls of alternatives that cannot be distinguished': [
      object({ o: { anyOf: [object({ a: text }), object({ a: { type: 'null' } })] } }),
      { o: { a: null } },
      { o: { a: null } },
    ],
    'follows references': [
      {
        ...object({ o: { $ref: '#/$defs/o' }, a: { $ref: '#/$defs/a' } }),
        $defs: { o: object({ a: text }), a: text },
      },
      { o: { a: null }, a: null },
      { o: {} },
    ],
    'follows references to escaped names': [
      { ...object({ o: { $ref: '#/$defs/a~1b~0c' } }), $defs: { 'a/b~c': object({ a: text }) } },
      { o: { a: null } },
      { o: {} },
    ],
    'follows references with percent-encoding': [
      {
        ...object({ o: { $ref: '#/$defs/List%3Cx%25%3E' } }),
        $defs: { 'List<x%>': object({ a: text }) },
      },
      { o: { a: null } },
      { o: {} },
    ],
    'follows a schema that contains itself': [
      object({ a: text, next: { $ref: '#' } }),
      { a: null, next: { a: null, next: { a: null } } },
      { next: { next: {} } },
    ],
    'keeps a null behind a dangling reference': [
      object({ a: { $ref: '#/$defs/none' } }),
      { a: null },
      { a: null },
    ],
    'keeps a null behind a reference to another host': [
      object({ a: { $ref: 'https://example.com/s' } }),
      { a: null },
      { a: null },
    ],
    'keeps a null behind a reference to another document': [
      { ...object({ a: { $ref: 'other.json/$defs/a' } }), $defs: { a: text } },
      { a: null },
      { a: null },
    ],
    'skips alternatives with dangling references': [
      object({ o: { anyOf: [object({ a: text }), { $ref: '#/$defs/none' }, false] } }),
      { o: { a: null } },
      { o: {} },
    ],
    'ends at a reference to itself': [{ $ref: '#' }, { a: null }, { a: null }],
    'ends at a schema that is part of itself': [
      { ...object({ a: text }), allOf: [{ $ref: '#' }] },
      { a: null },
      {},
    ],
    'ends at a schema that is its own alternative': [
      object({ a: { $ref: '#/properties/a', anyOf: [{ $ref: '#' }] } }),
      { a: null },
      { a: null },
    ],
    'keeps properties with names of Object.prototype': [
      object({ a: text }),
      { constructor: null, toString: null },
      { constructor: null, toString: null },
    ],
  };
  for (const [title, [schema, value, expected]] of Object.entries(cases)) {
    it(title, () => {
      const before = structuredClone(value);

      expect(dropOptionalNulls(value, schema)).to.deep.equal(expected);
      expect(value).to.deep.equal(before);
    });
  }

  it('makes arguments of strict mode, with null for optional properties, valid for zod', async () => {
    const input = z.object({
      city: z.string(),
      days: z.number().default(3),
      unit: z.enum(['c', 'f']).optional(),
      near: z.object({ lat: z.number(), alt: z.number().optional() }).optional(),
      stops: z.array(z.object({ name: z.string(), note: z.string().optional() })).optional(),
      mode: z.discriminatedUnion('by', [
        z.object({ by: z.literal('car'), seats: z.int().optional() }),
        z.object({ by: z.literal('foot') }),
      ]),
      note: z.string().nullish(),
    });
    const got: unknown[] = [];
    const tool = defineTool({ name: 'trip', input, execute: (args) => void got.push(args) });
    const sent = {
      city: 'Rome',
      days: null,
      unit: null,
      near: { lat: 1, alt: null },
      stops: [{ name: 'Siena', note: null }],
      mode: { by: 'car', seats: null },
      note: null,
    };

    const { contents } = await runBatch([tool], [{ name: 'trip', args: sent }]);

    expect(contents).to.deep.equal(['Done']);
    expect(got).to.deep.equal([
      {
        city: 'Rome',
        days: 3,
        near: { lat: 1 },
        stops: [{ name: 'Siena' }],
        mode: { by: 'car' },
        note: null,
      },
    ]);
    expect(toStrictSchema(tool.definition.inputSchema)['required']).to.have.members(
      Object.keys(sent),
    );
  });

  it('makes arguments of strict mode valid for plain JSON Schema', async () => {
    const got: unknown[] = [];
    const tool = defineTool({
      name: 'trip',
      input: object({ city: { type: 'string' } }),
      execute: (args) => void got.push(args),
    });

    await runBatch([tool], [{ name: 'trip', args: { city: null } }]);

    expect(got).to.deep.equal([{}]);
  });

  it('keeps a required null, which the schema rejects with a message', async () => {
    const tool = defineTool({
      name: 'trip',
      input: z.object({ city: z.string() }),
      execute: () => 'ok',
    });

    const { contents } = await runBatch([tool], [{ name: 'trip', args: { city: null } }]);

    expect(contents[0]).to.equal(
      'The arguments of "trip" are not valid:\n- city: Invalid input: expected string, received null',
    );
  });
});
