import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidArgumentError } from '../../src/errors.js';
import { parsePattern } from '../../src/tool-indexes/pattern/parse-pattern.js';
import { buildGraph } from '../../src/tool-indexes/pattern/pattern-graph.js';
import { compilePattern, LazyPattern, MOST_WORK } from '../../src/tool-indexes/pattern/pattern.js';

/** A pattern, a text, and whether it is found. */
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

/** A refused pattern, the position, and what its message says. */
const REFUSED: readonly (readonly [source: string, position: number | undefined, says: RegExp])[] = [
  ['a(?=b)', 1, /looks ahead or behind.*Search for the text itself/],
  ['a(?!b)', 1, /looks ahead or behind/],
  ['(?<=a)b', 0, /looks ahead or behind/],
  ['(?<!a)b', 0, /looks ahead or behind/],
  [raw`(a)\1`, 3, /back reference.*Write out/],
  [raw`(?<n>a)\k<n>`, 7, /back reference/],
  ['(?P<n>a)(?P=n)', 8, /back reference/],
  ['(?>a)', 0, /atomic.*\(\?:/],
  ['a++', 1, /possessive.*Leave out/],
  ['a*+', 1, /possessive/],
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
  ['*a', 0, /nothing to repeat.*Remove it, or write \\\*/],
  ['+', 0, /nothing to repeat/],
  ['a|?', 2, /nothing to repeat/],
  ['(*a)', 1, /nothing to repeat/],
  ['{2}', 0, /nothing to repeat/],
  ['^*', 1, /repeats a place/],
  [raw`\b+`, 2, /repeats a place/],
  ['a**', 2, /quantifier after a quantifier/],
  ['a???', 3, /quantifier after a quantifier/],
  ['a{2}{3}', 4, /quantifier after a quantifier/],
  ['[z-a]', 1, /reversed range.*lower character first/],
  ['a{3,2}', 1, /reversed counts/],
  ['a{201}', 1, /more than 200 times/],
  ['a{1,999999999999}', 1, /more than 200 times/],
  ['a{201,}', 1, /more than 200 times/],
  ['a'.repeat(201), 0, /201 characters long.*at most 200/],
  ['(a{100}){100}', undefined, /larger than 500 steps.*smaller counts/],
  ['(((((a{9}){9}){9}){9}){9}){9}', undefined, /larger than 500 steps/],
  ['(.{0,50}){20}z', undefined, /larger than 500 steps/],
  [raw`[xa-m](\w{60,70}\w){20}x{0,70}\B9`, undefined, /larger than 500 steps/],
  [`${'('.repeat(9)}${'){9}'.repeat(9)}`, undefined, /larger than 500 steps/],
  ['('.repeat(51), 50, /nests more than 50 groups/],
  ['('.repeat(200), 50, /nests more than 50 groups/],
  ['a\\', 1, /backslash with nothing after it/],
  [raw`\q`, 0, /escape that means nothing here, \\q.*without the backslash/],
  [raw`[\A]`, 1, /escape that means nothing here/],
  [raw`\x4`, 0, /malformed character code/],
  [raw`\u{110000}`, 0, /malformed character code/],
  [raw`\u12`, 0, /malformed character code/],
  [raw`\p{Greek}`, 0, /unknown Unicode property.*\\p\{L\}/],
  [raw`\p{constructor}`, 0, /unknown Unicode property/],
  [raw`\pL`, 0, /unknown Unicode property/],
];

/** For a backtracking matcher, years on a text of a thousand letters. */
const ATTACKS = [
  '(a+)+$',
  '(a+)+!',
  '(a|a)*!',
  '(a|aa)+$',
  '(.*)*x!',
  '(.*.*)*xy!',
  '(a?){100}a{100}!',
  '(x+x+)+!',
  raw`[\w\s]*[\w\s]*[\w\s]*!`,
  raw`^(\w+\s?)*$!`,
  '(a|b|ab)*(a?){90}9',
  raw`(\b|\B|a)*(\b\w+\b\s*){10}!`,
];

/** Each has more states than can be kept. */
const TOO_SLOW = [
  '[a-m].{190}9',
  '[a-m].{14}9',
  '[a-m](.{3}){50}9',
  '(a|x)*a(a|x){120}9',
  `[a-m].{14}(9|${'z'.repeat(180)})`,
  raw`[xa-m](\w{6,7}\w){20}x{0,70}\B9`,
];

describe('a pattern', () => {
  for (const [subject, rows] of Object.entries(ROWS)) {
    for (const [source, text, found] of rows) {
      it(`${subject}: ${JSON.stringify(source)} is ${found ? '' : 'not '}in ${JSON.stringify(text)}`, () => {
        expect(compilePattern(source).test(text)).to.equal(found);
      });
    }
  }

  for (const [source, position, says] of REFUSED) {
    it(`refuses ${source.length > 60 ? `${source.slice(0, 5)}… of ${source.length}` : source}`, () => {
      const error = errorOf(source);

      expect(error).to.be.instanceOf(InvalidArgumentError);
      expect(error?.message)
        .to.match(/^The pattern cannot be used: .*\.$/)
        .and.match(says);
      if (position !== undefined) expect(error?.message).to.contain(`position ${position}`);
    });
  }

  it('accepts what is just within the limits', () => {
    const longest = 'a'.repeat(200);

    expect(compilePattern(longest).test(`b${longest}`)).to.equal(true);
    expect(compilePattern(`${'('.repeat(50)}a${')'.repeat(50)}`).test('a')).to.equal(true);
    expect(compilePattern('^a{200}$').test(longest)).to.equal(true);
    expect(compilePattern('^(a{7}){71}$').test('a'.repeat(497))).to.equal(true);
  });

  it('can be used for many texts, in any order', () => {
    const pattern = compilePattern(raw`\b[xy].{8}z$`);
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

  it('finds the same when its table of states is dropped', () => {
    const pattern = new LazyPattern(buildGraph(parsePattern('x[xy]{10}z')));
    const text = randomLetters(3_000);
    const [hit, miss] = [`x${'y'.repeat(10)}z`, `x${'y'.repeat(11)}z`];

    const searched = [text + hit, text + miss, `z${hit}${text}`, `z${miss}${text}`, text + hit];
    expect(searched.map((one) => pattern.test(one))).to.deep.equal([true, false, true, false, true]);
    // 1,000 states by three letters, each step at most 33 units: more means that some were met again.
    expect(pattern.work).to.be.greaterThan(3_000 * 33);
  });
});

describe('a pattern beside RegExp', () => {
  it('finds the same', () => {
    let [hits, misses, costly] = [0, 0, 0];
    fc.assert(
      fc.property(sources(), fc.array(texts(), { minLength: 3, maxLength: 6 }), (source, searched) => {
        if (errorOf(source)?.message.includes(' larger than ')) return void costly++;
        const [pattern, expression] = [compilePattern(source), new RegExp(source, 'iu')];
        for (const text of searched) {
          const index = text.search(expression);
          // V8 also looks between the halves of a pair, where a pattern of Unicode has no place.
          if (index > 0 && text.codePointAt(index - 1)! > 0xffff) continue;
          expect(pattern.test(text), `${source} in ${JSON.stringify(text)}`).to.equal(index >= 0);
          if (index < 0) misses++;
          else hits++;
        }
      }),
      { numRuns: 5_000 },
    );
    expect(Math.min(hits, misses)).to.be.greaterThan(LEAST_OF_EACH);
    expect(costly).to.be.lessThan(MOST_COSTLY);
  });

  it('throws nothing but InvalidArgumentError, whatever is written', () => {
    let [accepted, refused] = [0, 0];
    const bits = fc.constantFrom(
      ...'ab(((()))[]{}^$.|*+?\\-,0123:<>=!PpLikuxbdw \u{1F600}\ud800İı'.split(''),
      '(?',
      '{1,3}',
      '(?:',
      '[^',
      '\\',
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 30 }), texts(), (parts, text) => {
        const source = parts.join('');
        const error = errorOf(source);
        if (error === undefined) accepted++;
        else refused++;
        if (error !== undefined) expect(error).to.be.instanceOf(InvalidArgumentError);
        else expect(compilePattern(source).test(text)).to.be.a('boolean');
      }),
      { numRuns: 5_000 },
    );
    expect(Math.min(accepted, refused)).to.be.greaterThan(100);
  });
});

