import { expect } from 'chai';
import type { DocumentMetadata } from '../../../src/core/chat/document.js';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { checkFilter, matchesFilter, type Filter } from '../../../src/stores/vectors/filter.js';

const METADATA: DocumentMetadata = {
  lang: 'en',
  year: 2021,
  draft: false,
  tags: ['a', 7, true],
  empty: [],
  emoji: '😀',
};

const ACCEPTED: readonly Filter[] = [
  {},
  { lang: 'en' },
  { lang: 'en', year: 2021, draft: false },
  { year: { gte: 2021, lte: 2021 } },
  { year: { gt: 2020.5, lt: 1e300 } },
  { lang: { gte: 'ea', lt: 'f' } },
  { lang: { in: ['de', 'en'] } },
  { lang: { nin: ['de'] }, year: { ne: '2021' }, tags: { ne: 'a' } },
  { missing: { ne: 'x' } },
  { missing: { nin: ['x'] } },
  { tags: { contains: 7 } },
  { emoji: { gt: '\uffff' } },
  { or: [{ lang: 'de' }, { year: 2021 }] },
  { and: [], not: { or: [] } },
  { not: { draft: true } },
  { not: { not: { lang: 'en' } } },
  { lang: { nin: [] } },
];

const REFUSED: readonly Filter[] = [
  { lang: 'de' },
  { lang: 'EN' },
  { year: '2021' },
  { draft: 0 },
  { lang: 'en', year: 2020 },
  { missing: 'x' },
  { missing: { gt: 'x' } },
  { missing: { lte: 5 } },
  { missing: { in: ['x'] } },
  { missing: { contains: 'x' } },
  { lang: { in: [] } },
  { lang: { contains: 'en' } },
  { tags: 'a' },
  { tags: { in: ['a'] } },
  { tags: { gt: '' } },
  { tags: { contains: '7' } },
  { empty: { contains: 'a' } },
  { year: { lt: 'z' } },
  { lang: { gt: 0 } },
  { draft: { gt: -1 } },
  { or: [] },
  { not: {} },
  { constructor: { ne: 'x' }, toString: 'x' } as unknown as Filter,
];

function nested(levels: number): Filter {
  let filter: Filter = { lang: 'en' };
  for (let level = 1; level < levels; level++) filter = { not: filter };
  return filter;
}

function messageOf(filter: unknown): string {
  try {
    checkFilter('search', filter as Filter);
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidArgumentError);
    return (error as Error).message;
  }
  throw new Error('the filter was accepted');
}

describe('Filter', () => {
  for (const filter of ACCEPTED)
    it(`accepts by ${JSON.stringify(filter)}`, () => {
      expect(matchesFilter(filter, METADATA)).to.equal(true);
    });

  for (const filter of REFUSED)
    it(`refuses by ${JSON.stringify(filter)}`, () => {
      expect(matchesFilter(filter, METADATA)).to.equal(false);
    });

  it('takes a document without metadata as one without values', () => {
    expect(matchesFilter({}, undefined)).to.equal(true);
    expect(matchesFilter({ lang: 'en' }, undefined)).to.equal(false);
    expect(matchesFilter({ lang: { ne: 'en' } }, undefined)).to.equal(true);
  });

  it('compares fields of the document alone, whatever their names', () => {
    for (const key of ['__proto__', 'constructor', 'toString', '']) {
      const filter = Object.fromEntries([[key, 'x']]) as Filter;
      const metadata = Object.fromEntries([[key, 'x']]) as DocumentMetadata;

      expect(matchesFilter(filter, {})).to.equal(false);
      expect(matchesFilter(filter, metadata)).to.equal(true);
    }
  });

  it('compares texts by code points, as databases do', () => {
    const texts = ['', 'A', 'Z', 'a', 'ab', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '😀', '😀a'];
    for (const [at, low] of texts.entries())
      for (const high of texts.slice(at + 1)) {
        expect(matchesFilter({ k: { lt: high } }, { k: low }), `${low} ${high}`).to.equal(true);
        expect(matchesFilter({ k: { gte: high } }, { k: low })).to.equal(false);
      }
  });

  it('takes 32 levels and 500 comparisons', () => {
    expect(matchesFilter(nested(32), METADATA)).to.equal(false);
    expect(messageOf(nested(33))).to.equal('search: a filter is nested deeper than 32 levels');
    expect(messageOf(nested(100_000))).to.include('deeper than 32 levels');
    const filters = Array.from({ length: 500 }, () => ({}));
    checkFilter('search', { or: filters });
    expect(messageOf({ or: filters, lang: 'en' })).to.include('more than 500 comparisons');
  });

  it('refuses a filter with a cycle', () => {
    const filter: { not?: Filter } = {};
    filter.not = filter as Filter;

    expect(messageOf(filter)).to.include('deeper than 32 levels');
  });

  for (const [filter, message] of [
    [undefined, 'search: filter must be a filter: a plain object, not undefined'],
    [new Map([['tenant', 'a']]), 'filter must be a filter: a plain object, not an object'],
    [['a'], 'filter must be a filter'],
    [{ tenant: undefined }, 'filter.tenant must be a string, a finite number'],
    [{ tenant: null }, 'not null'],
    [{ tenant: ['a'] }, 'filter.tenant must be'],
    [{ tenant: new Date(0) }, 'filter.tenant must be'],
    [
      { tenant: {} },
      'filter.tenant must have comparisons of eq, ne, gt, gte, lt, lte, in, nin, contains, not none',
    ],
    [{ tenant: { is: 'a' } }, 'not "is"'],
    [{ tenant: { eq: undefined } }, 'filter.tenant.eq must be'],
    [{ year: { gt: NaN } }, 'filter.year.gt must be'],
    [{ year: { lt: true } }, 'filter.year.lt must be'],
    [{ year: { in: 5 } }, 'filter.year.in must be a list'],
    // an array with a hole
    [{ year: { in: Object.assign([1], { 2: 2 }) } }, 'filter.year.in must be a list'],
    [{ and: {} }, 'filter.and must be a list of filters'],
    [{ or: [{ year: 1 }, 'a'] }, 'filter.or[1] must be a filter'],
    [{ not: [] }, 'filter.not must be a filter'],
    [{ or: undefined }, 'filter.or must be a list of filters'],
    [{ 'a\0': 1 }, 'a key of filter must be a name without NUL'],
  ] as const)
    it(`names the part that is wrong: ${message}`, () => {
      expect(messageOf(filter)).to.include(message);
    });

  it('keeps and, or, not free of other meanings in metadata', () => {
    expect(matchesFilter({ or: [{ lang: 'en' }] }, { or: 'x', lang: 'en' })).to.equal(true);
  });
});
