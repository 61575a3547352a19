import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { JsonSchema } from '../../../../src/core/chat/tool-definition.js';
import { normalizeSchema } from '../../../../src/core/json-schema/normalize/normalize-schema.js';
import { defineTool } from '../../../../src/core/tool/define-tool.js';
import { definitionError, objectSchema, type SchemaCases } from '../../../support/schema-cases.js';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const text = { type: 'string' };

describe('normalizeSchema, references', () => {
  const cases: SchemaCases = {
    'into definitions': [
      objectSchema({ a: { $ref: '#/definitions/A' } }, { definitions: { A: { type: 'float' } } }),
      objectSchema({ a: { $ref: '#/$defs/A' } }, { $defs: { A: { type: 'number' } } }),
    ],
    'into definitions beside $defs of the same name': [
      objectSchema(
        { a: { $ref: '#/definitions/A' }, b: { $ref: '#/$defs/A' } },
        { $defs: { A: text }, definitions: { A: { type: 'float' } } },
      ),
      objectSchema(
        { a: { $ref: '#/$defs/A_2' }, b: { $ref: '#/$defs/A' } },
        { $defs: { A: text, A_2: { type: 'number' } } },
      ),
    ],
    'to something that moves': [
      objectSchema({
        a: { type: 'array', items: [{ type: 'float' }] },
        b: { $ref: '#/properties/a/items/0' },
      }),
      objectSchema({
        a: { type: 'array', prefixItems: [{ type: 'number' }], items: {} },
        b: { $ref: '#/properties/a/prefixItems/0' },
      }),
    ],
    'to an anchor': [
      objectSchema({ a: { $ref: '#x' } }, { $defs: { A: { $anchor: 'x', type: 'string' } } }),
      objectSchema({ a: { $ref: '#/$defs/A' } }, { $defs: { A: text } }),
    ],
    'to an id': [
      objectSchema(
        { a: { $ref: 'https://example.com/a.json' } },
        {
          $id: 'https://example.com/root.json',
          $defs: { A: { $id: 'https://example.com/a.json', type: 'string' } },
        },
      ),
      objectSchema({ a: { $ref: '#/$defs/A' } }, { $defs: { A: text } }),
    ],
    'that are dynamic': [
      objectSchema(
        { a: { $dynamicRef: '#x' } },
        { $defs: { A: { $dynamicAnchor: 'x', type: 'string' } } },
      ),
      objectSchema({ a: { $ref: '#/$defs/A' } }, { $defs: { A: text } }),
    ],
    'with nullable': [
      objectSchema({ a: { $ref: '#/$defs/A', nullable: true } }, { $defs: { A: text } }),
      objectSchema(
        { a: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] } },
        { $defs: { A: text } },
      ),
    ],
    'with codes for characters': [
      objectSchema({ a: { $ref: '#/definitions/L<x>' } }, { definitions: { 'L<x>': text } }),
      objectSchema({ a: { $ref: '#/$defs/L%3Cx%3E' } }, { $defs: { 'L<x>': text } }),
    ],
  };
  for (const [what, [given, expected]] of Object.entries(cases))
    it(`start at the root: ${what}`, () => {
      const { schema } = normalizeSchema(given, 'tool');

      expect(schema).to.deep.equal(expected);
      expect(normalizeSchema(schema, 'tool').changes).to.deep.equal([]);
      ajv.compile(schema);
    });

  const bad: Readonly<Record<string, readonly [schema: JsonSchema, path: string]>> = {
    'lead nowhere': [objectSchema({ a: { $ref: '#/$defs/A' } }), '#/properties/a/$ref'],
    'lead to another document': [
      objectSchema({ a: { $ref: 'https://json-schema.org/draft/2020-12/schema' } }),
      '#/properties/a/$ref',
    ],
    'lead to another file': [
      objectSchema({ a: { items: { $ref: 'other.json#/a' } } }),
      '#/properties/a/items/$ref',
    ],
    'are not strings': [objectSchema({ a: { $ref: 5 } }), '#/properties/a/$ref'],
    'lead to a place outside of schema keywords': [
      objectSchema(
        { a: { $ref: '#/components/schemas/A' } },
        { components: { schemas: { A: text } } },
      ),
      '#/properties/a/$ref',
    ],
    'lead to a value that is not a schema': [
      objectSchema({ a: { $ref: '#/required' } }, { required: ['a'] }),
      '#/properties/a/$ref',
    ],
    'lead to themselves': [objectSchema({ a: { $ref: '#/properties/a' } }), '#/properties/a'],
    'lead in a circle': [
      objectSchema(
        { a: { $ref: '#/$defs/b' } },
        { $defs: { b: { anyOf: [{ $ref: '#/$defs/c' }] }, c: { not: { $ref: '#/$defs/b' } } } },
      ),
      '#/',
    ],
  };
  for (const [what, [schema, path]] of Object.entries(bad))
    it(`[F21] are rejected if they ${what}`, () => {
      expect(definitionError(() => normalizeSchema(schema, 'tool')).message)
        .to.include(`"tool"`)
        .and.to.include(`at ${path}`);
      expect(
        definitionError(() => defineTool({ name: 'tool', input: schema, execute: () => 'x' }))
          .toolName,
      ).to.equal('tool');
    });

  it('[F21] are rejected with the circle as reason', () => {
    const circle = objectSchema(
      { a: { $ref: '#/$defs/a' } },
      { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } } },
    );

    expect(definitionError(() => normalizeSchema(circle, 'tool')).message).to.match(
      /it refers to itself without end$/,
    );
  });

  it('[F85] are rejected if checking a value would never end', () => {
    const definitions = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `d${at}`,
        { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
      ]),
    );
    const schema = objectSchema(
      { a: { $ref: '#/$defs/d0' } },
      { $defs: { ...definitions, d40: text } },
    );

    expect(definitionError(() => normalizeSchema(schema, 'tool')).message).to.match(
      /more than \d+ schemas to one value/,
    );
  });
});
