import { expect } from 'chai';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { isCutJson, PartialJsonReader } from '../../../src/core/internal/partial-json.js';
import { fuzz } from '../../support/fuzz.js';

/** The values after each piece that changed them. */
function valuesOf(pieces: Iterable<string>): readonly unknown[] {
  const reader = new PartialJsonReader();
  const values: unknown[] = [];
  for (const piece of pieces) {
    reader.read(piece);
    const value = reader.snapshot();
    if (value !== undefined && !isDeepStrictEqual(value, values.at(-1))) values.push(value);
  }
  return values;
}

function statusOf(text: string): string {
  const reader = new PartialJsonReader();
  reader.read(text);
  return reader.status;
}

describe('[D26] PartialJsonReader', () => {
  it('shows strings as they grow, and numbers and literals when they are complete', () => {
    expect(valuesOf('{"a":"xy","b":[12,true]}')).to.deep.equal([
      {},
      { a: '' },
      { a: 'x' },
      { a: 'xy' },
      { a: 'xy', b: [] },
      { a: 'xy', b: [12] },
      { a: 'xy', b: [12, true] },
    ]);
  });

  it('leaves out properties that are null, not items', () => {
    expect(valuesOf(['{"a":null,"b":[null]}'])).to.deep.equal([{ b: [null] }]);
  });

  it('never shows half of an escape sequence or of a surrogate pair', () => {
    const pieces = ['["', '\\', 'n', '\\u00', 'e9', '\ud83d', '\ude00', '\\ud83d', '\\ude00', '"]'];

    expect(valuesOf(pieces)).to.deep.equal([[''], ['\n'], ['\né'], ['\né😀'], ['\né😀😀']]);
  });

  it('shows no half of a pair of which the second half is cut', () => {
    const pieces = ['["', '\\ud83d', '\\', 'u', 'd', 'e0', '0', '"]'];

    expect(valuesOf(pieces)).to.deep.equal([[''], ['😀']]);
  });

  it('shows half of a pair that stays alone, as JSON.parse does', () => {
    for (const text of ['["\\ud83dx"]', '["\\ud83d\\n"]'])
      expect(valuesOf(text).at(-1)).to.deep.equal(JSON.parse(text));
  });

  it('does not change values that it has shown', () => {
    const values = valuesOf('{"a":{"b":[1,{"c":2}]}}');

    expect(values[0]).to.deep.equal({});
    expect(values.at(-1)).to.deep.equal({ a: { b: [1, { c: 2 }] } });
  });

  it('stops after the value', () => {
    const reader = new PartialJsonReader();

    reader.read(' [1] {');

    expect([reader.status, reader.rest]).to.deep.equal(['complete', ' {']);
    expect(reader.snapshot()).to.deep.equal([1]);
  });

  it('has no value of an invalid text', () => {
    const reader = new PartialJsonReader();

    reader.read('[1,["a"}');

    expect(reader.snapshot()).to.equal(undefined);
  });

  it('has the cost of copying what is open, a property more than an item', () => {
    const reader = new PartialJsonReader();

    reader.read('[1,[2,3],{"a":[4],"b":5,"c":[6');

    expect(reader.cost).to.equal(2 + 2 * 16 + 0);
  });

  for (const text of [
    '}',
    ']',
    '[;]',
    '{1:',
    '["\\udexy123456',
    '{a:',
    '[tru]',
    '{"__proto__":',
    '["\\x',
    '[}',
    '["\n"]',
    '["\\u12x4567890123"]',
    '{{',
  ])
    it(`rejects ${text}`, () => {
      expect(statusOf(text)).to.equal('invalid');
    });

  it('rejects what is nested too deeply', () => {
    expect(statusOf('['.repeat(200))).to.equal('open');
    expect(statusOf('['.repeat(100_000))).to.equal('invalid');
  });

  it('ends with the value of JSON.parse, however the text is cut', () => {
    const json = fc
      .jsonValue({ noUnicodeString: false } as never)
      .filter(
        (value) =>
          typeof value === 'object' &&
          value !== null &&
          !/:null|__proto__/.test(JSON.stringify(value)),
      );
    fc.assert(
      fc.property(json, fc.integer({ min: 1, max: 9 }), fc.boolean(), (value, size, pretty) => {
        const text = JSON.stringify(value, null, pretty ? 2 : 0);
        const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];

        expect(valuesOf(pieces).at(-1)).to.deep.equal(JSON.parse(text));
      }),
      fuzz('partial-json', 2_000),
    );
  });
});

describe('isCutJson', () => {
  const CUT = ['', ' \n', '{', ' {"a', '{"a":', '[1', '[[1]'];
  const OTHERS = ['{}', ' [1] ', 'text', '1', 'x{', '{a:', '[}', '"{', 'null'];
  for (const text of [...CUT, ...OTHERS])
    it(`${JSON.stringify(text)} is ${CUT.includes(text) ? '' : 'not '}the beginning of an object or array`, () => {
      expect(isCutJson(text)).to.equal(CUT.includes(text));
    });

  const LONG = '[1,2],'.repeat(300_000);
  const LONG_TEXTS: readonly (readonly [what: string, text: string, isCut: boolean])[] = [
    ['a list that ends early', `[${LONG}`, true],
    ['a string that ends early', `["${LONG}`, true],
    ['a string with brackets and quotes', `["${LONG}]\\"]`, true],
    ['a whole list', `[${LONG}3]`, false],
    ['a whole list with a text after it', `[${LONG}3] {`, false],
    ['a whole list of strings', `["${LONG}]\\"","\\\\"]`, false],
    ['no JSON', `{a${LONG}`, false],
  ];
  for (const [what, text, isCut] of LONG_TEXTS)
    it(`reads a long text: ${what}`, () => {
      expect(isCutJson(text)).to.equal(isCut);
    });

  it('takes no longer for a long text than a few times JSON.parse', () => {
    const timeOf = (work: () => unknown): number => {
      const start = performance.now();
      work();
      return performance.now() - start;
    };
    const digits = '1,'.repeat(1_000_000);
    const parsing = timeOf(() => JSON.parse(`[${digits}3]`));

    const reading = Math.min(...[1, 2, 3].map(() => timeOf(() => isCutJson(`[${digits}`))));

    expect(reading / parsing).to.be.below(4);
  });
});
