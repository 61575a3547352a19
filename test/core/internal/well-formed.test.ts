import { expect } from 'chai';
import fc from 'fast-check';
import { TextPieces, wellFormed, wellFormedJson } from '../../../src/core/internal/well-formed.js';

describe('wellFormed', () => {
  it('[D77] replaces halves of a pair, and nothing else', () => {
    expect(wellFormed('a\ud83d b😀 \ude00c')).to.equal('a\ufffd b😀 \ufffdc');
    expect(wellFormed('naïve 😀 \0')).to.equal('naïve 😀 \0');
  });
});

describe('wellFormedJson', () => {
  it('[D77] replaces escaped halves, and keeps escaped pairs and backslashes', () => {
    const text = String.raw`{"a":"\ud83d","b":"\uD83D\uDE00","c":"\\ud83d","d":"\ude00\u00e4"}`;

    expect(JSON.parse(wellFormedJson(text))).to.deep.equal({
      a: '\ufffd',
      b: '😀',
      c: '\\ud83d',
      d: '\ufffdä',
    });
  });

  it('[D77] makes every text of any JSON well-formed, and changes no other', () => {
    const units = fc.array(fc.constantFrom('a', '\\', '"', '\ud83d', '\ude00', 'ü'));
    fc.assert(
      fc.property(fc.array(units), (lists) => {
        const texts = lists.map((list) => list.join(''));
        const expected = texts.map((text) => text.toWellFormed());
        expect(JSON.parse(wellFormedJson(JSON.stringify(texts)))).to.deep.equal(expected);
      }),
    );
  });
});

describe('TextPieces', () => {
  it('[D77] add up to the well-formed text, however it is cut', () => {
    const units = fc.array(fc.constantFrom('a', '\ud83d', '\ude00'), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(units), (lists) => {
        const texts = lists.map((list) => list.join(''));
        const pieces = new TextPieces();
        const shown = [...texts.map((text) => pieces.next(text)), pieces.end()];
        expect(shown.join('')).to.equal(texts.join('').toWellFormed());
        expect(shown.every((piece) => piece.isWellFormed())).to.equal(true);
      }),
    );
  });
});