describe('the work of a pattern', function () {
  this.timeout(60_000);
  const texts = Array.from({ length: 527 }, (_, seed) => randomLetters(1_000, 'abcdefghijklmnopqrstuvwxyz', seed + 1));
  const searched = [...['a', 'x', 'ax', 'a word '].map((part) => part.repeat(5_000)), randomLetters(20_000, 'ax'), ...texts];

  for (const source of ATTACKS) {
    it(`is small for what a backtracking matcher cannot do: ${source}`, () => {
      const pattern = new LazyPattern(buildGraph(parsePattern(source)));

      expect(searched.some((text) => pattern.test(text))).to.equal(source.endsWith('$'));
      expect(pattern.work).to.be.lessThan(MOST_WORK / 5);
    });
  }

  for (const source of TOO_SLOW) {
    it(`is bounded, and then the pattern refused: ${source.slice(0, 60)}`, () => {
      const pattern = new LazyPattern(buildGraph(parsePattern(source)));

      expect(() => searched.forEach((text) => pattern.test(text)))
        .to.throw(InvalidArgumentError)
        .with.property('message')
        .that.matches(/^The pattern cannot be used: .* too long\. Use fewer .*\.$/);
      expect(pattern.work).to.be.within(MOST_WORK * 0.99, MOST_WORK);
    });
  }

  it('does not grow with texts of a kind that is known', () => {
    const pattern = new LazyPattern(buildGraph(parsePattern('get_(issue|pull)s?9')));
    for (const text of texts) pattern.test(text);
    const { work } = pattern;

    for (let round = 0; round < 20; round++) for (const text of texts) pattern.test(text);

    expect(pattern.work).to.equal(work).and.to.be.lessThan(10_000);
  });

  it('counts characters that were not met before', () => {
    const pattern = new LazyPattern(
      buildGraph(parsePattern(String.fromCodePoint(...Array.from({ length: 100 }, (_, index) => 0x4e00 + index)))),
    );
    const many = String.fromCodePoint(...Array.from({ length: 20_000 }, (_, index) => 0x20000 + index));

    expect(() => pattern.test(many)).to.throw(InvalidArgumentError, 'too long');
    expect(pattern.work).to.be.at.most(MOST_WORK);
  });

  it('is bounded for compiling too', () => {
    const deep = Array.from({ length: 35 }).reduce<string>((body) => `(${body}){9}`, '');
    const started = performance.now();
    for (const source of [
      deep,
      deep.replace('()', '(a?)'),
      deep.replace('()', '(a{0})'),
      deep.replace('()', raw`(\b)`),
      '(a?b?c?d?e?){120}',
    ]) {
      expect(errorOf(source)?.message).to.contain('larger than');
    }

    expect(performance.now() - started).to.be.lessThan(1_000);
  });
});

