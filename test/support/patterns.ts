import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import { Pattern } from '../../src/stores/tool-indexes/pattern.js';
import type { RegexToolIndex } from '../../src/stores/tool-indexes/regex-tool-index.js';
import type { ToolReference } from '../../src/stores/tool-indexes/tool-index.js';
import { tool } from './tool-index-laws.js';

const { raw } = String;

/** Patterns on which a backtracking matcher takes years for a text of a thousand letters. */
export const ATTACKS = [
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

/** Patterns with hundreds of paths through each text. */
export const EXPENSIVE = [
  '[a-m].{190}9',
  '[a-m].{14}9',
  '[a-m](.{3}){50}9',
  '(a|x)*a(a|x){120}9',
  `[a-m].{14}(9|${'z'.repeat(180)})`,
  raw`[xa-m](\w{6,7}\w){20}x{0,70}\B9`,
];

/** Returns the error with which a pattern is rejected, if it is. */
export function rejectionOf(source: string): Error | undefined {
  try {
    void new Pattern(source);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** Compares matches with `RegExp`, for random patterns and texts. */
export function expectMatchesOfRegExp(numRuns: number): void {
  const counts = { hit: 0, miss: 0, tooLarge: 0 };
  const property = fc.property(
    sources(),
    fc.array(texts(), { minLength: 3, maxLength: 6 }),
    (source, searched) => {
      if (rejectionOf(source)?.message.includes(' larger than ')) return void counts.tooLarge++;
      const [pattern, expression] = [new Pattern(source), new RegExp(source, 'iu')];
      for (const text of searched) {
        const index = text.search(expression);
        // V8 also matches between the halves of a surrogate pair
        if (index > 0 && (text.codePointAt(index - 1) as number) > 0xffff) continue;
        expect(pattern.test(text), `${source} in ${JSON.stringify(text)}`).to.equal(index >= 0);
        counts[index < 0 ? 'miss' : 'hit']++;
      }
    },
  );
  fc.assert(property, { numRuns });
  expect(Math.min(counts.hit, counts.miss)).to.be.greaterThan(numRuns / 5);
  expect(counts.tooLarge).to.be.lessThan(numRuns / 25);
}

/** Checks that random text is either a pattern or rejected with an `InvalidArgumentError`. */
export function expectPatternsOrRejections(numRuns: number): void {
  const counts = { accepted: 0, rejected: 0 };
  const parts = fc.constantFrom(
    ...'ab(((()))[]{}^$.|*+?\\-,0123:<>=!PpLikuxbdw \u{1F600}\ud800İı'.split(''),
    '(?',
    '{1,3}',
    '(?:',
    '[^',
    '\\',
  );
  const property = fc.property(fc.array(parts, { maxLength: 30 }), texts(), (source, text) => {
    const error = rejectionOf(source.join(''));
    counts[error ? 'rejected' : 'accepted']++;
    if (error) expect(error).to.be.instanceOf(InvalidArgumentError);
    else expect(new Pattern(source.join('')).test(text)).to.be.a('boolean');
  });
  fc.assert(property, { numRuns });
  expect(Math.min(counts.accepted, counts.rejected)).to.be.greaterThan(numRuns / 50);
}

function texts(): fc.Arbitrary<string> {
  const letters = fc.constantFrom(...'aaabbbABc_ -1\né', '\u{1F600}', '\u017f', '\u212a');
  return fc.array(letters, { maxLength: 12 }).map((parts) => parts.join(''));
}

/** Patterns that `RegExp` accepts with the flags `iu`. */
function sources(): fc.Arbitrary<string> {
  const leaves = [
    'a',
    'b',
    'A',
    'c',
    'ab',
    'ba',
    '.',
    '[ab]',
    '[^a]',
    '[A-B]',
    '[^b-z]',
    '[a-c_]',
    '',
    'k',
    's',
    '\u{1F600}',
  ];
  const escapes = [
    raw`\w`,
    raw`\W`,
    raw`\d`,
    raw`\s`,
    raw`\S`,
    raw`[\W\d]`,
    raw`[^\W_]`,
    raw`\p{L}`,
    raw`\x61`,
  ];
  const places = ['^', '$', raw`\b`, raw`\B`];
  const counts = [
    '*',
    '+',
    '?',
    '*?',
    '+?',
    '??',
    '{2}',
    '{0,2}',
    '{1,3}',
    '{2,}',
    '{2,4}?',
    '{0}',
    '{3,6}',
  ];
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
      fc
        .tuple(tie('source'), fc.constantFrom(...counts))
        .map(([body, count]) => `(${body})${count}`),
    ),
  })).source;
}

/** Pseudorandom letters, the same in every run (Park and Miller). */
export function randomLetters(length: number, letters = 'xy', first = 42): string {
  let seed = first * 7_919;
  return Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return letters.charAt(Math.floor((seed / 2_147_483_647) * letters.length));
  }).join('');
}

/** Queries that are slow in other engines, or that attackers use. */
export const ATTACK_QUERIES = [
  [
    '^(a+)+$',
    '^(a|a)*$',
    '^(a|aa)+$',
    '(.*)*x$',
    '^(.*a){12}$',
    '(x+x+)+y',
    '^([a-z]+)*!$',
    '(a?){40}a{40}',
    '(.*.*.*.*)=.*',
  ],
  [
    raw`^(\w+\s?)*$`,
    raw`(\d+)*[a-z]+\1?`,
    raw`^((\w|[a-z])+)+\.$`,
    raw`(\b\w+\b\s*)+$`,
    raw`(\s*\S+\s*)*:$`,
  ],
  [
    '.*.*.*.*.*.*.*.*z',
    '(a|b|ab)*c{100}',
    '[^x]{200}y',
    '(.{1,50}){1,9}$',
    '((a{1,9}){1,9}){1,9}',
    '(((((((a*)*)*)*)*)*)*)*b',
  ],
  [
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(e|t|a|o|i|n)*.{90}q',
    '(e.{20}|t.{30}|a.{40})+z',
    '^.{0,200}z.{0,200}q$',
    '(?:e?){99}e{99}',
  ],
  [
    'a*'.repeat(90),
    'e.*'.repeat(60),
    '?'.repeat(150),
    `${'('.repeat(60)}a${')'.repeat(60)}`,
    '|'.repeat(190),
    '*'.repeat(5_000),
  ],
  [
    '[a-z]{'.repeat(30),
    'e{3}'.repeat(45),
    '(e|.)'.repeat(35),
    'word '.repeat(5_000),
    '\u{1F600}'.repeat(2_000),
    '.*\u0000',
    '[\\ud800-\\udfff]',
  ],
  [
    '*a*e*i*o*u*'.repeat(10),
    `${'*?'.repeat(95)}z`,
    '(?i)(?i)',
    '(?<a>e)*',
    '$^',
    '^*',
    'e'.repeat(50_000),
  ],
].flat();

/** Searches; returns false if the query is rejected. */
export async function isAnswered(index: RegexToolIndex, query: string): Promise<boolean> {
  try {
    expect((await index.search({ session: 's', query })).references.length).to.be.at.most(10);
    return true;
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidArgumentError);
    return false;
  }
}

/** Tools with random descriptions, the same in every run. */
export function randomTools(count: number, length: number): readonly ToolReference[] {
  const letters = 'etaoinshrdlu _.';
  return Array.from({ length: count }, (_, at) =>
    tool(`${randomLetters(20, letters, at + 1)}${at}`, randomLetters(length, letters, at + 1)),
  );
}
