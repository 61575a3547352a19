import { expect } from 'chai';
import { z } from 'zod';
import type { JsonSchema } from '../../../src/core/chat/tool-definition.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import { normalizeSchema } from '../../../src/core/json-schema/normalize/normalize-schema.js';
import { jsonSchemaValidator, toValidator } from '../../../src/core/json-schema/validator.js';
import { runBatch } from '../../support/batch.js';
import { cpuTime } from '../../support/cpu-time.js';

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

  it('returns a valid value', () => {
    const value = {
      name: 'xy',
      count: 2,
      unit: 'c',
      point: { x: 1 },
      list: [1, 2],
      pair: [1, 2],
      either: 4,
    };

    expect(validate(value)).to.deep.equal({ value });
  });

  const wrong: Readonly<Record<string, readonly [value: object, issues: readonly string[]]>> = {
    'a missing property': [{}, ['the value: Instance does not have required property "name".']],
    'a wrong type': [{ name: 1 }, ['name: Instance type "number" is invalid. Expected "string".']],
    'a string that is too short': [{ name: 'x' }, ['name: String is too short (1 < 2).']],
    'an unknown property': [
      { name: 'xy', a: 1, b: 2 },
      ['a: is not allowed here', 'b: is not allowed here'],
    ],
    'a wrong value': [
      { name: 'xy', unit: 'k' },
      ['unit: Instance does not match any of ["c","f"].'],
    ],
    'a nested property': [
      { name: 'xy', point: { x: 'a' } },
      ['point.x: Instance type "string" is invalid. Expected "number".'],
    ],
    'an invalid item': [
      { name: 'xy', list: [1, 'a'] },
      ['list.1: Instance type "string" is invalid. Expected "number".'],
    ],
    'too many items of a tuple': [{ name: 'xy', pair: [1, 2, 3] }, ['pair.2: is not allowed here']],
    'a value outside of all alternatives': [
      { name: 'xy', either: true },
      [
        'either: Instance does not match any subschemas.',
        'either: Instance type "boolean" is invalid. Expected "string".',
        'either: Instance type "boolean" is invalid. Expected "number".',
      ],
    ],
  };
  for (const [what, [value, issues]] of Object.entries(wrong)) {
    it(`reports ${what} with its path`, () => {
      expect(validate(value)).to.deep.equal({ issues });
    });
  }

  it('reports all problems at once', () => {
    const { issues } = validate({ count: 0, list: ['a', 'b'] }) as { issues: readonly string[] };

    expect(issues.map((issue) => issue.split(':')[0])).to.deep.equal([
      'the value',
      'count',
      'list.0',
      'list.1',
    ]);
  });

  it('reports at most 8 problems', () => {
    const many = {
      name: 'xy',
      list: [],
      ...Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`p${at}`, at])),
    };

    expect((validate(many) as { issues: string[] }).issues).to.have.length(8);
  });

  it('[F85] accepts what only a hostile regular expression would reject', () => {
    const evil = '(a+)+$';
    const hostile = jsonSchemaValidator({
      type: 'object',
      properties: {
        a: { type: 'string', pattern: evil },
        o: { type: 'object', patternProperties: { [evil]: { type: 'number' } } },
      },
    });
    const text = `${'a'.repeat(50)}!`;

    expect(hostile({ a: text, o: { [text]: 'x' } })).to.have.property('value');
  });

  describe('[F85] never runs a regular expression of a schema', () => {
    const evil = '^(a+)+$';
    const text = `${'a'.repeat(60)}!`; // takes longer than the age of the universe
    const hostile: Readonly<Record<string, JsonSchema>> = {
      pattern: { properties: { x: { type: 'string', pattern: evil } } },
      patternProperties: { patternProperties: { [evil]: { type: 'string' } } },
      'patternProperties of a closed object': {
        patternProperties: { [evil]: {} },
        additionalProperties: false,
      },
      propertyNames: { propertyNames: { pattern: evil } },
      format: {
        properties: { x: { format: 'regex' }, y: { format: 'email' }, z: { format: 'idn-email' } },
      },
      items: { properties: { l: { items: { pattern: evil } } } },
      contains: { properties: { l: { contains: { pattern: evil } } } },
      anyOf: { properties: { x: { anyOf: [{ pattern: evil }, { type: 'number' }] } } },
      oneOf: { properties: { x: { oneOf: [{ type: 'string' }, { pattern: evil }] } } },
      not: { properties: { x: { not: { pattern: evil } } } },
      'if and then': { properties: { x: { if: { pattern: evil }, then: { type: 'number' } } } },
      $defs: { properties: { x: { $ref: '#/$defs/x' } }, $defs: { x: { pattern: evil } } },
      'not with a reference': {
        properties: { x: { not: { $ref: '#/$defs/x' } } },
        $defs: { x: { type: 'string', pattern: evil } },
      },
      'oneOf with references': {
        properties: { x: { oneOf: [{ $ref: '#/$defs/x' }, { type: 'string' }] } },
        $defs: { x: { type: 'string', pattern: evil } },
      },
      dependentSchemas: { dependentSchemas: { x: { properties: { x: { pattern: evil } } } } },
      dependencies: { dependencies: { x: { properties: { x: { pattern: evil } } } } },
      unevaluatedProperties: {
        allOf: [{ patternProperties: { [evil]: {} } }],
        unevaluatedProperties: false,
      },
      'a property named pattern': { properties: { pattern: { pattern: evil } } },
    };
    for (const [where, schema] of Object.entries(hostile))
      it(`in ${where}, and accepts the value`, () => {
        const value = { x: text, pattern: text, y: text, l: [text], [text]: text };
        const spent = cpuTime();

        expect(jsonSchemaValidator({ type: 'object', ...schema })(value)).to.deep.equal({ value });
        expect(spent()).to.be.lessThan(2_000);
      });

    it('when a tool is defined, normalized or called', async () => {
      const schema = {
        type: 'object',
        properties: { x: { type: 'string', pattern: evil, default: text } },
        patternProperties: { [evil]: {} },
      };
      const tool = defineTool({
        name: 'tool',
        input: normalizeSchema(schema, 'tool').schema,
        execute: ({ x }) => x,
      });
      const spent = cpuTime();

      const { contents } = await runBatch(
        [tool],
        [{ name: 'tool', args: { x: text, [text]: null } }],
      );

      expect(contents).to.deep.equal([text]);
      expect(spent()).to.be.lessThan(2_000);
    });
  });

  it('accepts a property that only a pattern allows', () => {
    const schema = {
      type: 'object',
      patternProperties: { '^x-': {} },
      additionalProperties: false,
    };

    expect(jsonSchemaValidator(schema)({ 'x-a': 1 })).to.have.property('value');
  });

  it('checks properties with the names of keywords', () => {
    const odd = {
      type: 'object',
      properties: { pattern: { type: 'number' }, format: { type: 'number' } },
      required: ['pattern'],
    };

    expect(jsonSchemaValidator(odd)({ pattern: 1, format: 'x' })).to.deep.equal({
      issues: ['format: Instance type "string" is invalid. Expected "number".'],
    });
  });

  it('checks constants that look like schemas', () => {
    const value = { pattern: '(' };

    expect(
      jsonSchemaValidator({
        type: 'object',
        properties: { a: { const: value }, b: { enum: [value] } },
      })({ a: value, b: value }),
    ).to.have.property('value');
    expect(
      jsonSchemaValidator({ type: 'object', properties: { a: { const: value } } })({ a: {} }),
    ).to.have.property('issues');
  });

  it('[F85] checks everything else of a schema with patterns', () => {
    const withNames = jsonSchemaValidator({
      properties: { a: { type: 'number' } },
      patternProperties: { '^x-': {} },
    });
    const closed = { properties: { a: { pattern: 'a' } } };

    expect(withNames({ a: 'b' })).to.have.property('issues');
    for (const keyword of ['additionalProperties', 'unevaluatedProperties'])
      expect(jsonSchemaValidator({ ...closed, [keyword]: false })({ b: 1 })).to.have.property(
        'issues',
      );
  });

  it('does not change the schema', () => {
    const before = structuredClone(schema);

    validate({ name: 1 });

    expect(schema).to.deep.equal(before);
  });

  it('[F85] accepts values under not, if and oneOf when a pattern below is skipped', () => {
    const dates = {
      oneOf: [
        { type: 'string', format: 'date' },
        { type: 'string', format: 'date-time' },
      ],
    };
    const safe = { type: 'string', not: { pattern: '\\.\\.' } };
    const either = {
      type: 'object',
      if: { properties: { url: { pattern: '^http' } } },
      then: { required: ['token'] },
    };

    expect(jsonSchemaValidator(dates)('2025-01-01')).to.deep.equal({ value: '2025-01-01' });
    expect(jsonSchemaValidator(dates)(5)).to.have.property('issues');
    expect(jsonSchemaValidator(safe)('ok')).to.deep.equal({ value: 'ok' });
    expect(jsonSchemaValidator(either)({ url: 'ok' })).to.deep.equal({ value: { url: 'ok' } });
    expect(jsonSchemaValidator({ not: { type: 'string' } })('x')).to.have.property('issues');
  });
});

