import { expect } from 'chai';
import fc from 'fast-check';
import { SchemaTexts } from '../../../src/stores/tool-indexes/schema-texts.js';
import { sweep } from '../../support/sweep.js';

function textsOf(
  inputSchema: unknown,
): Pick<SchemaTexts, 'parameterNames' | 'parameterDescriptions' | 'choices'> {
  const { parameterNames, parameterDescriptions, choices } = new SchemaTexts(inputSchema);
  return { parameterNames, parameterDescriptions, choices };
}

const NOTHING = { parameterNames: [], parameterDescriptions: [], choices: [] };

describe('SchemaTexts', () => {
  it('returns names, descriptions and choices of parameters in their order', () => {
    const properties = {
      town: { type: 'string', description: 'Where' },
      unit: { enum: ['C', 'F', 5, null, ''], description: 'How' },
      kind: { const: 'now' },
    };

    expect(textsOf({ type: 'object', description: 'ArgumentsOfClass', properties })).to.deep.equal({
      parameterNames: ['town', 'unit', 'kind'],
      parameterDescriptions: ['Where', 'How'],
      choices: ['C', 'F', 'now'],
    });
  });

  for (const [where, inputSchema] of Object.entries({
    'nested objects': { properties: { x: { properties: { deep: { description: 'D' } } } } },
    'items of lists': {
      properties: { x: { items: { properties: { deep: { description: 'D' } } } } },
    },
    'items in places': {
      properties: { x: { prefixItems: [{ properties: { deep: { description: 'D' } } }] } },
    },
    'additional properties': {
      properties: { x: { additionalProperties: { properties: { deep: { description: 'D' } } } } },
    },
    alternatives: {
      properties: {
        x: { anyOf: [{ type: 'null' }, { properties: { deep: { description: 'D' } } }] },
      },
    },
    'one of several': {
      properties: { x: { oneOf: [{ properties: { deep: { description: 'D' } } }] } },
    },
    'all of several': {
      properties: { x: { allOf: [{ properties: { deep: { description: 'D' } } }] } },
    },
    definitions: {
      properties: { x: { $ref: '#/$defs/X' } },
      $defs: { X: { properties: { deep: { description: 'D' } } } },
    },
    'old definitions': {
      properties: { x: {} },
      definitions: { X: { properties: { deep: { description: 'D' } } } },
    },
  }))
    it(`reads ${where}`, () => {
      expect(textsOf(inputSchema)).to.deep.equal({
        parameterNames: ['x', 'deep'],
        parameterDescriptions: ['D'],
        choices: [],
      });
    });

  it('reads nothing in invalid schemas', () => {
    for (const inputSchema of [
      undefined,
      null,
      true,
      5,
      'x',
      [],
      { properties: [] },
      { properties: null },
      { $defs: 5 },
      { enum: {} },
    ])
      expect(textsOf(inputSchema)).to.deep.equal(NOTHING);
    expect(
      textsOf({ properties: { a: null, b: true, c: { description: 5, enum: 'x' } } }),
    ).to.deep.equal({
      parameterNames: ['a', 'b', 'c'],
      parameterDescriptions: [],
      choices: ['x'],
    });
  });

  it('reads names of object properties', () => {
    const properties = JSON.parse(
      '{ "__proto__": { "description": "p" }, "constructor": { "description": "c" } }',
    ) as object;

    expect(textsOf({ properties })).to.deep.equal({
      parameterNames: ['__proto__', 'constructor'],
      parameterDescriptions: ['p', 'c'],
      choices: [],
    });
  });

  it('skips deeply nested schemas', () => {
    const nested = (depth: number): object =>
      depth === 0 ? {} : { properties: { [`level${depth}`]: nested(depth - 1) } };

    expect(textsOf(nested(1_000)).parameterNames).to.have.lengthOf.within(5, 20);
  });

  it('terminates for a schema that contains itself', () => {
    const schema: Record<string, unknown> = { description: 'again' };
    Object.assign(schema, {
      properties: { a: schema, b: schema },
      anyOf: [schema, schema],
      $defs: { schema },
    });

    expect(textsOf(schema).parameterNames.length).to.be.at.most(1_000);
  });

  it('reads at most a thousand texts of a kind', () => {
    const choices = Array.from({ length: 100_000 }, (_, at) => `choice ${at}`);
    const properties = Object.fromEntries(choices.map((name) => [name, { description: name }]));

    const texts = textsOf({ properties: { ...properties, x: { enum: choices } }, enum: choices });

    for (const list of Object.values(texts)) expect(list).to.have.lengthOf(1_000);
  });

  it('returns non-empty strings for any value', () => {
    const keyword = fc.constantFrom(
      'properties',
      'items',
      'anyOf',
      'allOf',
      '$defs',
      'enum',
      'const',
      'description',
      'a',
    );
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 6 },
        fc.anything(),
        fc.dictionary(keyword, tie('schema')),
        fc.array(tie('schema'), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(schema, (inputSchema) => {
        for (const list of Object.values(textsOf(inputSchema)))
          for (const text of list) expect(text).to.be.a('string').and.not.equal('');
      }),
      { numRuns: sweep(2_000) },
    );
  });
});
