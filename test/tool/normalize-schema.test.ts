import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { z } from 'zod';
import type { JsonSchema } from '../../src/chat/tool-definition.js';
import { InvalidArgumentError, ToolDefinitionError } from '../../src/errors.js';
import { compatibilityReport, type PublishedTool } from '../../src/tool/schema/compatibility-report.js';
import { defineTool } from '../../src/tool/define-tool.js';
import { normalizeSchema } from '../../src/tool/schema/normalize-schema.js';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

function refusal(act: () => unknown): ToolDefinitionError {
  try {
    act();
  } catch (error) {
    expect(error).to.be.instanceOf(ToolDefinitionError);
    return error as ToolDefinitionError;
  }
  throw new Error('it was not refused');
}

const object = (properties: unknown, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more });
const noArguments = object({});
const text = { type: 'string' };

/** What becomes of a property `a`. */
function property(schema: unknown): unknown {
  return (normalizeSchema(object({ a: schema }), 'tool').schema['properties'] as JsonSchema)['a'];
}

type Cases = Readonly<Record<string, readonly [given: unknown, expected: unknown]>>;

const properties: Readonly<Record<string, Cases>> = {
  'type names of other languages': {
    dict: [{ type: 'dict' }, { type: 'object' }],
    float: [{ type: 'float' }, { type: 'number' }],
    tuple: [
      { type: 'tuple', items: { type: 'float' } },
      { type: 'array', items: { type: 'number' } },
    ],
    any: [{ type: 'any', description: 'x' }, { description: 'x' }],
    'a blank type': [{ type: '' }, {}],
    String: [{ type: 'String' }, text],
    'upper-case names': [{ type: 'STRING' }, text],
    'java.lang.String': [{ type: 'java.lang.String' }, text],
    'ArrayList of long': [
      { type: 'ArrayList', items: { type: 'long' } },
      { type: 'array', items: { type: 'integer' } },
    ],
    HashMap: [{ type: 'HashMap' }, { type: 'object' }],
    'Array without items': [{ type: 'Array' }, { type: 'array', items: {} }],
    Boolean: [{ type: 'Boolean' }, { type: 'boolean' }],
    char: [{ type: 'char' }, text],
    byte: [{ type: 'byte' }, { type: 'integer' }],
    double: [{ type: 'double' }, { type: 'number' }],
    'List<String>': [{ type: 'List<String>' }, { type: 'array', items: text }],
    'int[]': [{ type: 'int[]' }, { type: 'array', items: { type: 'integer' } }],
    'Map<String, List<Integer>>': [
      { type: 'Map<String, List<Integer>>' },
      { type: 'object', additionalProperties: { type: 'array', items: { type: 'integer' } } },
    ],
    'str | None': [{ type: 'str | None' }, { type: ['string', 'null'] }],
    'string or integer': [{ type: 'string or integer' }, { type: ['string', 'integer'] }],
    'Optional[list[int]]': [{ type: 'Optional[list[int]]' }, { anyOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'null' }] }],
    'string?': [{ type: 'string?' }, { type: ['string', 'null'] }],
    'a list of words': [{ type: ['str', 'int'] }, { type: ['string', 'integer'] }],
    'a list with a repeat': [{ type: ['string', 'string'] }, text],
    'a type in place of a schema': ['float', { type: 'number' }],
    'a type in place of items': [
      { type: 'array', items: 'string' },
      { type: 'array', items: text },
    ],
    'no type where there are values': [{ type: 'enum', enum: ['a'] }, { enum: ['a'] }],
  },
  'words of OpenAPI and of older drafts': {
    nullable: [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
    'nullable: false': [{ type: 'string', nullable: false }, text],
    'nullable with values': [
      { type: 'string', enum: ['a'], nullable: true },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    'nullable with a constant': [{ const: 1, nullable: true }, { enum: [1, null] }],
    'nullable alternatives': [{ anyOf: [text], nullable: true }, { anyOf: [text, { type: 'null' }] }],
    'nullable alternatives without types': [
      { oneOf: [{ enum: ['a'] }, { const: 'b' }], nullable: true },
      { oneOf: [{ enum: ['a'] }, { const: 'b' }, { type: 'null' }] },
    ],
    'nullable alternatives that take null already': [
      { anyOf: [{ enum: ['a', null] }, text], nullable: true },
      { anyOf: [{ enum: ['a', null] }, text] },
    ],
    'nullable parts': [
      { description: 'x', allOf: [text], nullable: true },
      { description: 'x', anyOf: [{ allOf: [text] }, { type: 'null' }] },
    ],
    'exclusiveMinimum: true': [
      { type: 'number', minimum: 0, exclusiveMinimum: true },
      { type: 'number', exclusiveMinimum: 0 },
    ],
    'exclusiveMaximum: false': [
      { type: 'number', maximum: 9, exclusiveMaximum: false },
      { type: 'number', maximum: 9 },
    ],
    'exclusiveMinimum: true without a minimum': [{ exclusiveMinimum: true }, {}],
    'id and $schema': [{ id: 'x', $id: 'y', $schema: 'http://json-schema.org/draft-04/schema#', ...text }, text],
    'items as an array': [
      { type: 'array', items: [text, { type: 'int' }] },
      { type: 'array', prefixItems: [text, { type: 'integer' }], items: {} },
    ],
    'items as an array, and additionalItems': [
      { type: 'array', items: [text], additionalItems: false },
      { type: 'array', prefixItems: [text], items: false },
    ],
    'additionalItems alone': [
      { type: 'array', items: text, additionalItems: false },
      { type: 'array', items: text },
    ],
    dependencies: [
      object({}, { dependencies: { b: ['c'], d: text } }),
      object({}, { dependentRequired: { b: ['c'] }, dependentSchemas: { d: text } }),
    ],
    'required: true': [object({ b: { type: 'string', required: true } }), object({ b: text }, { required: ['b'] })],
    'required: "true" beside a list': [
      object({ b: { type: 'string', required: 'true' }, c: text }, { required: ['c'] }),
      object({ b: text, c: text }, { required: ['c', 'b'] }),
    ],
    'required: false': [object({ b: { type: 'string', required: false } }), object({ b: text })],
    optional: [object({ b: { type: 'string', optional: true } }, { optional: ['b'] }), object({ b: text })],
    'optional: false': [object({ b: { type: 'string', optional: false } }), object({ b: text }, { required: ['b'] })],
  },
  'values of the wrong kind': {
    'limits as texts': [
      { type: 'string', minLength: '2', maxLength: '3.7' },
      { type: 'string', minLength: 2, maxLength: 3 },
    ],
    'numbers as texts': [
      { type: 'number', minimum: '-1.5', maximum: 'many' },
      { type: 'number', minimum: -1.5 },
    ],
    'negative lengths': [{ type: 'string', minLength: -1 }, text],
    'multipleOf of 0': [{ type: 'number', multipleOf: 0 }, { type: 'number' }],
    'a description that is a number': [
      { type: 'string', description: 5 },
      { type: 'string', description: '5' },
    ],
    'a description in lines': [{ description: ['a', 'b'] }, { description: 'a b' }],
    'a description that is an object': [{ description: { en: 'a' } }, {}],
    'flags as texts': [
      { type: 'array', items: text, uniqueItems: 'true' },
      { type: 'array', items: text, uniqueItems: true },
    ],
    'additionalProperties as a text': [object({}, { additionalProperties: 'false' }), object({}, { additionalProperties: false })],
    'nulls in place of nothing': [{ type: 'string', description: null, minLength: null, enum: null, items: null, $ref: null }, text],
    'required as a text': [object({ b: text }, { required: 'b' }), object({ b: text }, { required: ['b'] })],
    'required as an empty object': [object({ b: text }, { required: {} }), object({ b: text }, { required: [] })],
    'repeats in required': [object({ b: text }, { required: ['b', 'b', 4] }), object({ b: text }, { required: ['b'] })],
    'required properties that there are not': [object({ b: text }, { required: ['b', 'c'] }), object({ b: text }, { required: ['b'] })],
    'properties as an empty array': [{ type: 'object', properties: [] }, object({})],
    'properties as a list': [
      { type: 'object', properties: [{ name: 'b', type: 'str', required: true }, { name: 'c' }] },
      object({ b: text, c: {} }, { required: ['b'] }),
    ],
    'alternatives that are no array': [{ anyOf: text }, { anyOf: [text] }],
    'no alternatives': [{ type: 'string', anyOf: [] }, text],
    'one value as enum': [{ enum: 'x' }, { enum: ['x'] }],
    'repeats in enum': [{ enum: ['x', 'y', 'x', { a: 1, b: 2 }, { b: 2, a: 1 }] }, { enum: ['x', 'y', { a: 1, b: 2 }] }],
    'an empty enum': [{ type: 'string', enum: [] }, text],
    'values as texts': [
      { type: 'integer', enum: ['1', '2'] },
      { type: 'integer', enum: [1, 2] },
    ],
    'values that are all of another type': [
      { type: 'boolean', enum: ['True', 'dontcare'] },
      { type: 'string', enum: ['True', 'dontcare'] },
    ],
    'values of the items': [
      { type: 'array', items: text, enum: ['a', 'b'] },
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
    ],
    'a default of another type': [{ type: 'integer', default: '3' }, { type: 'integer' }],
    'a default that is not among the values': [{ enum: ['a', 'b'], default: 'c' }, { enum: ['a', 'b'] }],
    'a default deep inside': [object({ b: text }, { default: { b: 1 } }), object({ b: text })],
    'a pattern of another language': [{ type: 'string', pattern: '(?P<a>x)' }, text],
    'a pattern of names of another language': [
      object({}, { patternProperties: { '(?i)x': text, '^y': text } }),
      object({}, { patternProperties: { '^y': text } }),
    ],
    'the name __proto__': [
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"b":{"type":"string"}}}'),
      object({ b: text }),
    ],
  },
};

