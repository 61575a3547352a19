import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { JsonSchema } from '../../../../src/core/chat/tool-definition.js';
import { ToolDefinitionError } from '../../../../src/core/errors/errors.js';
import { normalizeSchema } from '../../../../src/core/json-schema/normalize/normalize-schema.js';
import {
  definitionError,
  objectSchema,
  unchangedSchemas,
  type SchemaCases,
} from '../../../support/schema-cases.js';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const text = { type: 'string' };

/** Normalizes the schema of a property. */
function property(schema: unknown): unknown {
  const { properties } = normalizeSchema(objectSchema({ a: schema }), 'tool').schema;
  return (properties as JsonSchema)['a'];
}

const properties: Readonly<Record<string, SchemaCases>> = {
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
    'java.util.List': [{ type: 'java.util.List' }, { type: 'array', items: {} }],
    'a list of words': [{ type: ['str', 'int'] }, { type: ['string', 'integer'] }],
    'a list with a repeat': [{ type: ['string', 'string'] }, text],
    'a type instead of a schema': ['float', { type: 'number' }],
    'a type instead of items': [
      { type: 'array', items: 'string' },
      { type: 'array', items: text },
    ],
    'the type enum beside values': [{ type: 'enum', enum: ['a'] }, { enum: ['a'] }],
  },
  'keywords of OpenAPI and of older drafts': {
    nullable: [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
    'nullable: false': [{ type: 'string', nullable: false }, text],
    'nullable with values': [
      { type: 'string', enum: ['a'], nullable: true },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    'nullable with a constant': [
      { const: 1, nullable: true },
      { anyOf: [{ const: 1 }, { type: 'null' }] },
    ],
    'nullable alternatives': [
      { oneOf: [{ enum: ['a'] }, { const: 'b' }], nullable: true },
      { anyOf: [{ oneOf: [{ enum: ['a'] }, { const: 'b' }] }, { type: 'null' }] },
    ],
    'nullable parts': [
      { description: 'x', allOf: [text], nullable: true },
      { anyOf: [{ description: 'x', allOf: [text] }, { type: 'null' }] },
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
    'id and $schema': [
      { id: 'x', $id: 'y', $schema: 'http://json-schema.org/draft-04/schema#', ...text },
      text,
    ],
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
    dependencies: [objectSchema({}, { dependencies: { b: ['c'], d: text } }), objectSchema({})],
    'required: true': [
      objectSchema({ b: { type: 'string', required: true } }),
      objectSchema({ b: text }, { required: ['b'] }),
    ],
    'required: "true" beside a list': [
      objectSchema({ b: { type: 'string', required: 'true' }, c: text }, { required: ['c'] }),
      objectSchema({ b: text, c: text }, { required: ['c', 'b'] }),
    ],
    'required: false': [
      objectSchema({ b: { type: 'string', required: false } }),
      objectSchema({ b: text }),
    ],
    optional: [
      objectSchema({ b: { type: 'string', optional: true } }, { optional: ['b'] }),
      objectSchema({ b: text }),
    ],
    'optional: false': [
      objectSchema({ b: { type: 'string', optional: false } }),
      objectSchema({ b: text }, { required: ['b'] }),
    ],
  },
  'values of the wrong kind': {
    'lengths as strings': [
      { type: 'string', minLength: '2', maxLength: '3.7' },
      { type: 'string', minLength: 2 },
    ],
    'numbers as strings': [
      { type: 'number', minimum: '-1.5', maximum: 'many' },
      { type: 'number', minimum: -1.5 },
    ],
    'negative lengths': [{ type: 'string', minLength: -1 }, text],
    'multipleOf of 0': [{ type: 'number', multipleOf: 0 }, { type: 'number' }],
    'a description that is a number': [
      { type: 'string', description: 5 },
      { type: 'string', description: '5' },
    ],
    'a description that is an object': [{ description: { en: 'a' } }, {}],
    'booleans as strings': [
      { type: 'array', items: text, uniqueItems: 'true' },
      { type: 'array', items: text, uniqueItems: true },
    ],
    'additionalProperties as a string': [
      objectSchema({}, { additionalProperties: 'false' }),
      objectSchema({}, { additionalProperties: false }),
    ],
    'null as the value of keywords': [
      { type: 'string', description: null, minLength: null, enum: null, items: null, $ref: null },
      text,
    ],
    'required as a string': [
      objectSchema({ b: text }, { required: 'b' }),
      objectSchema({ b: text }, { required: ['b'] }),
    ],
    'required as an empty object': [
      objectSchema({ b: text }, { required: {} }),
      objectSchema({ b: text }),
    ],
    'repeats in required': [
      objectSchema({ b: text }, { required: ['b', 'b', 4] }),
      objectSchema({ b: text }, { required: ['b'] }),
    ],
    'properties as an empty array': [{ type: 'object', properties: [] }, objectSchema({})],
    'anyOf that is one schema': [{ anyOf: text }, { anyOf: [text] }],
    'an empty anyOf': [{ type: 'string', anyOf: [] }, text],
    'one value as enum': [{ enum: 'x' }, { enum: ['x'] }],
    'repeats in enum': [
      { enum: ['x', 'y', 'x', { a: 1, b: 2 }, { b: 2, a: 1 }] },
      { enum: ['x', 'y', { a: 1, b: 2 }] },
    ],
    'an empty enum': [{ type: 'string', enum: [] }, text],
    'enum values of another type than the type': [
      { type: 'boolean', enum: ['True', 'dontcare'] },
      { type: 'string', enum: ['True', 'dontcare'] },
    ],
    'enum values of the items': [
      { type: 'array', items: text, enum: ['a', 'b'] },
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
    ],
    'a default of another type': [{ type: 'integer', default: '3' }, { type: 'integer' }],
    'a default outside of the enum': [{ enum: ['a', 'b'], default: 'c' }, { enum: ['a', 'b'] }],
    'a default deep inside': [
      objectSchema({ b: text }, { default: { b: 1 } }),
      objectSchema({ b: text }),
    ],
    'a pattern of another language': [{ type: 'string', pattern: '(?P<a>x)' }, text],
    'a pattern of names of another language': [
      objectSchema({}, { patternProperties: { '(?i)x': text, '^y': text } }),
      objectSchema({}, { patternProperties: { '^y': text } }),
    ],
  },
};

describe('normalizeSchema', () => {
  for (const [kind, cases] of Object.entries(properties))
    describe(`normalizes ${kind}`, () => {
      for (const [what, [given, expected]] of Object.entries(cases))
        it(`[F20] ${what}`, () => {
          expect(property(given)).to.deep.equal(expected);
        });
    });

  for (const [what, schema] of Object.entries(unchangedSchemas))
    it(`leaves ${what} unchanged`, () => {
      expect(normalizeSchema(schema, 'tool')).to.deep.equal({ schema, changes: [] });
    });

  it('makes valid JSON Schema of all of these, which normalizing again does not change', () => {
    const given = [
      ...Object.values(properties)
        .flatMap(Object.values<readonly unknown[]>)
        .map(([schema]) => objectSchema({ a: schema })),
      ...Object.values(unchangedSchemas),
    ];

    for (const each of given) {
      const { schema } = normalizeSchema(each, 'tool');

      expect(ajv.validateSchema(schema), `${JSON.stringify(schema)}: ${ajv.errorsText()}`).to.equal(
        true,
      );
      expect(normalizeSchema(schema, 'tool')).to.deep.equal({ schema, changes: [] });
    }
  });

  it('does not change the given schema', () => {
    const given = objectSchema(
      { a: { type: 'float', default: 'x', required: true }, b: { $ref: '#/definitions/b' } },
      { definitions: { b: text } },
    );
    const before = structuredClone(given);
    const { schema } = normalizeSchema(given, 'tool');
    ((schema['properties'] as JsonSchema)['a'] as Record<string, unknown>)['type'] = 'null';

    expect(given).to.deep.equal(before);
  });

  it('lists each change with its path, problem, action and severity', () => {
    const { changes } = normalizeSchema(
      {
        type: 'dict',
        properties: {
          'a/b': { type: 'array', items: { type: 'float', default: 'x' } },
          c: { type: 'array' },
        },
      },
      'tool',
    );

    expect(changes).to.deep.equal([
      {
        path: '#/type',
        problem: '"dict" is not a type of JSON Schema',
        action: 'changed it to {"type":"object"}',
        severity: 'error',
      },
      {
        path: '#/properties/a~1b/items/type',
        problem: '"float" is not a type of JSON Schema',
        action: 'changed it to {"type":"number"}',
        severity: 'error',
      },
      {
        path: '#/properties/a~1b/items/default',
        problem: '"x" is not valid here',
        action: 'removed it',
        severity: 'warning',
      },
      {
        path: '#/properties/c',
        problem: 'it is an array without "items", which providers reject',
        action: 'allowed items of any kind',
        severity: 'warning',
      },
    ]);
  });

  describe('rejects', () => {
    const wrong: SchemaCases = {
      'an unknown type': [{ type: 'Quaternion' }, '#/properties/a/type'],
      'a type that is an object': [{ type: { type: 'string' } }, '#/properties/a/type'],
      'a type with parameters': [{ type: 'List<String>' }, '#/properties/a/type'],
      'prose as a type': [{ type: 'a '.repeat(200) }, '#/properties/a/type'],
      'an enum that is an object': [{ enum: { a: 1 } }, '#/properties/a/enum'],
      'an enum that is a list in a string': [{ enum: 'a, b' }, '#/properties/a/enum'],
      'properties that are a string': [{ properties: 'x' }, '#/properties/a/properties'],
      'properties that are an array': [
        { properties: [{ name: 'b', type: 'string' }] },
        '#/properties/a/properties',
      ],
      'a description instead of a schema': ['The city', '#/properties/a'],
      'a number instead of a schema': [{ items: 4 }, '#/properties/a/items'],
      'definitions that are an array': [{ definitions: [text] }, '#/properties/a/definitions'],
      'a BigInt': [{ minimum: 1n }, '#'],
      'the key __proto__': [{ default: JSON.parse('{"__proto__":{"x":1}}') as unknown }, '#'],
    };
    for (const [what, [schema, path]] of Object.entries(wrong))
      it(`[F21] ${what}, with the tool and the path`, () => {
        expect(
          definitionError(() => normalizeSchema(objectSchema({ a: schema }), 'my_tool')).message,
        )
          .to.include('"my_tool"')
          .and.to.include(`at ${path as string}:`);
      });

    it('[F21] schemas that are deep, huge or contain themselves, without a crash', () => {
      const deep = Array.from({ length: 100_000 }).reduce<unknown>(
        (inner) => ({ type: 'array', items: inner }),
        text,
      );
      const cyclic: Record<string, unknown> = { type: 'object' };
      cyclic['properties'] = { a: cyclic };
      const wide = objectSchema(
        Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`p${at}`, text])),
      );
      const doubling = Array.from({ length: 60 }).reduce<unknown>(
        (inner) => objectSchema({ a: inner, b: inner }),
        text,
      );
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
        expect(
          definitionError(() => normalizeSchema(schema, 'tool')).message.length,
        ).to.be.lessThan(600);
    });

    it('[F21] with messages of bounded length', () => {
      const name = 'x'.repeat(100_000);

      expect(
        definitionError(() => normalizeSchema(objectSchema({ [name]: { type: name } }), 'tool'))
          .message.length,
      ).to.be.lessThan(600);
    });
  });

  it('[F17] never writes to a prototype', () => {
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

  it('keeps a default whose validity depends on a reference', () => {
    const schema = objectSchema(
      { a: { $ref: '#/$defs/A', default: 'x' }, b: { enum: ['x'], default: 'y' } },
      { $defs: { A: text } },
    );

    expect(normalizeSchema(schema, 'tool').schema['properties']).to.deep.equal({
      a: { $ref: '#/$defs/A', default: 'x' },
      b: { enum: ['x'] },
    });
  });
});
