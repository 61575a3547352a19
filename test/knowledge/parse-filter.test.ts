import { expect } from 'chai';
import * as fc from 'fast-check';
import type { DocumentMetadata } from '../../src/core/chat/document.js';
import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import { matchesFilter, parseFilter, type Filter } from '../../src/knowledge/index.js';

const PARSED: readonly (readonly [text: string, filter: Filter])[] = [
  ["country == 'BG'", { country: 'BG' }],
  [
    "country == 'BG' && year >= 2020 && lang in ['en','de'] && not (draft == true)",
    {
      and: [
        { country: 'BG' },
        { year: { gte: 2020 } },
        { lang: { in: ['en', 'de'] } },
        { not: { draft: true } },
      ],
    },
  ],
  ['a != 1', { a: { ne: 1 } }],
  ['a > -1.5', { a: { gt: -1.5 } }],
  ['a<1e3', { a: { lt: 1_000 } }],
  ['a <= 7L', { a: { lte: 7 } }],
  ["a IN ['x', 5, true]", { a: { in: ['x', 5, true] } }],
  ['a in []', { a: { in: [] } }],
  ["a NIN ['x']", { a: { nin: ['x'] } }],
  ["a not in ['x']", { a: { nin: ['x'] } }],
  ["tags CONTAINS 'x'", { tags: { contains: 'x' } }],
  ['a == TRUE and b == False', { and: [{ a: true }, { b: false }] }],
  ['a == 1 || b == 2 && c == 3', { or: [{ a: 1 }, { and: [{ b: 2 }, { c: 3 }] }] }],
  ['(a == 1 OR b == 2) AND c == 3', { and: [{ or: [{ a: 1 }, { b: 2 }] }, { c: 3 }] }],
  ['NOT a == 1 && b == 2', { and: [{ not: { a: 1 } }, { b: 2 }] }],
  ['not not (a == 1)', { not: { not: { a: 1 } } }],
  ['meta.author == "Ada"', { 'meta.author': 'Ada' }],
  [`"it's" == 'call \\'hi\\''`, { "it's": "call 'hi'" }],
  [`'a b' == "a\\n\\t\\\\\\u00e9"`, { 'a b': 'a\n\t\\é' }],
  ["größe == 'ß😀'", { größe: 'ß😀' }],
  ['in == 1', { in: 1 }],
  ["a == 'and' && b == '&&'", { and: [{ a: 'and' }, { b: '&&' }] }],
];

const BROKEN: readonly (readonly [text: string, message: string])[] = [
  ['', 'expected a key, NOT or (, found the end, at character 1'],
  [
    'a',
    'expected ==, !=, >, >=, <, <=, IN, NIN, NOT IN or CONTAINS, found the end, at character 2',
  ],
  ['a = 1', '"=" is unexpected, at character 3'],
  ['a == ', 'expected a string, a number, true or false, found the end, at character 6'],
  ['a == b', 'expected a string, a number, true or false, found "b", at character 6'],
  ["a == 'x", "a string without a closing ', at character 6"],
  ["a == 'x' b", 'expected &&, || or the end, found "b", at character 10'],
  ['(a == 1', 'expected ), found the end, at character 8'],
  ['a == 1)', 'expected &&, || or the end, found ")", at character 7'],
  ['a in 1', 'expected [, found "1", at character 6'],
  ['a in [1 2]', 'expected ], found "2", at character 9'],
  ['a not 1', 'expected IN, found "1", at character 7'],
  ['a > true', 'true has no order, at character 5'],
  ['a is null', 'found "is", at character 3'],
  ['a == 1 &&', 'expected a key, NOT or (, found the end, at character 10'],
  ["'or' == 1", '"or" is the name of a combination, not of a key, at character 1'],
  ['a == 1e999', '1e999 is too large, at character 6'],
  ['a == 12abc', '"1" is unexpected, at character 6'],
  ['a "==" 1', 'found "==", at character 3'],
  [`${'('.repeat(33)}a == 1`, 'more than 32 levels, at character 33'],
  [`${'not '.repeat(100_000)}a == 1`, 'more than 32 levels'],
  [Array.from({ length: 501 }, () => 'a == 1').join(' || '), 'more than 500 comparisons'],
];

describe('parseFilter', () => {
  for (const [text, filter] of PARSED)
    it(`reads ${text}`, () => {
      expect(parseFilter(text)).to.deep.equal(filter);
    });

  for (const [text, message] of BROKEN)
    it(`refuses ${text.slice(0, 40) || 'nothing'}`, () => {
      expect(() => parseFilter(text)).to.throw(InvalidArgumentError, message);
    });

  it('refuses what is not text', () => {
    expect(() => parseFilter(undefined as never)).to.throw(InvalidArgumentError, 'not undefined');
  });

  it('reads keys of any name as fields of the document', () => {
    const metadata = JSON.parse('{"__proto__":"x"}') as DocumentMetadata;

    expect(matchesFilter(parseFilter("__proto__ == 'x'"), metadata)).to.equal(true);
    expect(matchesFilter(parseFilter("__proto__ == 'x'"), {})).to.equal(false);
  });

  it('reads a filter, or throws a typed error, whatever the text', () => {
    const words = ['a', "'b'", 'x.y', 'in', 'not', 'nin', 'and', 'or', 'true', '1', '-2.5'];
    const signs = [
      '==',
      '!=',
      '>',
      '&&',
      '||',
      '(',
      ')',
      '[',
      ']',
      ',',
      '"',
      "'",
      '\\',
      '😀',
      '\0',
      '.',
    ];
    const part = fc.constantFrom(...words, ...signs);
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        try {
          parseFilter(parts.join(' '));
        } catch (error) {
          expect(error).to.be.instanceOf(InvalidArgumentError);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads what was written: values and keys of any characters', () => {
    const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
    const name = fc
      .string({ unit: 'grapheme' })
      .filter((text) => !/^(?:and|or|not)$|\0/.test(text));
    fc.assert(
      fc.property(name, name, (key, value) => {
        const text = `${quoted(key)} == ${quoted(value)}`;
        expect(parseFilter(text)).to.deep.equal(Object.fromEntries([[key, value]]));
      }),
    );
  });

  it('takes linear time', () => {
    const timeOf = (count: number): number => {
      const values = Array.from({ length: count }, () => `'${'\\\\'.repeat(20)}'`);
      const start = process.cpuUsage();
      parseFilter(`a in [${values.join(', ')}]`);
      const { user, system } = process.cpuUsage(start);
      return user + system;
    };
    timeOf(1_000);
    const least = (count: number): number =>
      Math.min(...Array.from({ length: 5 }, () => timeOf(count)));

    expect(least(8_000)).to.be.below(20 * least(1_000) + 5_000);
  });
});