/** Legal schemas, which stay as they are. */
const untouched: Readonly<Record<string, JsonSchema>> = {
  nothing: noArguments,
  'limits and descriptions': object(
    { a: { type: 'string', minLength: 1, pattern: '^a', format: 'date', description: 'x', default: 'a' } },
    { required: ['a'] },
  ),
  'open and closed objects': object({ a: object({}, { additionalProperties: false }), b: { type: 'object', additionalProperties: text } }),
  'a tuple': object({ a: { type: 'array', prefixItems: [text], items: false, uniqueItems: true } }),
  'alternatives that name what is required': object({ a: text, b: text }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
  'parts that name what other parts have': object(
    { a: text, b: text },
    { anyOf: [object({ a: text }, { required: ['a', 'b'] })], $defs: { c: object({ c: text }, { required: ['c', 'd'] }) } },
  ),
  'keywords in pairs': object({ a: { if: { type: 'string' }, then: { minLength: 1 }, else: {}, not: { const: 0 } } }),
  'dependent keywords': object(
    { a: text },
    { dependentRequired: { a: ['b'] }, dependentSchemas: { a: { minProperties: 1 } }, propertyNames: { maxLength: 9 } },
  ),
  references: object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: object({ next: { $ref: '#/$defs/a' } }) } }),
  'a reference to the root': object({ a: { $ref: '#' } }),
  'a reference to a property': object({ a: text, b: { $ref: '#/properties/a', description: 'x' } }),
  'a name with odd characters': object({ a: { $ref: '#/$defs/List%3Ca~1b%20%25%3E' } }, { $defs: { 'List<a/b %>': text } }),
  'properties with names of keywords': object({
    type: text,
    properties: text,
    required: { type: 'boolean' },
    $ref: text,
    enum: text,
    nullable: text,
    id: text,
    constructor: text,
  }),
  'keywords of others': object({ a: { type: 'string', 'x-order': 1, example: { type: 'dict' } } }),
  'true and false': object({ a: true, b: false }),
};

