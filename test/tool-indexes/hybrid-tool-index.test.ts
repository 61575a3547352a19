import { expect } from 'chai';
import {
  HybridToolIndex,
  InvalidArgumentError,
  KeywordToolIndex,
  RegexToolIndex,
  type ToolIndex,
  type ToolReference,
  type ToolSearchRequest,
} from '../../src/index.js';
import { itKeepsTheLawsOfAToolIndex, namesOf, tool } from './tool-index-laws.js';

/** Answers the same to everything, and keeps what it was asked. */
class FixedIndex implements ToolIndex {
  readonly asked: (readonly [method: string, request: unknown])[] = [];
  private readonly references: readonly ToolReference[];

  constructor(...found: readonly (string | ToolReference)[]) {
    this.references = found.map((one) => (typeof one === 'string' ? tool(one, '', { score: 7 }) : one));
  }

  index(request: unknown): void {
    this.asked.push(['index', request]);
  }

  async search(request: ToolSearchRequest): Promise<{ references: readonly ToolReference[] }> {
    this.asked.push(['search', request]);
    return { references: this.references };
  }

  clear(session: string): void {
    this.asked.push(['clear', session]);
  }
}

const FAILURE = new Error('out of order');

/** Fails in one method. */
function failing(method: keyof ToolIndex, isAsync: boolean): ToolIndex {
  const fail = (): never | Promise<never> => {
    if (isAsync) return Promise.reject(FAILURE);
    throw FAILURE;
  };
  return Object.assign(new KeywordToolIndex(), { [method]: fail });
}

const errorOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  );

itKeepsTheLawsOfAToolIndex('HybridToolIndex', () => new HybridToolIndex({ indexes: [new KeywordToolIndex(), new RegexToolIndex()] }));

