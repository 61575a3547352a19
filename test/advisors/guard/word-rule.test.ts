import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { findAll } from '../../../advisors/guard/guard-rule.js';
import { redact } from '../../../advisors/guard/redaction.js';
import { wordRule } from '../../../advisors/guard/word-rule.js';
import { anySizes, piecesOf, shownFor } from '../../support/redaction.js';
import { sweep } from '../../support/sweep.js';

const shown = (words: readonly string[], text: string): string =>
  redact(text, [wordRule({ words })]).text;

describe('wordRule', () => {
  it('finds words where they are written', () => {
    const rule = wordRule({ words: ['bad'], name: 'insults' });

    expect(findAll(rule, 'a b\u200bаd, BAD.')).to.deep.equal([
      { start: 2, end: 6, kind: 'insults' },
      { start: 8, end: 11, kind: 'insults' },
    ]);
  });

  it('[D88] finds letters in symbols, of phonetic alphabets and small capitals, and stretched ones', () => {
    const alphabet = (first: number): string =>
      [...'bad'].map((each) => String.fromCodePoint(first + each.charCodeAt(0) - 97)).join('');
    const texts = [0x1f170, 0x1f150, 0x1f1e6].map(alphabet);
    texts.push('ʙᴀᴅ', 'ɓɐɖ', 'ƀⱥᶑ', 'Ƀʌđ', 'bɑȡ', '🅱️a🅳');

    for (const text of texts) expect(shown(['bad'], `a ${text} b`), text).to.equal('a [words] b');
    expect(shown(['مرحبا'], 'مرحـــبا')).to.equal('[words]');
    expect(shown(['bad'], '🇩🇪bad')).to.equal('🇩🇪[words]');
  });

  it('finds the longest of several words', () => {
    expect(
      shown(['new', 'new york', 'new york city'], 'New York City, new york, new yorker'),
    ).to.equal('[words], [words], [words] yorker');
  });

  it('finds phrases with any spaces and signs between their words', () => {
    for (const text of [
      'top secret',
      'TOP  SECRET',
      'top\n\n  secret',
      'top-secret',
      't o p  s e c r e t',
      't-o-p s-e-c-r-e-t',
    ])
      expect(shown(['top secret'], text), text).to.equal('[words]');
    expect(shown(['top secret'], `top${' '.repeat(9)}secret, topsecret`)).to.equal(
      `top${' '.repeat(9)}secret, topsecret`,
    );
  });

  it('keeps words of other words: no letters are joined over spaces', () => {
    for (const text of ['to get her', 'as sass', 'assassin', 'the rapist', 'a s sb', 'x.as.s1'])
      expect(shown(['together', 'ass', 'therapist'], text), text).to.equal(text);
  });

  it('accepts spaces between all letters, or signs between some', () => {
    for (const text of ['a s s', 'a.ss', 'as*s', 'a - s - s', '(a)(s)(s)'])
      expect(shown(['ass'], text).replace(/[^\w[\]]/g, ''), text).to.equal('[words]');
  });

  it('takes signs of a word for signs, and for letters', () => {
    expect(shown(['c++', 'a$$'], 'C++ and A$$ and ass')).to.equal('[words] and [words] and ass');
  });

  it('sees the letter before characters that are not shown, in any pieces', () => {
    const text = `x${'\u200b'.repeat(40)}bad ${'\u200b'.repeat(40)}bad`;

    expect(shownFor([wordRule({ words: ['bad'] })], [...text]).join('')).to.equal(
      `${text.slice(0, -3)}[words]`,
    );
  });

  it('finds letters of two UTF-16 units in pieces of one', () => {
    expect(shownFor([wordRule({ words: ['bad'] })], '𝐛𝐚𝐝'.split('')).join('')).to.equal('[words]');
  });

  it('takes a sign that may be a letter or a gap for the letter', () => {
    const rule = wordRule({ words: ['s'.repeat(24), 'as'] });

    // with both ways there would be 2 ** 48 for the first word
    expect(redact(`${'$'.repeat(48)} a$`, [rule]).text).to.equal('[words][words] [words]');
  });

  it('holds back no more than the word that may follow', () => {
    const rule = wordRule({ words: ['bad', 'bad word'] });

    expect(shownFor([rule], ['a b', 'and bad ', 'words', ' b'])).to.deep.equal([
      'a ',
      'band ',
      '[words] words',
      ' ',
      'b',
    ]);
  });

  it('finds the same for any pieces', () => {
    const rules = [
      wordRule({ words: ['bad', 'a b', 'b1d', 'плохо', '坏'] }),
      wordRule({ words: ['ad'], match: 'anywhere', name: 'part' }),
    ];
    const unit = fc.constantFrom(
      ...'aabbddABD14@$ .-',
      '\n',
      '\\',
      'n',
      '\u200b',
      '\u0301',
      'а',
      'п',
      'л',
      'о',
      'х',
      '坏',
      'ﬁ',
      '𝐛',
      '\ud835',
      '\udc1b',
      '😀',
      'İ',
      'Σ',
      '\0',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), anySizes, (text, sizes) => {
        expect(shownFor(rules, piecesOf(text, sizes)).join('')).to.equal(redact(text, rules).text);
      }),
      { numRuns: sweep(20_000) },
    );
  });

  for (const [options, message] of [
    [{}, 'words must be a list of at least one word, each with a letter or digit, not undefined'],
    [
      { words: [] },
      'words must be a list of at least one word, each with a letter or digit, not an array of 0',
    ],
    [
      { words: ['ok', '\u200b'] },
      'words must be a list of at least one word, each with a letter or digit, not an array of 2',
    ],
    [{ words: ['ok'], match: 'part' }, `match must be 'word' or 'anywhere', not "part"`],
    [{ words: ['ok'], name: '' }, 'name must be a non-blank string, not ""'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => wordRule(options as never)).to.throw(
        InvalidArgumentError,
        `wordRule: ${message}`,
      );
    });
});
