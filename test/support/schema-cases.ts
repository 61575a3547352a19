import { expect } from 'chai';
import type { JsonSchema } from '../../src/core/chat/tool-definition.js';
import { ToolDefinitionError } from '../../src/core/errors/errors.js';

/** Cases by title: a given schema and what is expected of it. */
export type SchemaCases = Readonly<Record<string, readonly [given: unknown, expected: unknown]>>;

/** Runs something that must throw a ToolDefinitionError, and returns the error. */
export function definitionError(act: () => unknown): ToolDefinitionError {
  try {
    act();
  } catch (error) {
    expect(error).to.be.instanceOf(ToolDefinitionError);
    return error as ToolDefinitionError;
  }
  throw new Error('nothing was thrown');
}

export const objectSchema = (properties: unknown, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
});

const text = { type: 'string' };

/** Legal schemas that normalizing leaves unchanged. */
export const unchangedSchemas: Readonly<Record<string, JsonSchema>> = {
  nothing: objectSchema({}),
  'limits and descriptions': objectSchema(
    {
      a: {
        type: 'string',
        minLength: 1,
        pattern: '^a',
        format: 'date',
        description: 'x',
        default: 'a',
      },
    },
    { required: ['a'] },
  ),
  'open and closed objects': objectSchema({
    a: objectSchema({}, { additionalProperties: false }),
    b: { type: 'object', additionalProperties: text },
  }),
  'a tuple': objectSchema({
    a: { type: 'array', prefixItems: [text], items: false, uniqueItems: true },
  }),
  'alternatives that name what is required': objectSchema(
    { a: text, b: text },
    { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
  ),
  'parts that name what other parts have': objectSchema(
    { a: text, b: text },
    {
      anyOf: [objectSchema({ a: text }, { required: ['a', 'b'] })],
      $defs: { c: objectSchema({ c: text }, { required: ['c', 'd'] }) },
    },
  ),
  'keywords in pairs': objectSchema({
    a: { if: { type: 'string' }, then: { minLength: 1 }, else: {}, not: { const: 0 } },
  }),
  'dependent keywords': objectSchema(
    { a: text },
    {
      dependentRequired: { a: ['b'] },
      dependentSchemas: { a: { minProperties: 1 } },
      propertyNames: { maxLength: 9 },
    },
  ),
  references: objectSchema(
    { a: { $ref: '#/$defs/a' } },
    { $defs: { a: objectSchema({ next: { $ref: '#/$defs/a' } }) } },
  ),
  'a reference to the root': objectSchema({ a: { $ref: '#' } }),
  'a reference to a property': objectSchema({
    a: text,
    b: { $ref: '#/properties/a', description: 'x' },
  }),
  'a name with odd characters': objectSchema(
    { a: { $ref: '#/$defs/List%3Ca~1b%20%25%3E' } },
    { $defs: { 'List<a/b %>': text } },
  ),
  'properties with names of keywords': objectSchema({
    type: text,
    properties: text,
    required: { type: 'boolean' },
    $ref: text,
    enum: text,
    nullable: text,
    id: text,
    constructor: text,
  }),
  'keywords of others': objectSchema({
    a: { type: 'string', 'x-order': 1, example: { type: 'dict' } },
  }),
  'true and false': objectSchema({ a: true, b: false }),
};
