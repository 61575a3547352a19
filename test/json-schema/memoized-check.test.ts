import { expect } from 'chai';
import type { JsonSchema } from '../../src/chat/tool-definition.js';
import { CheckSteps } from '../../src/json-schema/check-steps.js';
import { MemoizedCheck } from '../../src/json-schema/memoized-check.js';

const RARE = { format: 'date' };
const itself: Record<string, unknown> = {};
itself['self'] = itself;

type Case = readonly [schema: JsonSchema, value: unknown, verdict: boolean | undefined];

const CASES: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  alternatives: {
    'all of them': [{ allOf: [{}, { type: 'number' }] }, 1, true],
    'not all of them': [{ allOf: [{ type: 'number' }, { type: 'string' }] }, 1, false],
    'not all of them, beside a rare one': [{ allOf: [RARE, { type: 'string' }] }, 1, false],
    'all of them, beside a rare one': [{ allOf: [{}, RARE] }, 1, undefined],
    'any of them': [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 1, true],
    'any of them, beside a rare one': [{ anyOf: [RARE, { type: 'number' }] }, 1, true],
    'none of them': [{ anyOf: [{ type: 'string' }, false] }, 1, false],
    'none of them, beside a rare one': [{ anyOf: [{ type: 'string' }, RARE] }, 1, undefined],
    'one of them': [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, 1, true],
    'two of one': [{ oneOf: [{}, { type: 'number' }] }, 1, false],
    'two of one, beside a rare one': [{ oneOf: [{}, true, RARE] }, 1, false],
    'one of them, beside a rare one': [{ oneOf: [{}, RARE] }, 1, undefined],
    'none of one': [{ oneOf: [false, { type: 'string' }] }, 1, false],
    'a negation': [{ not: { type: 'string' } }, 1, true],
    'the opposite of a negation': [{ not: { type: 'number' } }, 1, false],
    'a negation of a rare one': [{ not: RARE }, 1, undefined],
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
    'a property with a rare keyword': [{ properties: { a: RARE } }, { a: 1 }, undefined],
    'an absent property': [{ properties: { a: false, toString: false } }, {}, true],
    'only known properties': [{ properties: { a: {} }, additionalProperties: false }, { a: 1 }, true], // prettier-ignore
    'an unknown property': [{ properties: { a: {} }, additionalProperties: false }, { b: 1 }, false], // prettier-ignore
    'an additional property of the right type': [
      { additionalProperties: { type: 'number' } },
      { a: 1 },
      true,
    ],
    'a property that a pattern may allow': [
      { patternProperties: { '^a': {} }, additionalProperties: false },
      { a: 1 },
      undefined,
    ],
  },
  lists: {
    'keywords of lists for an object': [{ items: false, uniqueItems: true }, { a: 1 }, true],
    'valid items': [{ items: { type: 'number' } }, [1, 2], true],
    'an invalid item': [{ items: { type: 'number' } }, [1, 'a'], false],
    'a tuple': [{ prefixItems: [{}], items: false }, [1], undefined],
    'a tuple of an older draft': [{ items: [{ type: 'string' }] }, [1], undefined],
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
    'items that are not JSON': [{ uniqueItems: true }, [itself], undefined],
  },
  values: {
    'a value of an enum': [{ enum: ['a', null] }, null, true],
    'a value outside of an enum': [{ enum: ['a', 1] }, 'b', false],
    'an object of an enum': [{ enum: [{ a: 1 }] }, { a: 1 }, undefined],
    'a constant': [{ const: 'a' }, 'a', true],
    'null as the constant': [{ const: null }, null, true],
    'another value than the constant': [{ const: 'a' }, 'b', false],
    'an object as the constant': [{ const: { a: 1 } }, { a: 1 }, undefined],
    'a number inside of its limits': [{ minimum: 1, exclusiveMaximum: 3 }, 2, true],
    'a number below its limit': [{ minimum: 3 }, 2, false],
    'a number at its exclusive limit': [{ exclusiveMinimum: 2 }, 2, false],
    'a list with too few items': [{ minItems: 2 }, [1], false],
    'a list with too many items': [{ maxItems: 0 }, [1], false],
    'a text that is short enough': [{ maxLength: 2 }, 'ab', true],
    'a text that may be too long': [{ maxLength: 1 }, '😀', undefined],
    'a number of a rare keyword': [{ multipleOf: 2 }, 4, undefined],
    'a limit that is no number': [{ minimum: '1' }, 2, undefined],
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
    'a definition that is missing': [{ $ref: '#/$defs/b', $defs: { a: {} } }, 1, undefined],
    'a place that is no definition': [{ $ref: '#/allOf/0', allOf: [{}] }, 1, undefined],
    'an encoded reference': [{ $ref: '#/$defs/a%20b', $defs: { 'a%20b': {} } }, 1, undefined],
    'another document': [{ $ref: 'https://example.com/#/$defs/a', $defs: { a: {} } }, 1, undefined],
    'a pointer behind other characters': [{ $ref: 'x#/$defs/a', $defs: { a: {} } }, 1, undefined],
    'a reference that is no text': [{ $ref: 1 }, 1, undefined],
    'a reference below an identifier': [
      { $ref: '#/$defs/a', $defs: { a: { $id: 'https://example.com/a' } } },
      1,
      undefined,
    ],
    'a reference below an anchor': [
      { $ref: '#/$defs/a', $defs: { a: {}, b: { $recursiveAnchor: true } } },
      1,
      undefined,
    ],
    'a reference beside a property that is named id': [
      { $ref: '#/$defs/a', $defs: { a: { type: 'number' } }, default: { id: 1 } },
      1,
      true,
    ],
  },
};

describe('MemoizedCheck', () => {
  for (const [group, cases] of Object.entries(CASES))
    describe(group, () => {
      for (const [what, [schema, value, verdict]] of Object.entries(cases))
        it(`${verdict === undefined ? 'decides nothing for' : verdict ? 'accepts' : 'rejects'} ${what}`, () => {
          expect(new MemoizedCheck(schema, new CheckSteps(1_000)).check(value)).to.equal(verdict);
        });
    });

  it('decides nothing by what is no schema', () => {
    const check = new MemoizedCheck({ properties: { a: 'text', b: null } }, new CheckSteps(1_000));

    expect(check.check({ a: 1 })).to.equal(undefined);
    expect(check.check({ b: 1 })).to.equal(undefined);
  });

  it('applies a definition to each value once', () => {
    let reads = 0;
    const definition = Object.defineProperty({}, 'type', {
      enumerable: true,
      get: () => (reads++, 'object'),
    });
    const part = { $ref: '#/$defs/a' };
    const check = new MemoizedCheck(
      { allOf: [part, part, part], $defs: { a: definition } },
      new CheckSteps(1_000),
    );
    const readsBefore = reads;

    expect(check.check({ value: 1 })).to.equal(true);

    // one read is that of the text in which identifiers are searched
    expect(reads - readsBefore).to.equal(2);
  });
});
