import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { type JsonValue, canonicalJson } from '../../src/core/internal/json.js';
import type { ToolCall } from '../../src/core/chat/message.js';
import type { JsonSchema } from '../../src/core/chat/tool-definition.js';
import { JsonError } from '../../src/core/errors/errors.js';
import { parseArguments } from '../../src/core/tool-execution/check-call.js';
import { defineTool } from '../../src/core/tool/define-tool.js';
import { withoutPatterns } from '../../src/core/json-schema/validator.js';
import { runBatch } from './batch.js';
import { anyValue, commonArguments, fitting, legalArguments } from './schemas.js';
import { fuzz } from './fuzz.js';
import { sameCalls } from './same-calls.js';

const hostileKey = fc.constantFrom(
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'a',
  'b',
  '',
);
const json = fc.letrec<{ value: unknown; object: object }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.jsonValue({ maxDepth: 1 }),
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  object: fc
    .array(fc.tuple(fc.oneof(hostileKey, fc.string()), tie('value')), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries) as object),
})).object;

/** Texts as models write them: JSON, JSON with an error somewhere, and anything. */
const text = fc.oneof(
  json.map((value) => JSON.stringify(value)),
  fc
    .tuple(json, fc.nat(), fc.nat(3), fc.string({ maxLength: 3 }))
    .map(([value, at, length, put]) => {
      const whole = JSON.stringify(value);
      const start = at % (whole.length + 1);
      return whole.slice(0, start) + put + whole.slice(start + length);
    }),
  fc.tuple(json, fc.nat()).map(([value, at]) => JSON.stringify(value).slice(0, at % 40)),
  fc
    .array(fc.tuple(hostileKey, fc.jsonValue({ maxDepth: 0 })), { maxLength: 4 })
    .map(
      (entries) =>
        `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`,
    ),
  fc.string(),
);

const PROTOTYPE = Reflect.ownKeys(Object.prototype);

/** Checks that every object of a value has the plain prototype and no key that could replace it. */
function isHarmless(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const plain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return plain && !Object.hasOwn(value, '__proto__') && Object.values(value).every(isHarmless);
}

/** The numbers of generated cases. */
export interface ArgumentCases {
  readonly texts: number;
  readonly schemas: number;
  readonly values: number;
}

