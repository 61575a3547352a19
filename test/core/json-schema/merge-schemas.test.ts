import { expect } from 'chai';
import { z } from 'zod';
import { ToolDefinitionError } from '../../../src/core/errors/tool-errors.js';
import { augmentSchema } from '../../../src/core/json-schema/index.js';

describe('augmentSchema', () => {
  const city = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  } as const;

  it('[D68] adds the properties of a schema to another one', () => {
    const schema = augmentSchema(city, {
      type: 'object',
      properties: { reason: { type: 'string', description: 'Why.' }, level: { type: 'integer' } },
      required: ['reason'],
    });

    expect(schema).to.deep.equal({
      type: 'object',
      properties: {
        city: { type: 'string' },
        reason: { type: 'string', description: 'Why.' },
        level: { type: 'integer' },
      },
      required: ['city', 'reason'],
    });
  });

  it('[D68] takes schemas of any form, and keeps the definitions of both apart', () => {
    const definitions = { $defs: { a: { type: 'number' } } };
    const own = { ...city, ...definitions, properties: { city: { $ref: '#/$defs/a' } } };
    const text = JSON.stringify({
      type: 'object',
      properties: { size: { $ref: '#/$defs/a' } },
      $defs: { a: { type: 'string' } },
    });
    const merged = augmentSchema(augmentSchema(own, z.object({ reason: z.string() })), text);

    expect(Object.keys(merged['properties'] as object)).to.deep.equal(['city', 'reason', 'size']);
    expect(Object.values(merged['$defs'] as object)).to.deep.equal([
      { type: 'number' },
      { type: 'string' },
    ]);
    expect(merged['properties']).to.have.property('size').that.not.deep.equals({
      $ref: '#/$defs/a',
    });
  });

  it('[D68] rejects two properties of one name, and what is no object', () => {
    expect(() => augmentSchema(city, city, 'weather')).to.throw(
      ToolDefinitionError,
      'augmentSchema: the tool "weather" has an argument "city" of its own',
    );
    expect(() => augmentSchema(city, { type: 'string' })).to.throw(ToolDefinitionError);
  });
});
