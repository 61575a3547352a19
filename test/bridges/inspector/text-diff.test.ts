import { expect } from 'chai';
import fc from 'fast-check';
import {
  diffTexts,
  sizesOf,
  type TextPart,
} from '../../../src/bridges/inspector/page/text-diff.js';
import { cpuTime } from '../../support/cpu-time.js';
import { expectLinearTime } from '../../support/linear-time.js';

type Texts = readonly [before: string, after: string];

const repeated = (count: number, word: (at: number) => string, between = ' '): string =>
  Array.from({ length: count }, (_, at) => word(at)).join(between);

/** Texts of so many words of four characters, about. */
const KINDS: Readonly<Record<string, (words: number) => Texts>> = {
  'one word changed': (words) => {
    const text = repeated(words, () => 'abc');
    return [text, `${text.slice(0, words)}x${text.slice(words)}`];
  },
  'all words changed': (words) => [
    repeated(words, (at) => `a${at}`),
    repeated(words, (at) => `b${at}`),
  ],
  'every second word changed': (words) => [
    repeated(words, (at) => `a${at}`),
    repeated(words, (at) => `${at % 2 ? 'a' : 'b'}${at}`),
  ],
  'the same words in another order': (words) => [
    repeated(words, (at) => `a${at}`),
    repeated(words, (at) => `a${words - at}`),
  ],
  'few words in random order': (words) => [
    repeated(words, (at) => 'abcd'[((at * 7919) % 13) % 4] ?? 'e'),
    repeated(words, (at) => 'abcd'[((at * 104729) % 17) % 4] ?? 'e'),
  ],
  'lines in another order': (words) => [
    repeated(words, (at) => `a${at}`, '\n'),
    repeated(words, (at) => `a${(at * 7919) % words}`, '\n'),
  ],
  'characters of one line': (words) => ['漢字'.repeat(words), '字語'.repeat(words)],
  'white space alone': (words) => [' \n'.repeat(words), '\n \t'.repeat(words)],
};

describe('differences of texts in the inspector', () => {
  const without = (parts: readonly TextPart[], type: TextPart['type']): string =>
    parts.map((part) => (part.type === type ? '' : part.text)).join('');
  const short = (before: string, after: string): string =>
    diffTexts(before, after)
      .map(({ type, text }) => ({ same: text, removed: `[-${text}-]`, added: `[+${text}+]` })[type])
      .join('');

  it('gives the old and the new text', () => {
    const words = fc.array(fc.constantFrom('a', 'bb', ' ', '\n', '.', 'é', '漢', '😀', 'same'), {
      maxLength: 60,
    });
    const texts = fc.oneof(
      words.map((list) => list.join('')),
      fc.string({ unit: 'binary' }),
    );

    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const parts = diffTexts(before, after);

        expect(without(parts, 'added')).to.equal(before);
        expect(without(parts, 'removed')).to.equal(after);
      }),
    );
  });

  it('joins neighbours, and has no empty part', () => {
    const texts = fc
      .array(fc.constantFrom('a', 'b', ' ', '\n'), { maxLength: 40 })
      .map((list) => list.join(''));

    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const parts = diffTexts(before, after);

        expect(parts.every(({ text }) => text !== '')).to.equal(true);
        expect(parts.every(({ type }, at) => type !== parts[at + 1]?.type)).to.equal(true);
      }),
    );
  });

  it('marks the words that changed', () => {
    expect(
      short('The invoice of Anna is due on Monday.', 'The invoice of [name] is due on Monday.'),
    ).to.equal('The invoice of [-Anna-][+[name]+] is due on Monday.');
    expect(short('a b c d', 'a b x c d')).to.equal('a b [+x +]c d');
    expect(short('one\ntwo\nthree\n', 'one\nthree\n')).to.equal('one\n[-two\n-]three\n');
    expect(short('今日は雨です', '今日は晴です')).to.equal('今日は[-雨-][+晴+]です');
  });

  it('shows neighbouring replacements as one', () => {
    expect(short('We drink red wine at eight.', 'We drink white beer at eight.')).to.equal(
      'We drink [-red wine-][+white beer+] at eight.',
    );
  });

  it('shows texts with little in common as replaced', () => {
    expect(short('The whole story of the old house', 'A summary: of nothing')).to.equal(
      '[-The whole story of the old house-][+A summary: of nothing+]',
    );
  });

  it('has no part for empty texts, and one for equal ones', () => {
    expect(diffTexts('', '')).to.deep.equal([]);
    expect(diffTexts('a b', 'a b')).to.deep.equal([{ type: 'same', text: 'a b' }]);
    expect(sizesOf(diffTexts('', 'new'))).to.deep.equal({ same: 0, removed: 0, added: 3 });
  });

  for (const [kind, textsOf] of Object.entries(KINDS))
    it(`takes time in proportion to the texts: ${kind}`, () => {
      expectLinearTime((size) => {
        const [before, after] = textsOf(size);
        const time = cpuTime();
        diffTexts(before, after);
        return time();
      }, 20_000);
    });
});
