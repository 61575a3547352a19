import { expect } from 'chai';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { Pattern } from '../../../src/stores/tool-indexes/pattern.js';
import {
  ATTACKS,
  EXPENSIVE,
  expectMatchesOfRegExp,
  expectPatternsOrRejections,
  randomLetters,
  rejectionOf,
} from '../../support/patterns.js';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** A pattern, a text, and whether the pattern matches in it. */
type Row = readonly [source: string, text: string, found: boolean];

const raw = String.raw;

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  'literals in any case': [
    ['issue', 'list_issues', true],
    ['ISSUE', 'list_issues', true],
    ['über', 'ÜBER', true],
    ['σοφός', 'ΣΟΦΌΣ', true],
    ['ΠΌΛΗΣ', 'πόλης', true],
    ['погода', 'Какая ПОГОДА', true],
    ['k', '\u212a', true],
    ['\u017f', 'S', true],
    ['i', 'ıİ', false],
    ['ı', 'iIıİ', true],
    ['İ', 'iIıİ', true],
    ['ß', 'ẞ', true],
    ['ß', 'ss', false],
    ['', 'abc', true],
    ['', '', true],
    ['a', '', false],
    ['𐐀', 'x𐐨', true],
  ],
  'any character but line ends': [
    ['a.c', 'xabc', true],
    ['a.c', 'a\nc', false],
    ['a.c', 'a\u2028c', false],
    ['^.$', '😀', true],
    ['^..$', '😀', false],
  ],
  escapes: [
    [raw`\d\D`, 'a1b', true],
    [raw`\w\W`, 'ab-', true],
    [raw`\s\S`, 'a b', true],
    [raw`a\tb\nc\rd\ve\ff`, 'a\tb\nc\rd\ve\ff', true],
    [raw`\x41\u0042\u{43}`, 'abc', true],
    [raw`\u{1F600}`, 'a😀', true],
    [raw`\.\\\-\_\/\{\}\[\]\(\)\^\$\|\*\+\?\ \"\é`, '.\\-_/{}[]()^$|*+? "é', true],
    [raw`\0`, 'a\0', true],
    [raw`\p{L}\p{N}`, '1é5', true],
    [raw`^\p{Lu}\p{Ll}\P{P}$`, 'Aa1', true],
    [raw`\p{Nd}\p{S}`, '1+', true],
  ],
  classes: [
    ['[a-c_]+', 'xx_B', true],
    ['[^a-z]', 'abC1', true],
    ['[^A-Z]', 'abc', false],
    ['[-a]', 'x-', true],
    ['[a-]', 'x-', true],
    [raw`[\w-.]+`, '(a-b.c)', true],
    [raw`[a-\d]`, '-', true],
    [raw`[\]\[\\]`, 'a]', true],
    ['[[.]', 'a[', true],
    [raw`[\W_]`, 'ab_', true],
    [raw`[^\W_]`, '_a', true],
    [raw`[\b]`, 'a\b', true],
    [raw`[\x30-\u{39}]`, 'a5', true],
    ['[\u{1F600}-\u{1F610}]', 'a😃', true],
    ['[(|.*+?$]{7}', '(|.*+?$', true],
    [raw`\p{Lu}|[^\p{L}]`, '5', true],
    ['[^a]|[b-c]', 'aA', false],
  ],
  'alternatives and groups': [
    ['cat|dog', 'a dog', true],
    ['(cat|dog)s', 'a dogs', true],
    ['(?:a|b)c', 'abc', true],
    ['(?<name>a)b', 'ab', true],
    ['(?P<name>a)b', 'ab', true],
    ['(?i)ab', 'xAB', true],
    ['(?i:ab)c', 'ABC', true],
    ['a||b', 'x', true],
    ['(|a)b', 'b', true],
    ['()a', 'a', true],
    ['b|abc|a', 'xabc', true],
  ],
  quantifiers: [
    ['ab*c', 'ac abbc', true],
    ['ab+c', 'ac abbc', true],
    ['ab?c', 'abbc abc', true],
    ['^a{2}$', 'aa', true],
    ['^a{2}$', 'aaa', false],
    ['a{2,}', 'a aa', true],
    ['^a{1,3}$', 'aaa', true],
    ['^a{1,3}$', 'aaaa', false],
    ['^(ab){2,}$', 'ababab', true],
    ['^(ab){2,3}c', 'abababc', true],
    ['^(ab){2,3}c', 'ababababc', false],
    ['a{0}b', 'ab', true],
    ['a*?b+?c??d{1,2}?', 'xaabd', true],
    ['a{b', 'a{b', true],
    ['a{,3}', 'a{,3}', true],
    ['{a}', '{A}', true],
    ['x{1,2', 'x{1,2', true],
    ['}', '}', true],
    ['(a?){3}b', 'aaaab', true],
    ['(a*)*b', 'aab', true],
  ],
  'places of the text and of words': [
    ['^get', 'get_', true],
    ['^get', '_get', false],
    ['get$', '_get', true],
    ['get$', 'get\n', false],
    [raw`\Aget\z`, 'get', true],
    [raw`get\Z`, 'get', true],
    [raw`\bget\b`, 'target get', true],
    [raw`\bget\b`, 'get_it', false],
    [raw`\Bet\b`, 'et get', true],
    [raw`\b`, '  a', true],
    [raw`\B`, 'a', false],
    [raw`\B`, '', true],
    ['a$b|^', 'ab', true],
    ['^$', '', true],
    ['$', 'abc', true],
    ['b|$', 'aab', true],
    ['x^', 'x', false],
    [raw`(^|_)id(_|$)`, 'user_id', true],
    [raw`(\b\w+\b ?){3}`, '- a b c', true],
    [raw`^(^a|\bb)+c`, 'abc', false],
  ],
};

