import { expect } from 'chai';
import type { JsonSchema } from '../../../src/index.js';
import { isEnforceable, toEnforced } from '../../../src/models/anthropic/enforced-schema.js';

const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
});
const many = (count: number, schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, schema]));

describe('toEnforced', () => {
  it('closes objects wherever they are, and keeps optional properties optional', () => {
    const inner = { type: 'object', properties: { a: { type: 'string' } } };
    const closed = { ...inner, additionalProperties: false };

    expect(
      toEnforced({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        ...object({ list: { type: 'array', items: inner }, one: { oneOf: [inner, { type: 'null' }] } }),
        $defs: { inner },
      }),
    ).to.deep.equal({
      ...object({ list: { type: 'array', items: closed }, one: { anyOf: [closed, { type: 'null' }] } }),
      additionalProperties: false,
      $defs: { inner: closed },
    });
  }); // prettier-ignore

  it('moves limits that the API rejects to the description', () => {
    expect(
      toEnforced(
        object({
          a: { type: 'integer', minimum: 1, maximum: 9, description: 'A count.' },
          b: { type: 'array', items: { type: 'string', maxLength: 3 }, minItems: 1 },
          c: { type: 'array', items: { type: 'string' }, minItems: 2 },
          d: { type: 'string', format: 'date' },
          e: { type: 'string', format: 'iban', pattern: '^[A-Z]+$' },
          f: { type: 'string', pattern: '(?=a)' },
        }),
      )['properties'],
    ).to.deep.equal({
      a: { type: 'integer', description: 'A count. — minimum: 1, maximum: 9' },
      b: { type: 'array', items: { type: 'string', description: 'maxLength: 3' }, minItems: 1 },
      c: { type: 'array', items: { type: 'string' }, description: 'minItems: 2' },
      d: { type: 'string', format: 'date' },
      e: { type: 'string', pattern: '^[A-Z]+$', description: 'format: "iban"' },
      f: { type: 'string', description: 'pattern: "(?=a)"' },
    });
  });

  it('leaves data and properties with the names of keywords alone', () => {
    const schema = object(
      {
        format: { type: 'string' },
        minimum: { enum: [{ minimum: 1 }] },
        properties: { type: 'string', default: { maximum: 2 } },
      },
      { additionalProperties: false },
    );

    expect(toEnforced(schema)).to.deep.equal(schema);
  });
});

describe('isEnforceable', () => {
  const string = { type: 'string' };
  const accepted: Readonly<Record<string, JsonSchema>> = {
    'an object': object({ a: string }),
    'an object without properties': object({}),
    'limits, which the caller checks': object({ a: { type: 'integer', minimum: 1 } }),
    'unions and constants': object({ a: { anyOf: [string, { const: 1 }] }, b: { enum: [1, null] } }),
    'definitions that are used twice': {
      ...object({ a: { $ref: '#/$defs/x' }, b: { $ref: '#/$defs/x' } }),
      $defs: { x: object({ y: { $ref: '#/$defs/z' } }), z: string },
    },
    '24 optional properties': { type: 'object', properties: many(24, string) },
    '16 unions': object(many(16, { type: ['string', 'null'] })),
  }; // prettier-ignore
  for (const [title, schema] of Object.entries(accepted))
    it(`accepts ${title}`, () => {
      expect(isEnforceable(schema)).to.equal(true);
    });

  const rejected: Readonly<Record<string, JsonSchema>> = {
    'another type than an object': { type: 'array', items: string },
    'an object with any properties': { type: 'object' },
    'an object open to others': object({ a: string }, { additionalProperties: string }),
    'an open object inside': object({ a: object({}, { additionalProperties: true }) }),
    'an array of anything': object({ a: { type: 'array' } }),
    'a value of any type': object({ a: {} }),
    'a schema that is true': object({ a: true }),
    'values that are objects': object({ a: { enum: [{}] } }),
    'unknown keywords': object({ a: { type: 'array', prefixItems: [string] } }),
    'a branch of any type': object({ a: { anyOf: [string, {}] } }),
    recursion: {
      ...object({ a: { $ref: '#/$defs/x' } }),
      $defs: { x: object({ y: { anyOf: [{ $ref: '#/$defs/x' }, { type: 'null' }] } }) },
    },
    'recursion to the root': object({ a: { $ref: '#' } }),
    'references elsewhere': object({ a: { $ref: 'https://x/y' } }),
    'references to nothing': object({ a: { $ref: '#/$defs/x' } }),
    '25 optional properties': { type: 'object', properties: many(25, string) },
    '17 unions': object(many(17, { type: ['string', 'null'] })),
  };
  for (const [title, schema] of Object.entries(rejected))
    it(`rejects ${title}`, () => {
      expect(isEnforceable(schema)).to.equal(false);
    });
});