describe('toValidator', () => {
  const standard = z.object({
    size: z.string().transform(Number),
    list: z.array(z.object({ id: z.number() })).default([]),
  });

  it('checks by a Standard Schema, with its defaults and transforms', async () => {
    const validate = toValidator(standard, { type: 'string' });

    expect(await validate({ size: '7' })).to.deep.equal({ value: { size: 7, list: [] } });
  });

  it('reports the problems of a Standard Schema with their paths', async () => {
    const validate = toValidator(standard, {});

    const { issues } = (await validate({ size: 7, list: [{ id: 'a' }] })) as {
      readonly issues: readonly string[];
    };

    expect(issues.map((issue) => issue.split(':')[0])).to.deep.equal(['size', 'list.0.id']);
    expect(await validate(7)).to.deep.equal({
      issues: ['the value: Invalid input: expected object, received number'],
    });
  });

  it('takes paths of objects with a key', async () => {
    const problem = { message: 'no', path: [{ key: 'a' }, 0] };
    const schema = {
      '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [problem, { message: 'no' }] }) },
    } as const; // prettier-ignore

    expect(await toValidator(schema, {})(1)).to.deep.equal({
      issues: ['a.0: no', 'the value: no'],
    });
  });

  it('reports at most 8 problems of a Standard Schema', async () => {
    const list = Array.from({ length: 20 }, () => ({ id: 'a' }));

    expect(await toValidator(standard, {})({ size: '7', list }))
      .to.have.property('issues')
      .with.length(8);
  });

  it('checks by the JSON Schema of what cannot check itself', async () => {
    const validate = toValidator({ type: 'string' }, { type: 'number' });

    expect(await validate(7)).to.deep.equal({ value: 7 });
    expect(await validate('x')).to.have.property('issues');
  });
});
