import { expect } from 'chai';
import { isStrictSchema, toStrictSchema } from '../../../src/models/openai/strict-schema.js';

const object = (properties: object, more: object = {}): Record<string, unknown> => ({
  type: 'object',
  properties,
  ...more,
});
const closed = (properties: object, required: readonly string[], more: object = {}): object =>
  object(properties, { required, additionalProperties: false, ...more });

describe('toStrictSchema', () => {
  it('[OAI-12] requires all properties, allows no others and makes optional ones nullable', () => {
    const schema = object(
      { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
      { required: ['city'] },
    );

    expect(toStrictSchema(schema)).to.deep.equal(
      closed({ city: { type: 'string' }, days: { type: ['integer', 'null'], minimum: 1 } }, [
        'city',
        'days',
      ]),
    );
  });

  it('closes an object without properties', () => {
    expect(toStrictSchema(object({}))).to.deep.equal(closed({}, []));
  });

  it('keeps the order of required properties', () => {
    const schema = object(
      { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } },
      { required: ['c', 'a'] },
    );

    expect(toStrictSchema(schema)['required']).to.deep.equal(['c', 'a', 'b']);
  });

  it('converts objects in objects, arrays, alternatives and definitions', () => {
    const inner = object({ x: { type: 'number' } }, { required: ['x'] });
    const strict = closed({ x: { type: 'number' } }, ['x']);
    const schema = object(
      {
        o: inner,
        list: { type: 'array', items: inner },
        either: { anyOf: [inner, { type: 'string' }] },
        ref: { $ref: '#/$defs/d' },
      },
      { required: ['o', 'list', 'either', 'ref'], $defs: { d: inner }, definitions: { e: inner } },
    );

    expect(toStrictSchema(schema)).to.deep.equal(
      closed(
        {
          o: strict,
          list: { type: 'array', items: strict },
          either: { anyOf: [strict, { type: 'string' }] },
          ref: { $ref: '#/$defs/d' },
        },
        ['o', 'list', 'either', 'ref'],
        { $defs: { d: strict }, definitions: { e: strict } },
      ),
    );
  });

  const optional: readonly (readonly [title: string, property: unknown, strict: unknown])[] = [
    ['a type', { type: 'string' }, { type: ['string', 'null'] }],
    ['a list of types', { type: ['string', 'number'] }, { type: ['string', 'number', 'null'] }],
    [
      'an enum',
      { type: 'string', enum: ['a'] },
      { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] },
    ],
    ['a constant', { const: 1 }, { anyOf: [{ const: 1 }, { type: 'null' }] }],
    ['a reference', { $ref: '#/$defs/d' }, { anyOf: [{ $ref: '#/$defs/d' }, { type: 'null' }] }],
    [
      'alternatives',
      { anyOf: [{ type: 'string' }] },
      { anyOf: [{ anyOf: [{ type: 'string' }] }, { type: 'null' }] },
    ],
  ];
  for (const [title, property, strict] of optional) {
    it(`makes ${title} nullable if it is optional`, () => {
      expect(toStrictSchema(object({ p: property }))).to.deep.equal(closed({ p: strict }, ['p']));
    });
  }

  const nullable: readonly (readonly [title: string, property: unknown])[] = [
    ['a type', { type: 'null' }],
    ['a list of types', { type: ['string', 'null'] }],
    ['an enum', { enum: ['a', null] }],
    ['a constant', { const: null }],
    ['an alternative of anyOf', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
  ];
  for (const [title, property] of nullable) {
    it(`keeps a schema that is nullable by ${title}`, () => {
      expect(toStrictSchema(object({ p: property }))).to.deep.equal(closed({ p: property }, ['p']));
    });
  }

  it('turns oneOf into anyOf, because strict mode lacks oneOf', () => {
    const alternatives = [{ type: 'string' }, { type: ['number', 'null'] }];

    expect(toStrictSchema(object({ p: { oneOf: alternatives } }))).to.deep.equal(
      closed({ p: { anyOf: alternatives } }, ['p']),
    );
  });

  it('does not require a property that does not exist', () => {
    expect(
      toStrictSchema(object({ a: { type: 'string' } }, { required: ['a', 'ghost'] })),
    ).to.deep.equal(closed({ a: { type: 'string' } }, ['a']));
  });

  it('redirects references to properties to a definition that stays non-nullable', () => {
    const a = object({ n: { type: 'number' } }, { required: ['n'] });
    const schema = object(
      { billing: a, shipping: { $ref: '#/properties/billing' } },
      { required: ['shipping'] },
    );
    const strict = toStrictSchema(schema);

    expect(strict['properties']).to.deep.equal({
      billing: closed({ n: { type: 'number' } }, ['n'], { type: ['object', 'null'] }),
      shipping: { $ref: '#/$defs/shared_1' },
    });
    expect(strict['$defs']).to.deep.equal({ shared_1: closed({ n: { type: 'number' } }, ['n']) });
  });

  it('redirects a property that refers to itself to a definition', () => {
    const node = object(
      { kids: { type: 'array', items: { $ref: '#/properties/node' } } },
      { required: ['kids'] },
    );
    const kids = { type: 'array', items: { $ref: '#/$defs/shared_1' } };

    expect(toStrictSchema(object({ node }, { required: ['node'] }))).to.deep.equal(
      closed({ node: closed({ kids }, ['kids']) }, ['node'], {
        $defs: { shared_1: closed({ kids }, ['kids']) },
      }),
    );
  });

  it('keeps references to definitions, to the root and to nothing', () => {
    const properties = {
      a: { $ref: '#/$defs/A' },
      b: { $ref: '#' },
      c: { $ref: '#/nowhere' },
      d: { $ref: 'https://example.com/x' },
    };
    const schema = object(properties, {
      required: ['a', 'b', 'c', 'd'],
      $defs: { A: { type: 'string' } },
    });

    expect(toStrictSchema(schema)).to.deep.equal({ ...schema, additionalProperties: false });
  });

  it('wraps an enum whose type is nullable but whose values are not', () => {
    const property = { type: ['string', 'null'], enum: ['a'] };

    expect(toStrictSchema(object({ p: property }))).to.deep.equal(
      closed({ p: { anyOf: [property, { type: 'null' }] } }, ['p']),
    );
  });

  it('keeps data that resembles a schema', () => {
    const value = { properties: { a: { type: 'string' } } };
    const schema = object(
      { p: { const: value, default: value, enum: [value], examples: [value] } },
      { required: ['p'] },
    );

    expect((toStrictSchema(schema)['properties'] as Record<string, unknown>)['p']).to.deep.equal({
      const: value,
      default: value,
      enum: [value],
      examples: [value],
    });
  });

  it('converts properties that are named like keywords', () => {
    const schema = object(
      { properties: object({ enum: { type: 'string' } }, { required: ['enum'] }) },
      { required: ['properties'] },
    );

    expect(toStrictSchema(schema)).to.deep.equal(
      closed({ properties: closed({ enum: { type: 'string' } }, ['enum']) }, ['properties']),
    );
  });

  it('[OAI-12] is idempotent and does not change its input', () => {
    const schema = object({ a: { type: 'string' }, b: object({ c: { enum: ['x'] } }) });
    const before = structuredClone(schema);
    const strict = toStrictSchema(schema);

    expect(toStrictSchema(strict)).to.deep.equal(strict);
    expect(schema).to.deep.equal(before);
  });

  it('[D26] removes formats and patterns that strict mode rejects', () => {
    const property = (more: object): unknown =>
      toStrictSchema(object({ a: { type: 'string', ...more } }, { required: ['a'] }));

    expect(property({ format: 'uri', pattern: '^(?!x)' })).to.deep.equal(property({}));
    expect(property({ format: 'date', pattern: '^x' })).to.deep.equal(
      closed({ a: { type: 'string', format: 'date', pattern: '^x' } }, ['a']),
    );
  });
});