describe('normalizeSchema', () => {
  for (const [kind, cases] of Object.entries(properties))
    describe(`mends ${kind}`, () => {
      for (const [what, [given, expected]] of Object.entries(cases))
        it(`[F20] ${what}`, () => {
          expect(property(given)).to.deep.equal(expected);
        });
    });

  for (const [what, schema] of Object.entries(untouched))
    it(`leaves ${what} as it is`, () => {
      expect(normalizeSchema(schema, 'tool')).to.deep.equal({ schema, changes: [] });
    });

  it('makes valid JSON Schema of all of these, which is not changed by a second time', () => {
    const given = [
      ...Object.values(properties)
        .flatMap(Object.values<readonly unknown[]>)
        .map(([schema]) => object({ a: schema })),
      ...Object.values(untouched),
    ];

    for (const each of given) {
      const { schema } = normalizeSchema(each, 'tool');

      expect(ajv.validateSchema(schema), `${JSON.stringify(schema)}: ${ajv.errorsText()}`).to.equal(true);
      expect(normalizeSchema(schema, 'tool')).to.deep.equal({ schema, changes: [] });
    }
  });

  it('does not touch what it is given', () => {
    const given = object(
      { a: { type: 'float', default: 'x', required: true }, b: { $ref: '#/definitions/b' } },
      { definitions: { b: text } },
    );
    const before = structuredClone(given);
    const { schema } = normalizeSchema(given, 'tool');
    ((schema['properties'] as JsonSchema)['a'] as Record<string, unknown>)['type'] = 'null';

    expect(given).to.deep.equal(before);
  });

  it('tells what it changed, where, and whether it was a fault', () => {
    const { changes } = normalizeSchema(
      { type: 'dict', properties: { 'a/b': { type: 'array', items: { type: 'float', default: 'x' } }, c: { type: 'array' } } },
      'tool',
    );

    expect(changes).to.deep.equal([
      { path: '#/type', problem: '"dict" is no type of JSON Schema', action: 'made it {"type":"object"}', isFault: true },
      {
        path: '#/properties/a~1b/items/type',
        problem: '"float" is no type of JSON Schema',
        action: 'made it {"type":"number"}',
        isFault: true,
      },
      { path: '#/properties/a~1b/items/default', problem: '"x" is not valid here', action: 'left it out', isFault: false },
      {
        path: '#/properties/c',
        problem: 'it is an array without "items", which providers refuse',
        action: 'allowed items of any kind',
        isFault: false,
      },
    ]);
  });

  describe('the root', () => {
    const roots: Cases = {
      undefined: [undefined, noArguments],
      null: [null, noArguments],
      'an empty object': [{}, noArguments],
      'a type alone': [{ type: 'object' }, noArguments],
      'no type': [{ properties: { a: text } }, object({ a: text })],
      'no properties': [
        { type: 'object', additionalProperties: text },
        { type: 'object', additionalProperties: text, properties: {} },
      ],
      'a type that admits null': [{ type: ['object', 'null'], properties: { a: text } }, object({ a: text })],
      'nullable arguments': [{ ...noArguments, nullable: true }, noArguments],
      alternatives: [
        { anyOf: [{ required: ['a'] }, object({ b: text })], properties: { a: text } },
        { type: 'object', anyOf: [{ required: ['a'] }, object({ b: text })], properties: { a: text } },
      ],
      'a reference to a definition': [
        { $ref: '#/definitions/a', definitions: { a: object({ b: { type: 'float' } }) } },
        object({ b: { type: 'number' } }),
      ],
      'an upper-case type': [{ type: 'OBJECT', properties: { a: { type: 'STRING' } } }, object({ a: text })],
    };
    for (const [what, [given, expected]] of Object.entries(roots))
      it(`[TOL-43] becomes an object with properties: ${what}`, () => {
        expect(normalizeSchema(given, 'tool').schema).to.deep.equal(expected);
      });

    for (const [what, given] of Object.entries<unknown>({
      'a string': 'dict',
      'an array': [],
      'a number': 1,
      true: true,
      'the schema of a library': z.object({}),
      'the type string': { type: 'string' },
      'the type array': { type: 'Array', items: {} },
      'properties without their keyword': { city: text },
      'alternatives that are no objects': { anyOf: [text, { type: 'array', items: {} }] },
    }))
      it(`[TOL-42] is refused if it is ${what}`, () => {
        const error = refusal(() => normalizeSchema(given, 'get_weather'));

        expect(error.toolName).to.equal('get_weather');
        expect(error.message).to.match(/^tool "get_weather": the schema of its arguments cannot be used, at #/);
      });
  });

  describe('references', () => {
    const cases: Cases = {
      'into definitions': [
        object({ a: { $ref: '#/definitions/A' } }, { definitions: { A: { type: 'float' } } }),
        object({ a: { $ref: '#/$defs/A' } }, { $defs: { A: { type: 'number' } } }),
      ],
      'into definitions beside $defs of the same name': [
        object({ a: { $ref: '#/definitions/A' }, b: { $ref: '#/$defs/A' } }, { $defs: { A: text }, definitions: { A: { type: 'float' } } }),
        object({ a: { $ref: '#/$defs/A_2' }, b: { $ref: '#/$defs/A' } }, { $defs: { A: text, A_2: { type: 'number' } } }),
      ],
      'to something that moves': [
        object({ a: { type: 'array', items: [{ type: 'float' }] }, b: { $ref: '#/properties/a/items/0' } }),
        object({ a: { type: 'array', prefixItems: [{ type: 'number' }], items: {} }, b: { $ref: '#/properties/a/prefixItems/0' } }),
      ],
      'to where no schemas are': [
        object({ a: { $ref: '#/components/schemas/A' } }, { components: { schemas: { A: { type: 'float' } } } }),
        object({ a: { $ref: '#/$defs/A' } }, { components: { schemas: { A: { type: 'float' } } }, $defs: { A: { type: 'number' } } }),
      ],
      'to an anchor': [
        object({ a: { $ref: '#x' } }, { $defs: { A: { $anchor: 'x', type: 'string' } } }),
        object({ a: { $ref: '#/$defs/A' } }, { $defs: { A: text } }),
      ],
      'to an id': [
        object(
          { a: { $ref: 'a.json' } },
          { $id: 'https://example.com/root.json', $defs: { A: { $id: 'https://example.com/a.json', type: 'string' } } },
        ),
        object({ a: { $ref: '#/$defs/A' } }, { $defs: { A: text } }),
      ],
      'inside of something with an id': [
        object({ a: { $id: 'https://example.com/a', $defs: { B: text }, properties: { b: { $ref: '#/$defs/B' } } } }),
        object({ a: { $defs: { B: text }, properties: { b: { $ref: '#/properties/a/$defs/B' } } } }),
      ],
      'that are dynamic': [
        object({ a: { $dynamicRef: '#x' } }, { $defs: { A: { $dynamicAnchor: 'x', type: 'string' } } }),
        object({ a: { $ref: '#/$defs/A' } }, { $defs: { A: text } }),
      ],
      'with nullable alternatives': [
        object({ a: { anyOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/A' }], nullable: true } }, { $defs: { A: text } }),
        object({ a: { anyOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/A' }, { type: 'null' }] } }, { $defs: { A: text } }),
      ],
      'with nullable': [
        object({ a: { $ref: '#/$defs/A', nullable: true } }, { $defs: { A: text } }),
        object({ a: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] } }, { $defs: { A: text } }),
      ],
      'with codes for characters': [
        object({ a: { $ref: '#/definitions/L<x>' } }, { definitions: { 'L<x>': text } }),
        object({ a: { $ref: '#/$defs/L%3Cx%3E' } }, { $defs: { 'L<x>': text } }),
      ],
    };
    for (const [what, [given, expected]] of Object.entries(cases))
      it(`lead from the root: ${what}`, () => {
        const { schema } = normalizeSchema(given, 'tool');

        expect(schema).to.deep.equal(expected);
        expect(normalizeSchema(schema, 'tool').changes).to.deep.equal([]);
        ajv.compile(schema);
      });

    for (const [reference, there] of [
      ['#/$defs/A', 'definitions'],
      ['#/definitions/A', '$defs'],
      ['#/components/schemas/A', '$defs'],
      ['A', '$defs'],
    ] as const)
      it(`are mended if only the way is wrong: ${reference} for ${there}`, () => {
        const { schema, changes } = normalizeSchema(object({ a: { $ref: reference } }, { [there]: { A: text } }), 'tool');

        expect(schema).to.deep.equal(object({ a: { $ref: '#/$defs/A' } }, { $defs: { A: text } }));
        expect(changes.filter(({ isFault }) => isFault).map(({ path }) => path)).to.deep.equal(['#/properties/a/$ref']);
      });

    const bad: Readonly<Record<string, readonly [schema: JsonSchema, path: string]>> = {
      'lead nowhere': [object({ a: { $ref: '#/$defs/A' } }), '#/properties/a/$ref'],
      'lead to another document': [object({ a: { $ref: 'https://json-schema.org/draft/2020-12/schema' } }), '#/properties/a/$ref'],
      'lead to another file': [object({ a: { items: { $ref: 'other.json#/a' } } }), '#/properties/a/items/$ref'],
      'are no text': [object({ a: { $ref: 5 } }), '#/properties/a/$ref'],
      'lead to something that is no schema': [object({ a: { $ref: '#/required' } }, { required: ['a'] }), '#/properties/a/$ref'],
      'lead to themselves': [object({ a: { $ref: '#/properties/a' } }), '#/properties/a'],
      'lead in a circle': [
        object({ a: { $ref: '#/$defs/b' } }, { $defs: { b: { anyOf: [{ $ref: '#/$defs/c' }] }, c: { not: { $ref: '#/$defs/b' } } } }),
        '#/',
      ],
    };
    for (const [what, [schema, path]] of Object.entries(bad))
      it(`[F21] are refused if they ${what}`, () => {
        expect(refusal(() => normalizeSchema(schema, 'tool')).message)
          .to.include(`"tool"`)
          .and.to.include(`at ${path}`);
        expect(refusal(() => defineTool({ name: 'tool', input: schema, execute: () => 'x' })).toolName).to.equal('tool');
      });

    it('[F21] are refused with a word about the circle', () => {
      const circle = object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } } });

      expect(refusal(() => normalizeSchema(circle, 'tool')).message).to.match(/it refers to itself without end$/);
    });

    it('[F85] are refused if they make the check of a value endless', () => {
      const definitions = Object.fromEntries(
        Array.from({ length: 40 }, (_, at) => [`d${at}`, { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] }]),
      );
      const schema = object({ a: { $ref: '#/$defs/d0' } }, { $defs: { ...definitions, d40: text } });

      expect(refusal(() => normalizeSchema(schema, 'tool')).message).to.match(/more than \d+ schemas to one value/);
    });
  });

  describe('refuses', () => {
    const wrong: Cases = {
      'a type that nobody knows': [{ type: 'Quaternion' }, '#/properties/a/type'],
      'a type that is an object': [{ type: { type: 'string' } }, '#/properties/a/type'],
      'prose as type': [{ type: 'a '.repeat(200) }, '#/properties/a/type'],
      'values that are an object': [{ enum: { a: 1 } }, '#/properties/a/enum'],
      'values that are a list in a text': [{ enum: 'a, b' }, '#/properties/a/enum'],
      'properties that are a text': [{ properties: 'x' }, '#/properties/a/properties'],
      'properties that are a list without names': [{ properties: [{ type: 'string' }] }, '#/properties/a/properties'],
      'a description in place of a schema': ['The city', '#/properties/a'],
      'a number in place of a schema': [{ items: 4 }, '#/properties/a/items'],
      'definitions that are a list': [{ definitions: [text] }, '#/properties/a/definitions'],
      'a BigInt': [{ minimum: 1n }, '#/properties/a/minimum'],
    };
    for (const [what, [schema, path]] of Object.entries(wrong))
      it(`[F21] ${what}, naming the tool and the place`, () => {
        expect(refusal(() => normalizeSchema(object({ a: schema }), 'my_tool')).message)
          .to.include('"my_tool"')
          .and.to.include(`at ${path as string}:`);
      });

    it('[F21] what is deep, huge or contains itself, without a crash', () => {
      const deep = Array.from({ length: 100_000 }).reduce<unknown>((inner) => ({ type: 'array', items: inner }), text);
      const cyclic: Record<string, unknown> = { type: 'object' };
      cyclic['properties'] = { a: cyclic };
      const wide = object(Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`p${at}`, text])));
      const doubling = Array.from({ length: 60 }).reduce<unknown>((inner) => object({ a: inner, b: inner }), text);
      const hostile = {
        get type(): never {
          throw new Error('no');
        },
      };

      for (const schema of [
        deep,
        cyclic,
        wide,
        doubling,
        hostile,
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('no');
            },
          },
        ),
      ])
        expect(refusal(() => normalizeSchema(schema, 'tool')).message.length).to.be.lessThan(600);
    });

    it('[F21] with messages of bounded length', () => {
      const name = 'x'.repeat(100_000);

      expect(refusal(() => normalizeSchema(object({ [name]: { type: name } }), 'tool')).message.length).to.be.lessThan(600);
    });
  });

  it('[F17] cannot be made to reach a prototype', () => {
    const before = Reflect.ownKeys(Object.prototype);
    const schemas = [
      '{"type":"object","properties":{"a":{"$ref":"#/__proto__/x"}}}',
      '{"type":"object","properties":{"a":{"$ref":"#/constructor/prototype"}}}',
      '{"type":"object","__proto__":{"polluted":1},"properties":{"constructor":{"prototype":{"polluted":1}}}}',
      '{"type":"object","properties":[{"name":"__proto__","polluted":1}]}',
      '{"type":"object","definitions":{"__proto__":{"polluted":1}},"dependencies":{"__proto__":["a"]}}',
    ];

    for (const schema of schemas) {
      try {
        normalizeSchema(JSON.parse(schema), 'tool');
      } catch (error) {
        expect(error).to.be.instanceOf(ToolDefinitionError);
      }
    }

    expect(Reflect.ownKeys(Object.prototype)).to.deep.equal(before);
    expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
  });

  it('[F17] leaves the key __proto__ out of objects at any depth, and says so', () => {
    const { schema, changes } = normalizeSchema(
      JSON.parse(
        '{"type":"object","__proto__":{"x":1},"properties":{"__proto__":{"type":"string"},"a":{"default":{"__proto__":{"x":1}}}}}',
      ),
      'tool',
    );

    expect(changes.map(({ path }) => path)).to.deep.equal(['#', '#/properties', '#/properties/a/default']);
    expect(JSON.stringify(schema)).to.equal('{"type":"object","properties":{"a":{"default":{}}}}');
    expect((schema as { x?: unknown }).x).to.equal(undefined);
    expect(Object.getPrototypeOf(schema['properties'])).to.equal(Object.prototype);
  });

  it('takes defaults as right if they may be, where references lead to what decides', () => {
    const schema = object({ a: { $ref: '#/$defs/A', default: 'x' }, b: { enum: ['x'], default: 'y' } }, { $defs: { A: text } });

    expect(normalizeSchema(schema, 'tool').schema['properties']).to.deep.equal({
      a: { $ref: '#/$defs/A', default: 'x' },
      b: { enum: ['x'] },
    });
  });
});