/** A rejected pattern, the position in its message, and the text of its message. */
const REJECTED: readonly (readonly [
  source: string,
  position: number | undefined,
  message: RegExp,
])[] = [
  ['a(?=b)', 1, /looks ahead or behind.*Search for the text/],
  ['a(?!b)', 1, /looks ahead or behind/],
  ['(?<=a)b', 0, /looks ahead or behind/],
  ['(?<!a)b', 0, /looks ahead or behind/],
  [raw`(a)\1`, 3, /back reference.*Write out/],
  [raw`(?<n>a)\k<n>`, 7, /back reference/],
  ['(?P<n>a)(?P=n)', 8, /back reference/],
  ['(?>a)', 0, /atomic.*\(\?:/],
  ['a++', 2, /nothing to repeat.*Remove it/],
  ['a*+', 2, /nothing to repeat/],
  ['a(?i)b', 1, /unknown kind of group.*at the very start/],
  ['(?s)a', 0, /unknown kind of group/],
  ['(?#a)', 0, /unknown kind of group/],
  ['(?<1>a)', 0, /unknown kind of group/],
  ['(ab', 0, /group that is not closed.*Add the \)/],
  ['ab)', 2, /not opened.*Write \\\)/],
  ['[ab', 0, /class that is not closed.*Add the \]/],
  ['[a-', 0, /class that is not closed/],
  ['ab]', 2, /bracket that was not opened.*Write \\\]/],
  ['[]', 0, /empty class/],
  ['[^]', 0, /empty class/],
  ['*a', 0, /nothing to repeat.*Remove it, or write \\ before it/],
  ['+', 0, /nothing to repeat/],
  ['a|?', 2, /nothing to repeat/],
  ['(*a)', 1, /nothing to repeat/],
  ['{2}', 0, /nothing to repeat/],
  ['^*', 1, /nothing to repeat/],
  [raw`\b+`, 2, /nothing to repeat/],
  ['a**', 2, /nothing to repeat/],
  ['a???', 3, /nothing to repeat/],
  ['a{2}{3}', 4, /nothing to repeat/],
  ['[z-a]', 0, /reversed range.*lower character first/],
  ['a{3,2}', 1, /reversed counts/],
  ['a{501}', undefined, /larger than 500 steps/],
  ['a{1,999999999999}', undefined, /larger than 500 steps/],
  ['a{501,}', undefined, /larger than 500 steps/],
  ['a'.repeat(201), 0, /201 characters long.*at most 200/],
  ['(a{100}){100}', undefined, /larger than 500 steps.*smaller counts/],
  ['(((((a{9}){9}){9}){9}){9}){9}', undefined, /larger than 500 steps/],
  ['(.{0,50}){20}z', undefined, /larger than 500 steps/],
  [raw`[xa-m](\w{60,70}\w){20}x{0,70}\B9`, undefined, /larger than 500 steps/],
  [`${'('.repeat(9)}${'){9}'.repeat(9)}`, undefined, /larger than 500 steps/],
  ['('.repeat(200), 199, /group that is not closed/],
  ['a\\', 1, /backslash with nothing after it/],
  [raw`\q`, 0, /escape that means nothing here.*without the backslash/],
  [raw`[\A]`, 1, /escape that means nothing here/],
  [raw`\x4`, 0, /malformed character code/],
  [raw`\u{110000}`, 0, /malformed character code/],
  [raw`\u12`, 0, /malformed character code/],
  [raw`\p{Greek}`, 0, /unknown Unicode property.*\\p\{L\}/],
  [raw`\p{constructor}`, 0, /unknown Unicode property/],
  [raw`\pL`, 0, /unknown Unicode property/],
];