/** Registers the property tests of tool arguments. */
export function itChecksArguments({ texts, schemas, values }: ArgumentCases): void {
  describe('parseArguments', () => {
    it(`[F15] [F17] returns a harmless value or throws a JsonError for any text (${texts} cases)`, function () {
      this.timeout(60_000);
      let values = 0;
      let errors = 0;

      fc.assert(
        fc.property(text, (input) => {
          try {
            const value = parseArguments(input);
            values++;
            expect(isHarmless(value), 'harmless').to.equal(true);
            expect(canonicalJson(value)).to.equal(
              canonicalJson((input.trim() === '' ? {} : (JSON.parse(input) ?? {})) as JsonValue),
            );
          } catch (error) {
            errors++;
            if (!(error instanceof JsonError)) throw error;
            expect(error.message.length).to.be.within(1, 500);
          }
        }),
        { ...fuzz('arguments', 0), numRuns: texts },
      );

      expect(Reflect.ownKeys(Object.prototype)).to.deep.equal(PROTOTYPE);
      expect(values, 'values').to.be.greaterThan(texts / 5);
      expect(errors, 'errors').to.be.greaterThan(texts / 5);
    });

    it(`[F16] rejects an object with duplicate keys at any depth, and accepts it without them (${values} cases)`, () => {
      const wraps = fc.array(
        fc.constantFrom<(inner: string) => string>(
          (inner) => `[1,${inner}]`,
          (inner) => `{"x":${inner}}`,
          (inner) => ` ${inner} `,
        ),
        { maxLength: 20 },
      );
      const put = (layers: readonly ((inner: string) => string)[], inner: string): string =>
        layers.reduce((whole, layer) => layer(whole), inner);

      fc.assert(
        fc.property(wraps, fc.string(), fc.integer(), (layers, key, value) => {
          fc.pre(key !== '__proto__');
          const entry = `${JSON.stringify(key)}:${JSON.stringify(value)}`;
          expect(() => parseArguments(put(layers, `{${entry}}`))).to.not.throw();
          expect(() => parseArguments(put(layers, `{${entry},"_":0,${entry}}`))).to.throw(
            JsonError,
          );
        }),
        { numRuns: values },
      );
    });
  });

  describe('the arguments of a tool', function () {
    this.timeout(120_000);
    this.slow(60_000);

    const CALLS = 20;
    it(`[F15] [F17] [F19] satisfy its schema, whatever the model writes (${schemas * CALLS} cases)`, async () => {
      const ajv = new Ajv2020({ strict: false, ownProperties: true });
      const count = { ran: 0, refused: 0 };
      const broken = fc.tuple(fc.nat(), fc.constantFrom('', '}', '"', ',', '{"__proto__":1}'));
      const texts = (schema: JsonSchema): fc.Arbitrary<readonly string[]> => {
        const right = fc
          .oneof(fitting(schema), fitting(schema), anyValue)
          .map((value) => JSON.stringify(value));
        const wrong = fc.tuple(right, broken).map(([whole, [at, put]]) => {
          const start = at % (whole.length + 1);
          return whole.slice(0, start) + put + whole.slice(start + 1);
        });
        return fc.array(
          fc.oneof({ weight: 4, arbitrary: right }, { weight: 1, arbitrary: wrong }),
          {
            minLength: CALLS,
            maxLength: CALLS,
          },
        );
      };
      const cases = fc
        .oneof(legalArguments, commonArguments)
        .map(withoutPatterns)
        .chain((schema) => fc.tuple(fc.constant(schema), texts(schema)));
      const property = fc.asyncProperty(cases, async ([schema, args]) => {
        const isValid = ajv.compile(schema);
        const got: unknown[] = [];
        const tool = defineTool({
          name: 'tool',
          input: schema,
          execute: (value) => void got.push(value),
        });
        // one batch each: a call that is cut off stops all calls of its batch
        const batches = args.map((each) => runBatch([tool], [{ name: 'tool', args: each }]));
        const results = (await Promise.all(batches)).flatMap((batch) => batch.results);
        for (const value of got)
          expect(isValid(value) && isHarmless(value), JSON.stringify({ schema, value })).to.equal(
            true,
          );
        expect(results.filter(({ result }) => result.isError)).to.have.length(CALLS - got.length);
        count.ran += got.length;
        count.refused += CALLS - got.length;
      });

      await fc.assert(property, { ...fuzz('arguments-of-tools', 0), numRuns: schemas });

      console.log(`      ${count.ran} calls ran, ${count.refused} were refused`);
      expect(Math.min(count.ran, count.refused)).to.be.greaterThan((schemas * CALLS) / 20);
    });
  });

  describe('sameCalls', () => {
    it(`is true exactly for equal values (${values} cases)`, () => {
      const read = (value: unknown, spaces: number): readonly ToolCall[] => [
        { id: 'x', name: 'a', arguments: JSON.stringify(value, null, spaces) },
      ];
      // arguments with a key that is refused are compared as text
      const object = fc
        .dictionary(
          fc.string().filter((name) => name !== 'prototype'),
          fc.jsonValue(),
        )
        .filter(isHarmless);

      fc.assert(
        fc.property(object, object, (a, b) => {
          const reversed = Object.fromEntries(Object.entries(a).reverse());
          expect(sameCalls(read(reversed, 2), read(a, 0))).to.equal(true);
          expect(sameCalls(read(a, 0), read(b, 0))).to.equal(
            canonicalJson(a as JsonValue) === canonicalJson(b as JsonValue),
          );
        }),
        { numRuns: values },
      );
    });
  });
}