describe('defineTool with JSON Schema', () => {
  const define = (input: JsonSchema): JsonSchema => defineTool({ name: 'my_tool', input, execute: () => 'x' }).definition.inputSchema;

  for (const [what, schema] of Object.entries({
    ...untouched,
    'an array without items': object({ a: { type: 'array' } }),
    'a required property that there is not': object({}, { required: ['a'] }),
    'a default that does not fit': object({ a: { type: 'string', default: 1 } }),
    'older definitions': object({ a: { $ref: '#/definitions/a' } }, { definitions: { a: text } }),
    'a word that JSON Schema does not know': object({ a: { type: 'string', nullable: true } }),
  }))
    it(`takes ${what} as it is`, () => {
      expect(define(schema)).to.deep.equal(schema);
    });

  it('refuses what is no JSON Schema, and names the places and the way out', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'float' }, b: { exclusiveMinimum: true }, c: { description: 1 }, d: { type: 'dict' } },
    };

    expect(refusal(() => define(schema)).message).to.equal(
      'tool "my_tool": its schema is no JSON Schema (2020-12) at #/properties/a/type: "float" is no type of JSON Schema; ' +
        '#/properties/b/exclusiveMinimum: true is no number; #/properties/c/description: 1 is no text, and 1 more. ' +
        'normalizeSchema(schema, name).schema mends it, and tells in `changes` how',
    );
    expect(define(normalizeSchema(schema, 'my_tool').schema)).to.have.property('type', 'object');
  });

  for (const schema of [{ type: 'dict' }, { type: ['object', 'null'] }, { anyOf: [object({ a: text })] }])
    it(`names the way out for the root ${JSON.stringify(schema)}`, () => {
      expect(refusal(() => define(schema)).message).to.include('normalizeSchema(schema, name).schema mends it');
      expect(define(normalizeSchema(schema, 'my_tool').schema)).to.have.property('type', 'object');
    });

  it('names no way out where there is none', () => {
    expect(refusal(() => define({ type: 'string' })).message).to.not.include('normalizeSchema');
    expect(refusal(() => define({ type: 'Quaternion' })).message).to.not.include('normalizeSchema');
  });

  it('looks at `inputSchema` too', () => {
    const options = {
      name: 'my_tool',
      input: z.object({ a: z.number() }),
      inputSchema: object({ a: { type: 'float' } }),
      execute: () => 'x',
    };

    expect(refusal(() => defineTool(options)).message).to.include('#/properties/a/type');
  });
});

