import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { findAll } from '../../../advisors/guard/guard-rule.js';
import { patternRule } from '../../../advisors/guard/pattern-rule.js';
import { anySizes, piecesOf, shownFor } from '../../support/redaction.js';
import { sweep } from '../../support/sweep.js';

const anyPattern = fc.letrec<Record<'alternatives' | 'sequence' | 'part' | 'atom', string>>(
  (tie) => ({
    alternatives: fc
      .array(tie('sequence'), { minLength: 1, maxLength: 3 })
      .map((all) => all.join('|')),
    sequence: fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map((all) => all.join('')),
    part: fc
      .tuple(tie('atom'), fc.constantFrom('', '', '', '?', '{2}', '{1,3}', '{0,2}?'))
      .map((all) => all.join('')),
    atom: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom(
        'a',
        'b',
        'c',
        '.',
        '[ab]',
        '[^a]',
        String.raw`\w`,
        String.raw`\s`,
        '-',
        '😀',
      ),
      fc.constantFrom(
        String.raw`(?:\b)`,
        String.raw`(?:$)`,
        '(?:^)',
        '(?<!a)',
        '(?<=b)',
        '(?!c)',
        '(?=[ab] )',
      ),
      fc
        .tuple(fc.constantFrom('(', '(?:', '(?<n>'), tie('alternatives'))
        .map(([start, body]) => `${start}${body})`),
      tie('alternatives').map((body) => `(?:(?=${body})a)`),
    ),
  }),
).alternatives;

describe('patternRule', () => {
  it('finds all matches', () => {
    const rule = patternRule({ name: 'order', pattern: /\bA-\d{3}\b/ });

    expect(findAll(rule, 'A-123, A-1234 and A-999')).to.deep.equal([
      { start: 0, end: 5, kind: 'order' },
      { start: 18, end: 23, kind: 'order' },
    ]);
  });

  it('finds in a stream what String.replaceAll finds in the whole text, for any pattern', () => {
    fc.assert(
      fc.property(
        anyPattern,
        fc.constantFrom('', 'i', 'u', 'm', 's', 'gi'),
        fc.string({
          unit: fc.constantFrom('a', 'b', 'c', ' ', '-', '\n', 'A', '😀'),
          maxLength: 40,
        }),
        anySizes,
        (source, flags, text, sizes) => {
          let pattern: RegExp;
          try {
            pattern = new RegExp(source, flags);
          } catch {
            return; // two groups of one name
          }
          const global = new RegExp(source, `${flags.replace('g', '')}g`);
          const expected = text.replaceAll(global, (found) => (found ? '[x]' : ''));

          const shown = shownFor([patternRule({ name: 'x', pattern })], piecesOf(text, sizes));

          expect(shown.join('')).to.equal(expected);
        },
      ),
      { numRuns: sweep(20_000) },
    );
  });

  it('holds back a match that may grow, and shows the rest at once', () => {
    const rule = patternRule({ name: 'x', pattern: /token=\w+/ });

    expect(shownFor([rule], ['a tok', 'es tok', 'en=', 'abc', 'def g'])).to.deep.equal([
      'a ',
      'tokes ',
      '',
      '',
      '[x] g',
      '',
    ]);
  });

  for (const [pattern, pieces, expected] of [
    [/a\b/, ['a', 'b a', ' '], 'ab [x] '],
    [/a$/, ['a', ' a'], 'a [x]'],
    [/^a/, ['a', 'a', ' a'], '[x]a a'],
    [/a(?!b)/, ['a', 'b', 'a'], 'ab[x]'],
    [/a(?=b)/, ['a', 'c', 'a', 'b'], 'ac[x]b'],
    [/a{2}/, ['a', 'a', 'a'], '[x]a'],
    [/a??b/, ['a', 'b'], '[x]'],
    [/(?:ab){2,}/, ['ab', 'a', 'bab', 'a'], '[x]a'],
    [/[^a]a|(?:\b)/, ['a', '\ud83d', '\ude00', 'a'], 'a\ud83d[x]'],
    [/[😀]/u, ['\ud83d', '\ude00'], '[x]'],
  ] as const)
    it(`finds ${String(pattern)} in ${JSON.stringify(pieces)}`, () => {
      expect(shownFor([patternRule({ name: 'x', pattern })], pieces).join('')).to.equal(expected);
    });

  for (const [pattern, problem] of [
    [/(a)\1/, 'has a back reference, which a stream cannot decide. Write out what is meant'],
    [
      /(?:a+)+b/,
      'repeats a repetition without bound, which may take exponential time. Bound the inner one',
    ],
    [/(?<=a{40})b/, 'looks behind for more than 32 characters. Use a shorter condition'],
  ] as const)
    it(`rejects ${String(pattern)}`, () => {
      expect(() => patternRule({ name: 'x', pattern })).to.throw(
        InvalidArgumentError,
        `patternRule: the pattern ${String(pattern)} ${problem}`,
      );
    });

  it('rejects what is no pattern', () => {
    expect(() => patternRule({ name: 'x', pattern: 'a' as never })).to.throw(
      InvalidArgumentError,
      'patternRule: pattern must be a regular expression, not "a"',
    );
    expect(() => patternRule({ name: ' ', pattern: /a/ })).to.throw(
      'name must be a non-blank string',
    );
  });
});
