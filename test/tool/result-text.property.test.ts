import { expect } from 'chai';
import fc from 'fast-check';
import { cutText, resultText } from '../../src/tool/result-text.js';

const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
});

/** Whether a text has no half of a surrogate pair. */
function isWellFormed(text: string): boolean {
  try {
    return encodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}

describe('resultText', () => {
  it('[F33] gives a text for anything, JSON unless it is a text itself (5000 cases)', () => {
    fc.assert(
      fc.property(anything, (value) => {
        const text = resultText(value);
        expect(text).to.be.a('string');
        expect(resultText(value)).to.equal(text);
        if (typeof value !== 'string' && text !== 'Done') expect(() => JSON.parse(text)).to.not.throw();
      }),
      { numRuns: 5000 },
    );
  });

  it('[F33] is what JSON.stringify gives where JSON can express the value (2000 cases)', () => {
    const notText = fc.jsonValue().filter((value) => typeof value !== 'string');
    fc.assert(
      fc.property(notText, (value) => {
        expect(JSON.parse(resultText(value))).to.deep.equal(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('cutText', () => {
  it('[F32] cuts whole characters off, and only as many as needed (5000 cases)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), fc.integer({ min: 1, max: 30 }), (text, length) => {
        const kept = text.length <= length ? text : cutText(text, length).replace(/\n\[cut from \d+ to \d+ characters\]$/, '');
        expect(text.startsWith(kept)).to.equal(true);
        expect(kept.length).to.be.within(Math.min(text.length, length) - 1, Math.min(text.length, length));
        expect(isWellFormed(kept)).to.equal(isWellFormed(text));
      }),
      { numRuns: 5000 },
    );
  });
});
