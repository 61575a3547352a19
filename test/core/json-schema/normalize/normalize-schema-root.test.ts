import { expect } from 'chai';
import { z } from 'zod';
import { normalizeSchema } from '../../../../src/core/json-schema/normalize/normalize-schema.js';
import { definitionError, objectSchema, type SchemaCases } from '../../../support/schema-cases.js';

const text = { type: 'string' };

describe('normalizeSchema, the root', () => {
  const roots: SchemaCases = {
    undefined: [undefined, objectSchema({})],
    null: [null, objectSchema({})],
    'an empty object': [{}, objectSchema({})],
    'a type alone': [{ type: 'object' }, objectSchema({})],
    'no type': [{ properties: { a: text } }, objectSchema({ a: text })],
    'no properties': [
      { type: 'object', additionalProperties: text },
      { type: 'object', additionalProperties: text, properties: {} },
    ],
    'a type that admits null': [
      { type: ['object', 'null'], properties: { a: text } },
      objectSchema({ a: text }),
    ],
    'nullable arguments': [{ ...objectSchema({}), nullable: true }, objectSchema({})],
    'nullable alternatives': [
      { type: 'any', allOf: [{ type: 'object' }], nullable: true },
      { type: 'object', allOf: [{ type: 'object' }], properties: {} },
    ],
    'a type that admits null, as the default does': [
      { type: ['object', 'null'], default: null, properties: { a: text } },
      objectSchema({ a: text }),
    ],
    alternatives: [
      { anyOf: [{ required: ['a'] }, objectSchema({ b: text })], properties: { a: text } },
      {
        type: 'object',
        anyOf: [{ required: ['a'] }, objectSchema({ b: text })],
        properties: { a: text },
      },
    ],
    'a reference to a definition': [
      { $ref: '#/definitions/a', definitions: { a: objectSchema({ b: { type: 'float' } }) } },
      objectSchema({ b: { type: 'number' } }),
    ],
    'an upper-case type': [
      { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
      objectSchema({ a: text }),
    ],
  };
  for (const [what, [given, expected]] of Object.entries(roots))
    it(`[TOL-43] makes an object with properties of ${what}`, () => {
      const { schema } = normalizeSchema(given, 'tool');

      expect(schema).to.deep.equal(expected);
      expect(normalizeSchema(schema, 'tool').changes).to.deep.equal([]);
    });

  for (const [what, given] of Object.entries<unknown>({
    'a string': 'dict',
    'an array': [],
    'a number': 1,
    'the value true': true,
    'the schema of a library': z.object({}),
    'the type string': { type: 'string' },
    'the type array': { type: 'Array', items: {} },
    'properties without their keyword': { city: text },
    'values that are not objects': { type: ['object', 'null'], enum: [null] },
    'alternatives that are not objects': { anyOf: [text, { type: 'array', items: {} }] },
  }))
    it(`[TOL-42] rejects ${what}`, () => {
      const error = definitionError(() => normalizeSchema(given, 'get_weather'));

      expect(error.toolName).to.equal('get_weather');
      expect(error.message).to.match(/^tool "get_weather": its schema cannot be used, at #/);
    });
});
