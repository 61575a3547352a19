import { Validator, type Schema } from '@cfworker/json-schema';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonSchema } from '../../src/chat/tool-definition.js';
import { quickCheck } from '../../src/tool/schema/quick-check.js';
import { withoutPatterns } from '../../src/tool/schema/schema-patterns.js';
import { jsonSchemaValidator } from '../../src/tool/schema/validation.js';
import { anyValue, commonSchema, fitting, legalArguments, legalSchema } from './schemas.js';

const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true });

/** What the validator says that is asked where the quick check is not sure. */
function isValid(schema: unknown, value: unknown): boolean {
  return new Validator(structuredClone(schema) as Schema, '2020-12', false).validate(value).valid;
}

const withValue = (schemas: fc.Arbitrary<unknown>): fc.Arbitrary<readonly [schema: unknown, value: unknown]> =>
  schemas.chain((schema) => fc.tuple(fc.constant(schema), fc.oneof(fitting(schema), fitting(schema), anyValue)));

describe('quickCheck', function () {
  this.timeout(120_000);
  this.slow(60_000);

  const RUNS = 15_000;
  it(`[F19] never accepts what the validator refuses (${RUNS} cases)`, () => {
    const count = { sure: 0, valid: 0, refused: 0 };
    const property = fc.property(
      fc.oneof(withValue(legalSchema), withValue(legalArguments), withValue(commonSchema)),
      ([schema, value]) => {
        const isSure = quickCheck(schema)(value);
        const valid = isValid(schema, value);
        if (isSure) expect(valid, JSON.stringify({ schema, value })).to.equal(true);
        count[isSure ? 'sure' : valid ? 'valid' : 'refused']++;
      },
    );

    fc.assert(property, { numRuns: RUNS });

    console.log(`      surely valid ${count.sure}, valid after a second look ${count.valid}, refused ${count.refused}`);
    expect(Math.min(count.sure, count.refused)).to.be.greaterThan(RUNS / 10);
  });

  const object = { type: 'object', properties: { a: { type: 'string', minLength: 1 }, b: { enum: ['x', 1] } }, required: ['a'] };
  const cases: Readonly<Record<string, readonly [schema: unknown, value: unknown, isSure: boolean]>> = {
    'what fits': [object, { a: 'x', b: 1, c: null }, true],
    'a missing property': [object, { b: 1 }, false],
    'an inherited property': [{ required: ['toString'] }, {}, false],
    'an inherited property with a schema': [{ properties: { constructor: { type: 'string' } } }, {}, true],
    'a text of one character with two units': [{ minLength: 2 }, '😀', false],
    'a text of two characters with two units each': [{ minLength: 2 }, '😀😀', true],
    'a text that is not blank': [{ minLength: 1 }, 'x', true],
    'an integer with a point': [{ type: 'integer' }, 2.0, true],
    'no integer': [{ type: 'integer' }, 2.5, false],
    'no finite integer': [{ type: 'integer' }, Infinity, false],
    'one of several types': [{ type: ['string', 'null'] }, null, true],
    'an unknown type': [{ type: ['string', 'dict'] }, 'x', false],
    'another property where none is allowed': [{ properties: { a: {} }, additionalProperties: false }, { b: 1 }, false],
    'another property of the right type': [{ properties: { a: {} }, additionalProperties: { type: 'number' } }, { a: 'x', b: 1 }, true],
    'an object among the values': [{ enum: [{ a: 1 }] }, { a: 1 }, false],
    'an alternative': [{ anyOf: [{ type: 'string' }, object] }, { a: 'x' }, true],
    'a keyword that it does not know': [{ type: 'string', multipleOf: 1 }, 'x', false],
    'a word that nobody knows': [{ type: 'string', nullable: true }, 'x', false],
    'a reference': [{ $ref: '#/$defs/a', $defs: { a: {} } }, 'x', false],
    'a property with a keyword that it does not know, left out': [{ properties: { a: { format: 'date' } } }, {}, true],
    'anything where nothing is said': [{ description: 'x', default: 1 }, 'x', true],
    'anything where all is allowed': [true, 'x', true],
    'nothing where nothing is allowed': [false, 'x', false],
  };
  for (const [what, [schema, value, isSure]] of Object.entries(cases))
    it(`is ${isSure ? '' : 'not '}sure of ${what}`, () => {
      expect(quickCheck(schema)(value)).to.equal(isSure);
    });
});

describe('jsonSchemaValidator', function () {
  this.timeout(120_000);
  this.slow(60_000);

  it('[F19] accepts exactly what another validator accepts, patterns aside (1,000 schemas, 10 values each)', () => {
    let valid = 0;
    const values = (schema: JsonSchema): fc.Arbitrary<readonly unknown[]> =>
      fc.array(fc.oneof(fitting(schema), fitting(schema), anyValue), { minLength: 10, maxLength: 10 });
    const cases = legalArguments.chain((schema) => fc.tuple(fc.constant(schema), values(schema)));
    const property = fc.property(cases, ([schema, tried]) => {
      fc.pre(!JSON.stringify(schema).includes('"contains"')); // the other one takes empty arrays, which contain nothing
      const validate = jsonSchemaValidator(schema);
      const reference = ajv.compile(withoutPatterns(schema));
      for (const value of tried) {
        const verdict = validate(value);
        expect('value' in verdict, JSON.stringify({ schema, value, verdict })).to.equal(reference(value));
        if ('value' in verdict) valid++;
        else expect(verdict.issues).to.have.length.within(1, 8);
      }
    });

    fc.assert(property, { numRuns: 1_000 });

    expect(valid).to.be.within(1_000, 9_000);
  });
});