const MOST_COSTLY = 100;
/** In each of several runs, at least five times as many were seen. */
const LEAST_OF_EACH = 1_000;

function errorOf(source: string): Error | undefined {
  try {
    compilePattern(source);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

function texts(): fc.Arbitrary<string> {
  const letters = fc.constantFrom(...'aaabbbABc_ -1\né', '\u{1F600}', '\u017f', '\u212a');
  return fc.array(letters, { maxLength: 12 }).map((parts) => parts.join(''));
}

/** Patterns that JavaScript knows with the flags `iu`. */
function sources(): fc.Arbitrary<string> {
  const leaves = ['a', 'b', 'A', 'c', 'ab', 'ba', '.', '[ab]', '[^a]', '[A-B]', '[^b-z]', '[a-c_]', '', 'k', 's', '\u{1F600}'];
  const escapes = [raw`\w`, raw`\W`, raw`\d`, raw`\s`, raw`\S`, raw`[\W\d]`, raw`[^\W_]`, raw`\p{L}`, raw`\x61`];
  const places = ['^', '$', raw`\b`, raw`\B`];
  const counts = ['*', '+', '?', '*?', '+?', '??', '{2}', '{0,2}', '{1,3}', '{2,}', '{2,4}?', '{0}', '{3,6}'];
  const atom = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...leaves, ...escapes) },
    { weight: 1, arbitrary: fc.constantFrom(...places) },
  );
  return fc.letrec<{ source: string }>((tie) => ({
    source: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      atom,
      fc.tuple(tie('source'), tie('source')).map((parts) => parts.join('')),
      fc.tuple(tie('source'), tie('source')).map(([one, other]) => `(?:${one}|${other})`),
      fc.tuple(tie('source'), fc.constantFrom(...counts)).map(([body, count]) => `(${body})${count}`),
    ),
  })).source;
}

/** The same in every run: by the multiplier of Park and Miller. */
function randomLetters(length: number, letters = 'xy', first = 42): string {
  let seed = first * 7_919;
  return Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return letters.charAt(Math.floor((seed / 2_147_483_647) * letters.length));
  }).join('');
}