describe('compatibilityReport', () => {
  const report = compatibilityReport([
    { name: 'fine', description: 'Does it.', inputSchema: object({ a: text }) },
    { name: 'mended', description: 'Does it.', inputSchema: { type: 'dict', properties: {} } },
    { name: 'adapted', description: 'Does it.', inputSchema: object({ a: { type: 'array' } }) },
    { name: 'refused', description: 'Does it.', inputSchema: object({ a: { type: 'Quaternion' } }) },
    { name: 'maps.search', inputSchema: undefined },
    { name: 'fine', description: ' ', inputSchema: noArguments },
  ]);

  it('says of each tool what would be changed, or why it is refused', () => {
    expect(report.tools.map(({ name, changes, refused }) => [name, changes.map(({ path }) => path), refused !== undefined])).to.deep.equal([
      ['fine', [], false],
      ['mended', ['#/type'], false],
      ['adapted', ['#/properties/a'], false],
      ['refused', [], true],
      ['maps.search', ['#', '#'], false],
      ['fine', [], false],
    ]);
  });

  it('notes names that providers do not take, repeated names and missing descriptions', () => {
    expect(report.tools.map(({ notes }) => notes)).to.deep.equal([
      ['2 tools have this name'],
      [],
      [],
      [],
      [
        'the name "maps.search" is not what providers take: 1 to 64 letters, digits, "_" or "-"',
        'it has no description; the model has to guess from the name',
      ],
      ['2 tools have this name', 'it has no description; the model has to guess from the name'],
    ]);
  });

  it('counts, and writes it down for people', () => {
    expect(report.counts).to.deep.equal({ tools: 6, unchanged: 0, faulty: 1, adapted: 2, refused: 1, noted: 3 });
    const lines = String(report).split('\n');
    expect(lines[0]).to.match(
      /^6 tools: 0 can be used as they are, 1 are no JSON Schema and can be mended, 2 are legal and adapted, 1 are refused, 3 have notes$/,
    );
    expect(lines).to.include('"mended" #/type: "dict" is no type of JSON Schema; made it {"type":"object"}');
    expect(lines.filter((line) => line.startsWith('refused: tool "refused": '))).to.have.length(1);
    expect(lines).to.have.length(1 + 1 + 5 + 4);
  });

  it('never fails because of a tool', () => {
    const odd = [
      { name: undefined, inputSchema: 1 },
      { name: 5 },
      { name: 'x', description: 4, inputSchema: { type: 'object', properties: 'x' } },
    ];

    expect(compatibilityReport(odd as unknown as PublishedTool[]).counts.refused).to.equal(2);
    expect(String(compatibilityReport([]))).to.match(/^0 tools/);
  });

  for (const wrong of [undefined, 'x', [null], {}])
    it(`is refused for ${JSON.stringify(wrong)}`, () => {
      expect(() => compatibilityReport(wrong as unknown as PublishedTool[])).to.throw(InvalidArgumentError, 'must be an array of tools');
    });
});
