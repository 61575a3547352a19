import { expect } from 'chai';
import type { JsonSchema } from '../../src/chat/tool-definition.js';
import { defineTool } from '../../src/tool/define-tool.js';
import { normalizeSchema } from '../../src/tool/schema/normalize-schema.js';
import { jsonSchemaValidator } from '../../src/tool/schema/validation.js';
import { runBatch } from './batch.js';

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2 },
    count: { type: 'integer', minimum: 1 },
    unit: { enum: ['c', 'f'] },
    point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
    list: { type: 'array', items: { type: 'number' }, maxItems: 2 },
    pair: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], items: false },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
  required: ['name'],
  additionalProperties: false,
};

describe('jsonSchemaValidator', () => {
  const validate = jsonSchemaValidator(schema);

  it('gives the value where it fits', () => {
    const value = { name: 'xy', count: 2, unit: 'c', point: { x: 1 }, list: [1, 2], pair: [1, 2], either: 4 };

    expect(validate(value)).to.deep.equal({ value });
  });

  const wrong: Readonly<Record<string, readonly [value: object, issues: readonly string[]]>> = {
    'a missing property': [{}, ['the arguments: Instance does not have required property "name".']],
    'a wrong type': [{ name: 1 }, ['name: Instance type "number" is invalid. Expected "string".']],
    'a text that is too short': [{ name: 'x' }, ['name: String is too short (1 < 2).']],
    'an unknown property': [{ name: 'xy', a: 1, b: 2 }, ['a: is not allowed here', 'b: is not allowed here']],
    'a wrong value': [{ name: 'xy', unit: 'k' }, ['unit: Instance does not match any of ["c","f"].']],
    'a property deep inside': [{ name: 'xy', point: { x: 'a' } }, ['point.x: Instance type "string" is invalid. Expected "number".']],
    'an item': [{ name: 'xy', list: [1, 'a'] }, ['list.1: Instance type "string" is invalid. Expected "number".']],
    'too many items of a tuple': [{ name: 'xy', pair: [1, 2, 3] }, ['pair.2: is not allowed here']],
    'no alternative': [
      { name: 'xy', either: true },
      [
        'either: Instance does not match any subschemas.',
        'either: Instance type "boolean" is invalid. Expected "string".',
        'either: Instance type "boolean" is invalid. Expected "number".',
      ],
    ],
  };
  for (const [what, [value, issues]] of Object.entries(wrong)) {
    it(`names the place of ${what} and nothing else`, () => {
      expect(validate(value)).to.deep.equal({ issues });
    });
  }

  it('names all problems at once', () => {
    const { issues } = validate({ count: 0, list: ['a', 'b'] }) as { issues: readonly string[] };

    expect(issues.map((issue) => issue.split(':')[0])).to.deep.equal(['the arguments', 'count', 'list.0', 'list.1']);
  });

  it('names at most 8 problems', () => {
    const many = { name: 'xy', list: [], ...Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`p${at}`, at])) };

    expect((validate(many) as { issues: string[] }).issues).to.have.length(8);
  });

  it('[F85] does not run the regular expressions of a foreign schema', () => {
    const evil = '(a+)+$';
    const hostile = jsonSchemaValidator({
      type: 'object',
      properties: { a: { type: 'string', pattern: evil }, o: { type: 'object', patternProperties: { [evil]: { type: 'number' } } } },
    });
    const text = `${'a'.repeat(50)}!`;

    expect(hostile({ a: text, o: { [text]: 'x' } })).to.have.property('value');
  });

  describe('[F85] does not run regular expressions of foreign schemas', () => {
    const evil = '^(a+)+$';
    const text = `${'a'.repeat(60)}!`; // takes longer than the universe has been there
    const hostile: Readonly<Record<string, JsonSchema>> = {
      pattern: { properties: { x: { type: 'string', pattern: evil } } },
      patternProperties: { patternProperties: { [evil]: { type: 'string' } } },
      'patternProperties of a closed object': { patternProperties: { [evil]: {} }, additionalProperties: false },
      propertyNames: { propertyNames: { pattern: evil } },
      format: { properties: { x: { format: 'regex' }, y: { format: 'email' }, z: { format: 'idn-email' } } },
      items: { properties: { l: { items: { pattern: evil } } } },
      contains: { properties: { l: { contains: { pattern: evil } } } },
      anyOf: { properties: { x: { anyOf: [{ pattern: evil }, { type: 'number' }] } } },
      oneOf: { properties: { x: { oneOf: [{ type: 'string' }, { pattern: evil }] } } },
      not: { properties: { x: { not: { pattern: evil } } } },
      'if and then': { properties: { x: { if: { pattern: evil }, then: { type: 'number' } } } },
      $defs: { properties: { x: { $ref: '#/$defs/x' } }, $defs: { x: { pattern: evil } } },
      'not with a reference': { properties: { x: { not: { $ref: '#/$defs/x' } } }, $defs: { x: { type: 'string', pattern: evil } } },
      'oneOf with references': {
        properties: { x: { oneOf: [{ $ref: '#/$defs/x' }, { type: 'string' }] } },
        $defs: { x: { type: 'string', pattern: evil } },
      },
      dependentSchemas: { dependentSchemas: { x: { properties: { x: { pattern: evil } } } } },
      dependencies: { dependencies: { x: { properties: { x: { pattern: evil } } } } },
      unevaluatedProperties: { allOf: [{ patternProperties: { [evil]: {} } }], unevaluatedProperties: false },
      'a property named pattern': { properties: { pattern: { pattern: evil } } },
    };
    for (const [where, schema] of Object.entries(hostile))
      it(`in ${where}, and does not refuse because of them`, () => {
        const value = { x: text, pattern: text, y: text, l: [text], [text]: text };
        const start = performance.now();

        expect(jsonSchemaValidator({ type: 'object', ...schema })(value)).to.deep.equal({ value });
        expect(performance.now() - start).to.be.lessThan(2_000);
      });

    it('when a tool is defined, mended or called', async () => {
      const schema = {
        type: 'object',
        properties: { x: { type: 'string', pattern: evil, default: text } },
        patternProperties: { [evil]: {} },
      };
      const tool = defineTool({ name: 'tool', input: normalizeSchema(schema, 'tool').schema, execute: ({ x }) => x });
      const start = performance.now();

      const { contents } = await runBatch([tool], [{ name: 'tool', args: { x: text, [text]: null } }]);

      expect(contents).to.deep.equal([text]);
      expect(performance.now() - start).to.be.lessThan(2_000);
    });
  });

  it('does not refuse what only a pattern allows, since patterns are not looked at', () => {
    const schema = { type: 'object', patternProperties: { '^x-': {} }, additionalProperties: false };

    expect(jsonSchemaValidator(schema)({ 'x-a': 1 })).to.have.property('value');
  });

  it('takes properties that have names of keywords for properties', () => {
    const odd = { type: 'object', properties: { pattern: { type: 'number' }, format: { type: 'number' } }, required: ['pattern'] };

    expect(jsonSchemaValidator(odd)({ pattern: 1, format: 'x' })).to.deep.equal({
      issues: ['format: Instance type "string" is invalid. Expected "number".'],
    });
  });

  it('takes values that look like schemas for values', () => {
    const value = { pattern: '(' };

    expect(
      jsonSchemaValidator({ type: 'object', properties: { a: { const: value }, b: { enum: [value] } } })({ a: value, b: value }),
    ).to.have.property('value');
    expect(jsonSchemaValidator({ type: 'object', properties: { a: { const: value } } })({ a: {} })).to.have.property('issues');
  });

  it('leaves the schema as it was', () => {
    const before = structuredClone(schema);

    validate({ name: 1 });

    expect(schema).to.deep.equal(before);
  });
});
