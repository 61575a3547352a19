import { expect } from 'chai';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { PartialJsonReader } from '../../src/internal/partial-json.js';

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

  for (const text of [
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
    );
  });
});