describe('HybridToolIndex', () => {
  it('joins answers by reciprocal rank', async () => {
    const index = new HybridToolIndex({ indexes: [new FixedIndex('x', 'y', 'z'), new FixedIndex('y', 'w')] });

    const { references } = await index.search({ session: 's', query: 'q' });

    expect(references.map(({ name }) => name)).to.deep.equal(['y', 'x', 'w', 'z']);
    const expected = [1 / 62 + 1 / 61, 1 / 61, 1 / 62, 1 / 63];
    for (const [at, { score }] of references.entries()) expect(score).to.be.closeTo(expected[at] as number, 1e-12);
  });

  it('counts an index by its weight', async () => {
    const index = new HybridToolIndex({ indexes: [new FixedIndex('x', 'y', 'z'), new FixedIndex('w', 'z')], weights: [1, 3] });

    const { references } = await index.search({ session: 's', query: 'q' });

    expect(references.map(({ name }) => name)).to.deep.equal(['z', 'w', 'x', 'y']);
    expect(references[0]?.score).to.be.closeTo(1 / 63 + 3 / 62, 1e-12);
  });

  it('counts first places more with a small rankConstant', async () => {
    const indexes = [new FixedIndex('x', 'p', 'y'), new FixedIndex('z', 'q', 'y')];

    expect((await namesOf(new HybridToolIndex({ indexes }), 'q'))[0]).to.equal('y');
    expect((await namesOf(new HybridToolIndex({ indexes, rankConstant: 0.1 }), 'q'))[0]).to.equal('x');
  });

  it('keeps the order of the first index where both count the same', async () => {
    const index = new HybridToolIndex({ indexes: [new FixedIndex('x', 'y'), new FixedIndex('v', 'w')] });

    expect(await namesOf(index, 'q')).to.deep.equal(['x', 'v', 'y', 'w']);
  });

  it('joins what is the same tool, not what has the same name', async () => {
    const [mail, news] = [tool('read', 'Reads mail.'), tool('read', 'Reads news.')];
    const index = new HybridToolIndex({ indexes: [new FixedIndex(mail, news), new FixedIndex({ ...news, score: 3 })] });

    const { references } = await index.search({ session: 's', query: 'q' });

    expect(references.map(({ description }) => description)).to.deep.equal(['Reads news.', 'Reads mail.']);
  });

  it('asks each index for the same and more, and gives what is wanted', async () => {
    const parts = [new FixedIndex('a', 'b', 'c'), new FixedIndex()];
    const { signal } = new AbortController();
    const request = { session: 's', query: 'q', category: 'c', maxResults: 2, signal };

    expect(await namesOf(new HybridToolIndex({ indexes: parts }), request)).to.deep.equal(['a', 'b']);
    for (const { asked } of parts) expect(asked).to.deep.equal([['search', { ...request, maxResults: 8 }]]);
  });

  it('tells each index of tools and of what to forget', async () => {
    const parts = [new FixedIndex(), new FixedIndex()];
    const index = new HybridToolIndex({ indexes: parts });
    const request = { session: 's', references: [tool('a')] };
    await index.index(request);
    await index.clear('s');

    for (const { asked } of parts)
      expect(asked).to.deep.equal([
        ['index', request],
        ['clear', 's'],
      ]);
  });

  for (const isAsync of [false, true]) {
    const when = isAsync ? ' later' : '';

    it(`finds by the others if one index fails to search${when}, and tells of it`, async () => {
      const broken = failing('search', isAsync);
      const told: unknown[] = [];
      const onError = (...failure: readonly unknown[]): void => void told.push(failure);
      const index = new HybridToolIndex({ indexes: [broken, new FixedIndex('a')], onError });

      expect(await namesOf(index, 'a')).to.deep.equal(['a']);
      expect(told).to.deep.equal([[FAILURE, broken]]);
    });

    it(`indexes again in a search what one index failed to index${when}`, async () => {
      const told: unknown[] = [];
      const mended = new FixedIndex('b');
      const broken = failing('index', isAsync);
      const flaky: ToolIndex = {
        index: (request) => (told.length === 0 ? broken.index(request) : mended.index(request)),
        search: (request) => mended.search(request),
        clear: (session) => mended.clear(session),
      };
      const index = new HybridToolIndex({ indexes: [flaky, new FixedIndex('a')], onError: (error) => void told.push(error) });
      const request = { session: 's', references: [tool('a'), tool('b')] };
      await index.index(request);
      expect(told).to.deep.equal([FAILURE]);

      expect(await namesOf(index, { session: 's', query: 'a' })).to.have.members(['a', 'b']);
      expect(mended.asked[0]).to.deep.equal(['index', request]);
    });

    it(`fails if one index fails to clear${when}`, async () => {
      const other = new FixedIndex('a');

      expect(await errorOf(new HybridToolIndex({ indexes: [failing('clear', isAsync), other] }).clear('s'))).to.equal(FAILURE);
      expect(other.asked).to.deep.equal([['clear', 's']]);
    });

    it(`fails to index if all do${when}`, async () => {
      const index = new HybridToolIndex({ indexes: [failing('index', isAsync), failing('index', isAsync)] });

      expect(await errorOf(index.index({ session: 's', references: [tool('a')] }))).to.equal(FAILURE);
    });
  }

  it('fails with one error if all fail', async () => {
    const index = new HybridToolIndex({ indexes: [failing('search', true), failing('search', false)] });

    expect(await errorOf(index.search({ session: 's', query: 'a' }))).to.equal(FAILURE);
  });

  it('finds what one of its indexes alone would not', async () => {
    const index = new HybridToolIndex({ indexes: [new KeywordToolIndex(), new RegexToolIndex()] });
    await index.index({ session: 's', references: [tool('calculate_area'), tool('get_user'), tool('get_town')] });

    expect(await namesOf(index, 'calculation')).to.deep.equal(['calculate_area']);
    expect(await namesOf(index, 'get_*')).to.have.members(['get_user', 'get_town']);
  });

  for (const [what, options] of Object.entries({
    'no indexes': { indexes: [] },
    'nothing for indexes': {},
    'too few weights': { indexes: [new FixedIndex(), new FixedIndex()], weights: [1] },
    'a weight of 0': { indexes: [new FixedIndex()], weights: [0] },
    'a weight that is no number': { indexes: [new FixedIndex()], weights: [Number.NaN] },
    'a rankConstant of 0': { indexes: [new FixedIndex()], rankConstant: 0 },
    'a rankConstant that is no number': { indexes: [new FixedIndex()], rankConstant: Number.NaN },
  }))
    it(`refuses ${what}`, () => {
      expect(() => new HybridToolIndex(options as never)).to.throw(InvalidArgumentError, 'HybridToolIndex: ');
    });

  it('does not see later changes of the list of indexes', async () => {
    const indexes: ToolIndex[] = [new FixedIndex('a')];
    const index = new HybridToolIndex({ indexes });
    indexes.push(failing('search', true));

    expect(await namesOf(index, 'q')).to.deep.equal(['a']);
  });
});
