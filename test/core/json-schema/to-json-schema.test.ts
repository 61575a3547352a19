import { expect } from 'chai';
import { z } from 'zod';
import type { JsonSchema } from '../../../src/core/chat/tool-definition.js';
import { normalizeSchema } from '../../../src/core/json-schema/normalize/normalize-schema.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import { definitionError, objectSchema, unchangedSchemas } from '../../support/schema-cases.js';

const text = { type: 'string' };

describe('toToolSchema of JSON Schema', () => {
  const define = (input: JsonSchema): JsonSchema =>
    defineTool({ name: 'my_tool', input, execute: () => 'x' }).definition.inputSchema;

  for (const [what, schema] of Object.entries({
    ...unchangedSchemas,
    'an array without items': objectSchema({ a: { type: 'array' } }),
    'an unknown required property': objectSchema({}, { required: ['a'] }),
    'a default that does not fit': objectSchema({ a: { type: 'string', default: 1 } }),
    'older definitions': objectSchema(
      { a: { $ref: '#/definitions/a' } },
      { definitions: { a: text } },
    ),
    'a keyword that JSON Schema does not know': objectSchema({
      a: { type: 'string', nullable: true },
    }),
  }))
    it(`leaves ${what} unchanged`, () => {
      expect(define(schema)).to.deep.equal(schema);
    });

  it('rejects schemas that are not JSON Schema, with the paths and a hint', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'float' },
        b: { exclusiveMinimum: true },
        c: { description: 1 },
        d: { type: 'dict' },
      },
    };

    expect(definitionError(() => define(schema)).message).to.equal(
      'tool "my_tool": its schema is not JSON Schema (2020-12) at #/properties/a/type: "float" is not a type of JSON Schema; ' +
        '#/properties/b/exclusiveMinimum: true is not a number; #/properties/c/description: it must be a string, not 1, and 1 more. ' +
        'normalizeSchema(schema, name).schema normalizes it, and `changes` lists the changes',
    );
    expect(define(normalizeSchema(schema, 'my_tool').schema)).to.have.property('type', 'object');
  });

  for (const schema of [
    { type: 'dict' },
    { type: ['object', 'null'] },
    { anyOf: [objectSchema({ a: text })] },
  ])
    it(`hints at normalizeSchema for the root ${JSON.stringify(schema)}`, () => {
      expect(definitionError(() => define(schema)).message).to.include(
        'normalizeSchema(schema, name).schema normalizes it',
      );
      expect(define(normalizeSchema(schema, 'my_tool').schema)).to.have.property('type', 'object');
    });

  it('gives no hint where normalizing fails as well', () => {
    expect(definitionError(() => define({ type: 'string' })).message).to.not.include(
      'normalizeSchema',
    );
    expect(definitionError(() => define({ type: 'Quaternion' })).message).to.not.include(
      'normalizeSchema',
    );
  });

  it('checks `inputSchema` too', () => {
    const options = {
      name: 'my_tool',
      input: z.object({ a: z.number() }),
      inputSchema: objectSchema({ a: { type: 'float' } }),
      execute: () => 'x',
    };

    expect(definitionError(() => defineTool(options)).message).to.include('#/properties/a/type');
  });
});