describe('Pattern', () => {
  for (const [subject, rows] of Object.entries(ROWS)) {
    for (const [source, text, found] of rows) {
      it(`${subject}: ${JSON.stringify(source)} ${found ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () => {
        expect(new Pattern(source).test(text)).to.equal(found);
      });
    }
  }

  for (const [source, position, message] of REJECTED) {
    it(`rejects ${source.length > 60 ? `${source.slice(0, 5)}… of ${source.length}` : source}`, () => {
      const error = rejectionOf(source);

      expect(error).to.be.instanceOf(InvalidArgumentError);
      expect(error?.message)
        .to.match(/^The pattern cannot be used: .*\.$/)
        .and.match(message);
      if (position !== undefined) expect(error?.message).to.contain(`position ${position}`);
    });
  }

  it('accepts patterns at the limits', () => {
    const longest = 'a'.repeat(200);

    expect(new Pattern(longest).test(`b${longest}`)).to.equal(true);
    expect(new Pattern(`${'('.repeat(99)}a${')'.repeat(99)}`).test('a')).to.equal(true);
    expect(new Pattern('^a{200}$').test(longest)).to.equal(true);
    expect(new Pattern('^(a{7}){71}$').test('a'.repeat(497))).to.equal(true);
  });

  it('matches many texts, in any order', () => {
    const pattern = new Pattern(raw`\b[xy].{8}z$`);
    const texts = ['x12345678z', 'ax12345678z', '', 'x y12345678z', 'x12345678z '];

    expect([...texts, ...texts].map((text) => pattern.test(text))).to.deep.equal([
      true,
      false,
      false,
      true,
      false,
      true,
      false,
      false,
      true,
      false,
    ]);
  });
});

describe('Pattern beside RegExp', () => {
  it('matches the same texts', () => {
    expectMatchesOfRegExp(300);
  });

  it('throws nothing but InvalidArgumentError, for any text', () => {
    expectPatternsOrRejections(500);
  });
});

describe('Time of a pattern', () => {
  const texts = Array.from({ length: 527 }, (_, seed) => randomLetters(200, LETTERS, seed + 1));

  for (const source of [...ATTACKS, ...EXPENSIVE])
    it(`is bounded: matches or is rejected (${source.slice(0, 60)})`, () => {
      const pattern = new Pattern(source);

      try {
        for (const text of [...texts, 'a word '.repeat(5_000)])
          expect(pattern.test(text)).to.be.a('boolean');
      } catch (error) {
        expect(error).to.be.instanceOf(InvalidArgumentError);
        expect((error as Error).message).to.match(
          /^The pattern cannot be used: .* too long\. Use fewer .*\.$/,
        );
      }
    });

  it('counts characters that were not met before', () => {
    const source = String.fromCodePoint(...Array.from({ length: 100 }, (_, at) => 0x4e00 + at));
    const many = String.fromCodePoint(...Array.from({ length: 20_000 }, (_, at) => 0x20000 + at));

    expect(() => new Pattern(source).test(many)).to.throw(InvalidArgumentError, 'too long');
  });

  it('is bounded for the construction too', () => {
    const deep = Array.from({ length: 35 }).reduce<string>((body) => `(${body}){9}`, '');

    for (const body of ['()', '(a?)', '(a{0})', raw`(\b)`])
      expect(rejectionOf(deep.replace('()', body))?.message).to.contain('larger than');
    expect(rejectionOf('(a?b?c?d?e?){120}')?.message).to.contain('larger than');
  });
});
