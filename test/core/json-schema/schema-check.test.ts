import { expect } from 'chai';
import type { JsonSchema } from '../../../src/core/chat/tool-definition.js';
import { CheckSteps, EXCEEDED } from '../../../src/core/json-schema/check-steps.js';
import { NONE, type Issues } from '../../../src/core/json-schema/issues.js';
import { SchemaCheck } from '../../../src/core/json-schema/schema-check.js';

const itself: Record<string, unknown> = {};
itself['self'] = itself;

type Case = readonly [schema: JsonSchema, value: unknown, isValid: boolean];

const CASES: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  alternatives: {
    'all of them': [{ allOf: [{}, { type: 'number' }] }, 1, true],
    'not all of them': [{ allOf: [{ type: 'number' }, { type: 'string' }] }, 1, false],
    'any of them': [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 1, true],
    'none of them': [{ anyOf: [{ type: 'string' }, false] }, 1, false],
    'one of them': [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, 1, true],
    'two of one': [{ oneOf: [{}, { type: 'number' }] }, 1, false],
    'none of one': [{ oneOf: [false, { type: 'string' }] }, 1, false],
    'a negation': [{ not: { type: 'string' } }, 1, true],
    'the opposite of a negation': [{ not: { type: 'number' } }, 1, false],
  },
  objects: {
    'keywords of objects for a list': [
      { properties: { a: false }, additionalProperties: false, required: ['a'] },
      [1],
      true,
    ],
    'a required property': [{ required: ['a'] }, { a: 1 }, true],
    'an inherited property as the required one': [{ required: ['toString'] }, {}, false],
    'a valid property': [{ properties: { a: { type: 'number' } } }, { a: 1 }, true],
    'an invalid property': [{ properties: { a: { type: 'string' } } }, { a: 1 }, false],
    'an absent property': [{ properties: { a: false, toString: false } }, {}, true],
    'only known properties': [{ properties: { a: {} }, additionalProperties: false }, { a: 1 }, true], // prettier-ignore
    'an unknown property': [{ properties: { a: {} }, additionalProperties: false }, { b: 1 }, false], // prettier-ignore
    'an additional property of the right type': [
      { additionalProperties: { type: 'number' } },
      { a: 1 },
      true,
    ],
  },
  lists: {
    'keywords of lists for an object': [{ items: false, uniqueItems: true }, { a: 1 }, true],
    'valid items': [{ items: { type: 'number' } }, [1, 2], true],
    'an invalid item': [{ items: { type: 'number' } }, [1, 'a'], false],
    'a tuple': [{ prefixItems: [{}], items: false }, [1], true],
    'a list that is shorter than its tuple': [{ prefixItems: [{}, { type: 'string' }] }, [1], true],
    'a tuple with another item': [{ prefixItems: [{}], items: false }, [1, 2], false],
    'a tuple with a wrong item': [{ prefixItems: [{ type: 'string' }] }, [1], false],
    'different items': [{ uniqueItems: true }, [1, '1', { a: 1 }, { a: 2 }], true],
    'equal items': [{ uniqueItems: true }, [1, 2, 1], false],
    'equal objects with keys in another order': [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      false,
    ],
    'equal items that are allowed': [{ uniqueItems: false }, [1, 1], true],
    'items that are not JSON': [{ uniqueItems: true }, [itself, undefined, {}], true],
    'equal items that are not JSON': [{ uniqueItems: true }, [itself, 1, itself], false],
  },
  values: {
    'a value of an enum': [{ enum: ['a', null] }, null, true],
    'a value outside of an enum': [{ enum: ['a', 1] }, 'b', false],
    'an object of an enum': [{ enum: [{ a: 1 }] }, { a: 1 }, true],
    'an object of an enum of several': [{ enum: [{ a: 1 }, { b: [1] }] }, { b: [1] }, true],
    'an object outside of an enum': [{ enum: [1, { a: 1 }] }, {}, false],
    'an object of which one value is another': [{ const: { a: 1, b: 2 } }, { a: 1, b: 3 }, false],
    'an object of which one name is another': [{ const: { a: 1, b: 2 } }, { a: 1, c: 2 }, false],
    'an object in place of a number': [{ const: 1 }, {}, false],
    'a constant': [{ const: 'a' }, 'a', true],
    'null as the constant': [{ const: null }, null, true],
    'another value than the constant': [{ const: 'a' }, 'b', false],
    'an object as the constant': [
      { const: { a: [1, { b: null }] } },
      { a: [1, { b: null }] },
      true,
    ],
    'an object with more than the constant': [{ const: { a: 1 } }, { a: 1, b: 2 }, false],
    'an object with another name than the constant': [{ const: { a: 1 } }, { b: 1 }, false],
    'a list in place of an object': [{ const: { 0: 1 } }, [1], false],
    'null in place of an object': [{ const: { a: 1 } }, null, false],
    'a number inside of its limits': [{ minimum: 1, exclusiveMaximum: 3 }, 2, true],
    'a number below its limit': [{ minimum: 3 }, 2, false],
    'a number at its exclusive limit': [{ exclusiveMinimum: 2 }, 2, false],
    'a list with too few items': [{ minItems: 2 }, [1], false],
    'a list with too many items': [{ maxItems: 0 }, [1], false],
    'a text that is short enough': [{ maxLength: 2 }, 'ab', true],
    'a text of one character with two code units': [{ maxLength: 1 }, '😀', true],
    'a text of one character as two': [{ minLength: 2 }, '😀', false],
    'a text of two characters with two code units each': [{ minLength: 2 }, '😀😀', true],
    'a text that is too long': [{ maxLength: 1 }, '😀a', false],
    'a multiple': [{ multipleOf: 2 }, 4, true],
    'a number between multiples': [{ multipleOf: 2 }, 5, false],
    'a multiple of a decimal fraction': [{ multipleOf: 0.01 }, 19.99, true],
    'a number between multiples of a decimal fraction': [{ multipleOf: 0.01 }, 19.995, false],
    'a large number that is no multiple': [{ multipleOf: 3 }, 1e20, false],
    'a limit that is no number': [{ minimum: '1' }, 0, true],
    'a limit of a text that is no number': [{ minLength: '1' }, '', true],
    'a limit of a list that is no number': [{ minItems: '1' }, [], true],
    'a limit of an object that is no number': [{ minProperties: '1' }, {}, true],
    'annotations': [{ title: 'a', default: 1, $defs: { a: false } }, 'x', true], // prettier-ignore
  },
  references: {
    'a definition': [{ $ref: '#/$defs/a', $defs: { a: { type: 'number' } } }, 1, true],
    'a definition of an older draft': [
      { $ref: '#/definitions/a', definitions: { a: { type: 'string' } } },
      1,
      false,
    ],
    'another property': [
      { properties: { a: { type: 'number' }, b: { $ref: '#/properties/a' } } },
      { b: 'x' },
      false,
    ],
    'the schema itself': [
      { properties: { a: { $ref: '#' }, b: { type: 'number' } } },
      { a: { a: { b: 'x' } } },
      false,
    ],
    'a place that is no definition': [{ $ref: '#/allOf/0', allOf: [{}] }, 1, true],
    'an encoded reference': [
      { $ref: '#/$defs/a%20~1b', $defs: { 'a /b': { type: 'string' } } },
      1,
      false,
    ],
  },
  conditions: {
    'a consequence': [{ if: { type: 'number' }, then: { minimum: 2 } }, 1, false],
    'a condition that is not met': [{ if: { type: 'string' }, then: false }, 1, true],
    'an alternative consequence': [{ if: { type: 'string' }, else: { minimum: 2 } }, 1, false],
    'a condition without consequence': [{ if: { type: 'string' }, then: {} }, 1, true],
    'a property that another requires': [{ dependentRequired: { a: ['b'] } }, { a: 1, b: 1 }, true],
    'a property without another': [{ dependentRequired: { a: ['b'] } }, { a: 1 }, false],
    'an absent property that requires another': [{ dependentRequired: { a: ['b'] } }, {}, true],
    'a schema for objects with a property': [{ dependentSchemas: { a: false } }, { a: 1 }, false],
    'a schema for objects without a property': [{ dependentSchemas: { a: false } }, {}, true],
    'a name that is too long': [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, false],
    'names that are short enough': [{ propertyNames: { maxLength: 1 } }, { a: 1 }, true],
  },
  counts: {
    'an item that is contained': [{ contains: { const: 1 } }, [2, 1], true],
    'a list that does not contain an item': [{ contains: { const: 1 } }, [2], false],
    'an empty list': [{ contains: {} }, [], false],
    'an empty list if no item is needed': [{ contains: {}, minContains: 0 }, [], true],
    'too few items of a kind': [{ contains: { const: 1 }, minContains: 2 }, [1, 2], false],
    'as many items of a kind as allowed': [{ contains: { const: 1 }, maxContains: 1 }, [1], true],
    'too many items of a kind': [{ contains: { const: 1 }, maxContains: 1 }, [1, 1], false],
    'too few properties': [{ minProperties: 1 }, {}, false],
    'enough properties': [{ minProperties: 1, maxProperties: 1 }, { a: 1 }, true],
    'too many properties': [{ maxProperties: 0 }, { a: 1 }, false],
  },
  'other parts': {
    'a property of a branch that fits': [
      { anyOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
      { a: 1 },
      true,
    ],
    'a property of a branch that does not fit': [
      { anyOf: [{ properties: { a: {} }, required: ['b'] }, {}], unevaluatedProperties: false },
      { a: 1 },
      false,
    ],
    'a property of a definition': [
      { $ref: '#/$defs/a', $defs: { a: { properties: { a: {} } } }, unevaluatedProperties: false },
      { a: 1 },
      true,
    ],
    'a property of a condition': [
      { if: { properties: { a: {} } }, unevaluatedProperties: false },
      { a: 1 },
      true,
    ],
    'a property of a consequence': [
      { if: true, then: { properties: { a: {} } }, unevaluatedProperties: false },
      { a: 1 },
      true,
    ],
    'a property of a consequence that is not due': [
      { if: true, else: { properties: { a: {} } }, unevaluatedProperties: false },
      { a: 1 },
      false,
    ],
    'a property that depends on another': [
      { dependentSchemas: { a: { properties: { a: {} } } }, unevaluatedProperties: false },
      { a: 1 },
      true,
    ],
    'a property of a schema for another property': [
      { dependentSchemas: { b: { properties: { a: {} } } }, unevaluatedProperties: false },
      { a: 1 },
      false,
    ],
    'all properties of a branch': [
      { allOf: [{ additionalProperties: true }], unevaluatedProperties: false },
      { a: 1 },
      true,
    ],
    'another property beside a rule for the items of lists': [
      { items: {}, unevaluatedItems: {}, unevaluatedProperties: false },
      { a: 1 },
      false,
    ],
    'another item beside a rule for the properties of objects': [
      { additionalProperties: {}, unevaluatedProperties: {}, unevaluatedItems: false },
      [1],
      false,
    ],
    'another property of the right type': [{ unevaluatedProperties: { type: 'number' } }, { a: 1 }, true], // prettier-ignore
    'a negated property': [
      { not: { not: { properties: { a: {} } } }, unevaluatedProperties: false },
      { a: 1 },
      false,
    ],
    'an item of a branch': [{ allOf: [{ prefixItems: [{}] }], unevaluatedItems: false }, [1], true],
    'an item behind the items of a branch': [
      { allOf: [{ prefixItems: [{}] }], unevaluatedItems: false },
      [1, 2],
      false,
    ],
    'an item that is contained': [{ contains: { const: 1 }, unevaluatedItems: false }, [1], true],
    'an item beside one that is contained': [
      { contains: { const: 1 }, unevaluatedItems: false },
      [1, 2],
      false,
    ],
  },
};