describe('isStrictSchema', () => {
  const text = { type: 'string' };

  for (const [what, schema] of Object.entries({
    'optional properties': object({ a: text, b: { enum: [1] } }, { required: ['a'] }),
    'lists, alternatives and references': object(
      {
        list: { type: 'array', items: { $ref: '#/$defs/a' }, minItems: 1 },
        either: { oneOf: [text, { type: 'null' }] },
      },
      { $defs: { a: object({ at: { type: 'string', format: 'date-time' } }) } },
    ),
  }))
    it(`[D26] accepts ${what}`, () => {
      expect(isStrictSchema(schema)).to.equal(true);
    });

  for (const [what, schema] of Object.entries({
    'a list at the root': { type: 'array', items: text },
    'alternatives at the root': { type: 'object', properties: {}, anyOf: [object({})] },
    'a map': { type: 'object', additionalProperties: text },
    'an open object': object({}, { additionalProperties: {} }),
    'a property without a type': object({ a: {} }),
    'a property that is any value': object({ a: true }),
    'a tuple': object({ a: { type: 'array', prefixItems: [text] } }),
    'a list of anything': object({ a: { type: 'array' } }),
    'an unknown keyword': object({ a: { ...text, not: { const: '' } } }),
    'such a part in a definition': object({}, { $defs: { a: { allOf: [] } } }),
  }))
    it(`[D26] rejects ${what}`, () => {
      expect(isStrictSchema(schema)).to.equal(false);
    });
});
