import { expect } from 'chai';
import { isEnforced, toGoogleSchema } from '../../../src/models/google/schema.js';
import type { JsonSchema } from '../../../src/core/chat/tool-definition.js';

const object = (part: unknown): JsonSchema => ({ type: 'object', properties: { part } });

describe('schemas for Google', () => {
  it('have an enum in place of const, at every depth, and properties with the names of keywords', () => {
    const schema: JsonSchema = {
      $schema: 's',
      type: 'object',
      properties: { const: { const: 'a' }, list: { items: { anyOf: [{ const: 1 }] } } },
      $defs: { d: { const: 'b', description: 'b' } },
      default: { const: 'data' },
    };

    expect(toGoogleSchema(schema)).to.deep.equal({
      type: 'object',
      properties: { const: { enum: ['a'] }, list: { items: { anyOf: [{ enum: [1] }] } } },
      $defs: { d: { enum: ['b'], description: 'b' } },
      default: { const: 'data' },
    });
  });

  const enforced: readonly (readonly [title: string, schema: JsonSchema, isEnforced: boolean])[] = [
    ['an object', object({ type: ['string', 'null'], description: 'd' }), true],
    ['a list with bounds', object({ type: 'array', items: { type: 'number' }, minItems: 1 }), true],
    ['alternatives', object({ anyOf: [{ const: 'a' }, { $ref: '#/$defs/b' }] }), true],
    ['a closed object', { ...object({}), additionalProperties: false }, true],
    ['another root', { type: 'array', items: { type: 'string' } }, false],
    ['a pattern', object({ type: 'string', pattern: '^a' }), false],
    ['a keyword in a definition', { type: 'object', $defs: { a: { not: {} } } }, false],
    ['an enum of other values', object({ enum: [true] }), false],
    ['no schema', object('string'), false],
  ];
  for (const [title, schema, expected] of enforced)
    it(`are ${expected ? '' : 'not '}enforced: ${title}`, () => {
      expect(isEnforced(schema)).to.equal(expected);
    });
});