const check = (schema: JsonSchema, value: unknown): Issues =>
  new SchemaCheck(schema, new CheckSteps(1_000)).issuesOf(schema, value);

describe('SchemaCheck', () => {
  for (const [group, cases] of Object.entries(CASES))
    describe(group, () => {
      for (const [what, [schema, value, isValid]] of Object.entries(cases))
        it(`${isValid ? 'accepts' : 'rejects'} ${what}`, () => {
          expect(check(schema, value) === NONE).to.equal(isValid);
        });
    });

  it('accepts anything by what is no schema', () => {
    const schema = { properties: { a: 'text', b: null } };

    expect(check(schema, { a: 1, b: 1 })).to.equal(NONE);
  });

  for (const $ref of ['#/$defs/missing', 'https://example.com/#/$defs/a', 'x#/$defs/a', 1])
    it(`throws for the reference ${$ref}, which leads nowhere`, () => {
      expect(() => check({ $ref, $defs: { a: {} } }, 1)).to.throw(`Unresolved $ref "${$ref}"`);
    });

  it('gives up at a reference that leads back to the same value', () => {
    const root = { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/A' } } };

    expect(() => check(root, {})).to.throw(EXCEEDED.message);
  });

  it('gives up when no steps are left', () => {
    const list = Array.from({ length: 1_000 }, (_, at) => at);

    for (const schema of [{ items: {} }, { enum: Array(11_000).fill('a') }, { uniqueItems: true }])
      expect(() => check({ properties: { list: schema, text: schema } }, { list, text: 'b' }))
        .to.throw(EXCEEDED.message); // prettier-ignore
  });

  it('applies a definition to each value once', () => {
    let reads = 0;
    const definition = Object.defineProperty({}, 'type', {
      enumerable: true,
      get: () => (reads++, 'object'),
    });
    const part = { $ref: '#/$defs/a' };

    check({ allOf: [part, part, part], $defs: { a: definition } }, { value: 1 });

    expect(reads).to.equal(1);
  });

  const shown: Readonly<
    Record<string, readonly [schema: JsonSchema, value: unknown, issues: readonly string[]]>
  > = {
    'a condition': [
      { properties: { a: { if: true, then: { minimum: 2 } } } },
      { a: 1 },
      ['a: Instance does not match "then" schema.', 'a: 1 is less than 2.'],
    ],
    'a name': [
      { propertyNames: { maxLength: 1 } },
      { ab: 1 },
      [': Property name "ab" does not match schema.', 'ab: String is too long (2 > 1).'],
    ],
    'names that depend on others': [
      { dependentRequired: { a: ['b', 'c'] }, dependentSchemas: { a: { maxProperties: 0 } } },
      { a: 1 },
      [
        ': Instance has "a" but does not have "b".',
        ': Instance has "a" but does not have "c".',
        ': Instance has "a" but does not match dependent schema.',
        ': Instance does not have at most 0 properties.',
      ],
    ],
    limits: [
      {
        properties: {
          a: { exclusiveMinimum: 1, exclusiveMaximum: 1, multipleOf: 2 },
          b: { minItems: 2, contains: false, prefixItems: [false] },
        },
      },
      { a: 1, b: [1] },
      [
        'a: 1 is less than or equal to 1.',
        'a: 1 is greater than or equal to 1.',
        'a: 1 is not a multiple of 2.',
        'b: Array has too few items (1 < 2).',
        'b.0: is not allowed here',
        'b: Array must contain 1 to Infinity items that match a schema, not 0.',
      ],
    ],
    constants: [
      { not: {}, const: [1], oneOf: [{}, {}] },
      2,
      [
        ': Instance does not match [1].',
        ': Instance matched "not" schema.',
        ': Instance does not match exactly one subschema (2 matches).',
      ],
    ],
    types: [
      { type: ['string', 'null'] },
      2.5,
      [': Instance type "number" is invalid. Expected "string", "null".'],
    ],
  };
  for (const [what, [schema, value, issues]] of Object.entries(shown))
    it(`explains issues of ${what}`, () => {
      expect(check(schema, value).map(({ place, text }) => `${place}: ${text()}`)).to.deep.equal(
        issues,
      );
    });
});
