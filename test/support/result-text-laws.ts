import { expect } from 'chai';
import fc from 'fast-check';
import { truncateText } from '../../src/core/internal/text.js';
import { resultText } from '../../src/core/tool/result-text.js';

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

/** Checks that a text has no unpaired surrogate. */
function isWellFormed(text: string): boolean {
  try {
    return encodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}

/** Registers the property tests of result texts. */
export function itWritesResultTexts(cases: number): void {
  describe('resultText', () => {
    it(`[F33] returns a text for any value: a string unchanged, otherwise JSON (${cases} cases)`, () => {
      fc.assert(
        fc.property(anything, (value) => {
          const text = resultText(value);
          expect(text).to.be.a('string');
          expect(resultText(value)).to.equal(text);
          if (typeof value !== 'string' && text !== 'Done')
            expect(() => JSON.parse(text)).to.not.throw();
        }),
        { numRuns: cases },
      );
    });

    it(`[F33] equals JSON.stringify if JSON can express the value (${cases} cases)`, () => {
      const notText = fc.jsonValue().filter((value) => typeof value !== 'string');
      fc.assert(
        fc.property(notText, (value) => {
          expect(JSON.parse(resultText(value))).to.deep.equal(JSON.parse(JSON.stringify(value)));
        }),
        { numRuns: cases },
      );
    });
  });

  describe('truncateText', () => {
    it(`[F32] removes whole characters, and only as many as needed (${cases} cases)`, () => {
      fc.assert(
        fc.property(
          fc.string({ unit: 'binary', maxLength: 30 }),
          fc.integer({ min: 1, max: 30 }),
          (text, length) => {
            const cut = truncateText(text, length);
            const note = / of \d+ characters cut\]/.test(cut)
              ? /(?:^|\n)\[\d+ of \d+ characters cut\](?:\n|$)/.exec(cut)
              : null;
            const beginning = note ? cut.slice(0, note.index) : cut;
            const end = note ? cut.slice(note.index + note[0].length) : '';
            expect(text.startsWith(beginning) && text.endsWith(end)).to.equal(true);
            const kept = beginning + end;
            expect(kept.length).to.be.within(
              Math.min(text.length, length) - (text.length > length ? 2 : 0),
              Math.min(text.length, length),
            );
            expect(isWellFormed(kept)).to.equal(isWellFormed(text));
          },
        ),
        { numRuns: cases },
      );
    });
  });
}
