import { expect } from 'chai';
import {
  HybridToolIndex,
  InvalidArgumentError,
  KeywordToolIndex,
  RegexToolIndex,
  type ToolIndex,
} from '../../../src/index.js';
import type {
  ToolIndexRequest,
  ToolReference,
  ToolSearchRequest,
} from '../../../advisors/tool-search/index.js';
import {
  itAcceptsLongTexts,
  itKeepsTheLawsOfAToolIndex,
  namesOf,
  tool,
} from '../../support/tool-index-laws.js';
import { failureOf } from '../../support/modes.js';

/** Returns the same references for each query and records the requests. */
class FixedIndex implements ToolIndex {
  readonly requests: (readonly [method: string, request: unknown])[] = [];
  private readonly references: readonly ToolReference[];

  constructor(...found: readonly (string | ToolReference)[]) {
    this.references = found.map((one) =>
      typeof one === 'string' ? tool(one, '', { score: 7 }) : one,
    );
  }

  index(request: unknown): void {
    this.requests.push(['index', request]);
  }

  async search(request: ToolSearchRequest): Promise<{ references: readonly ToolReference[] }> {
    this.requests.push(['search', request]);
    return { references: this.references };
  }

  clear(session: string): void {
    this.requests.push(['clear', session]);
  }
}

const FAILURE = new Error('unavailable');

/** Creates an index that fails in one method. */
function failing(method: keyof ToolIndex, isAsync: boolean): ToolIndex {
  const fail = (): never | Promise<never> => {
    if (isAsync) return Promise.reject(FAILURE);
    throw FAILURE;
  };
  return Object.assign(new KeywordToolIndex(), { [method]: fail });
}

itKeepsTheLawsOfAToolIndex(
  'HybridToolIndex',
  () => new HybridToolIndex({ indexes: [new KeywordToolIndex(), new RegexToolIndex()] }),
);

itAcceptsLongTexts(
  'HybridToolIndex',
  () => new HybridToolIndex({ indexes: [new KeywordToolIndex(), new RegexToolIndex()] }),
  30_000,
);

describe('HybridToolIndex', () => {
  it('has the words that any index has found in a tool', async () => {
    const found = tool('x', '', { matches: ['two', 'three'] });
    const index = new HybridToolIndex({
      indexes: [
        new FixedIndex('x', 'y'),
        new FixedIndex(tool('x', '', { matches: ['one', 'two'] })),
        new FixedIndex(found),
      ],
    });

    const { references } = await index.search({ session: 's', query: 'q' });

    expect(references.map(({ name, matches }) => [name, matches])).to.deep.equal([
      ['x', ['one', 'two', 'three']],
      ['y', undefined],
    ]);
  });

  it('merges results by reciprocal rank', async () => {
    const index = new HybridToolIndex({
      indexes: [new FixedIndex('x', 'y', 'z'), new FixedIndex('y', 'w')],
    });

    const { references } = await index.search({ session: 's', query: 'q' });

    expect(references.map(({ name }) => name)).to.deep.equal(['y', 'x', 'w', 'z']);
    const expected = [1 / 62 + 1 / 61, 1 / 61, 1 / 62, 1 / 63];
    for (const [at, { score }] of references.entries())
      expect(score).to.be.closeTo(expected[at] as number, 1e-12);
  });

  it('weights the indexes', async () => {
    const index = new HybridToolIndex({
      indexes: [new FixedIndex('x', 'y', 'z'), new FixedIndex('w', 'z')],
      weights: [1, 3],
    });

    const { references } = await index.search({ session: 's', query: 'q' });

    expect(references.map(({ name }) => name)).to.deep.equal(['z', 'w', 'x', 'y']);
    expect(references[0]?.score).to.be.closeTo(1 / 63 + 3 / 62, 1e-12);
  });

  it('favours first ranks with a small rankConstant', async () => {
    const indexes = [new FixedIndex('x', 'p', 'y'), new FixedIndex('z', 'q', 'y')];

    expect((await namesOf(new HybridToolIndex({ indexes }), 'q'))[0]).to.equal('y');
    expect((await namesOf(new HybridToolIndex({ indexes, rankConstant: 0.1 }), 'q'))[0]).to.equal(
      'x',
    );
  });

  it('keeps the order of the indexes for equal scores', async () => {
    const index = new HybridToolIndex({
      indexes: [new FixedIndex('x', 'y'), new FixedIndex('v', 'w')],
    });

    expect(await namesOf(index, 'q')).to.deep.equal(['x', 'v', 'y', 'w']);
  });

  it('merges equal tools, not tools with equal names', async () => {
    const [mail, news] = [tool('read', 'Reads mail.'), tool('read', 'Reads news.')];
    const index = new HybridToolIndex({
      indexes: [new FixedIndex(mail, news), new FixedIndex({ ...news, score: 3 })],
    });

    const { references } = await index.search({ session: 's', query: 'q' });

    expect(references.map(({ description }) => description)).to.deep.equal([
      'Reads news.',
      'Reads mail.',
    ]);
  });

  it('requests more results from each index than it returns', async () => {
    const parts = [new FixedIndex('a', 'b', 'c'), new FixedIndex()];
    const { signal } = new AbortController();
    const request = { session: 's', query: 'q', category: 'c', maxResults: 2, signal };

    expect(await namesOf(new HybridToolIndex({ indexes: parts }), request)).to.deep.equal([
      'a',
      'b',
    ]);
    for (const { requests } of parts)
      expect(requests).to.deep.equal([['search', { ...request, maxResults: 8 }]]);
  });

  it('passes tools and cleared sessions to each index', async () => {
    const parts = [new FixedIndex(), new FixedIndex()];
    const index = new HybridToolIndex({ indexes: parts });
    const request = { session: 's', references: [tool('a')] };
    await index.index(request);
    await index.clear('s');

    for (const { requests } of parts)
      expect(requests).to.deep.equal([
        ['index', request],
        ['clear', 's'],
      ]);
  });

  it('adds a tool with the signal of the request, to the tools it was given', async () => {
    const part = new FixedIndex();
    const index = new HybridToolIndex({ indexes: [part] });
    const references = [tool('a')];
    const { signal } = new AbortController();
    await index.index({ session: 's', references });
    references.push(tool('b'));
    await index.add({ session: 's', references: [tool('c'), tool('a', 'New.')], signal });

    expect(part.requests[1]).to.deep.equal([
      'index',
      { session: 's', references: [tool('a', 'New.'), tool('c')], signal },
    ]);
  });

  for (const isAsync of [false, true]) {
    const when = isAsync ? ' later' : '';

    it(`returns the results of the others and reports the error if one index fails to search${when}`, async () => {
      const broken = failing('search', isAsync);
      const reported: unknown[] = [];
      const onError = (...failure: readonly unknown[]): void => void reported.push(failure);
      const index = new HybridToolIndex({ indexes: [broken, new FixedIndex('a')], onError });

      expect(await namesOf(index, 'a')).to.deep.equal(['a']);
      expect(reported).to.deep.equal([[FAILURE, broken]]);
    });

    it(`indexes again in a search if one index failed to index${when}`, async () => {
      const reported: unknown[] = [];
      const recovered = new FixedIndex('b');
      const broken = failing('index', isAsync);
      const flaky: ToolIndex = {
        index: (request) =>
          reported.length === 0 ? broken.index(request) : recovered.index(request),
        search: (request) => recovered.search(request),
        clear: (session) => recovered.clear(session),
      };
      const index = new HybridToolIndex({
        indexes: [flaky, new FixedIndex('a')],
        onError: (error) => void reported.push(error),
      });
      const request = { session: 's', references: [tool('a'), tool('b')] };
      await index.index(request);
      expect(reported).to.deep.equal([FAILURE]);

      expect(await namesOf(index, { session: 's', query: 'a' })).to.have.members(['a', 'b']);
      expect(recovered.requests[0]).to.deep.equal(['index', request]);
    });

    it(`indexes again with the signal of the search${when}`, async () => {
      const requests: ToolIndexRequest[] = [];
      const broken = failing('index', isAsync);
      const flaky: ToolIndex = {
        index: (request) => (requests.push(request) === 1 ? broken.index(request) : undefined),
        search: () => ({ references: [] }),
        clear: () => undefined,
      };
      const index = new HybridToolIndex({ indexes: [flaky, new FixedIndex('a')] });
      const [first, second] = [new AbortController(), new AbortController()];
      await index.index({ session: 's', references: [tool('a')], signal: first.signal });
      await index.search({ session: 's', query: 'a', signal: second.signal });

      expect(requests.map(({ signal }) => signal)).to.deep.equal([first.signal, second.signal]);
      expect(requests[1]?.signal).to.equal(second.signal);
    });

    it(`fails if one index fails to clear${when}`, async () => {
      const other = new FixedIndex('a');

      expect(
        await failureOf(
          new HybridToolIndex({ indexes: [failing('clear', isAsync), other] }).clear('s'),
        ),
      ).to.equal(FAILURE);
      expect(other.requests).to.deep.equal([['clear', 's']]);
    });

    it(`fails to index if all indexes fail${when}`, async () => {
      const index = new HybridToolIndex({
        indexes: [failing('index', isAsync), failing('index', isAsync)],
      });

      expect(await failureOf(index.index({ session: 's', references: [tool('a')] }))).to.equal(
        FAILURE,
      );
    });
  }

  it('fails with the first error if all indexes fail to search', async () => {
    const index = new HybridToolIndex({
      indexes: [failing('search', true), failing('search', false)],
    });

    expect(await failureOf(index.search({ session: 's', query: 'a' }))).to.equal(FAILURE);
  });

  it('finds tools that one of its indexes alone does not find', async () => {
    const index = new HybridToolIndex({ indexes: [new KeywordToolIndex(), new RegexToolIndex()] });
    await index.index({
      session: 's',
      references: [tool('calculate_area'), tool('get_user'), tool('get_town')],
    });

    expect(await namesOf(index, 'calculation')).to.deep.equal(['calculate_area']);
    expect(await namesOf(index, 'get_*')).to.have.members(['get_user', 'get_town']);
  });

  for (const [what, options] of Object.entries({
    'no indexes': { indexes: [] },
    'undefined indexes': {},
    'too few weights': { indexes: [new FixedIndex(), new FixedIndex()], weights: [1] },
    'a weight of 0': { indexes: [new FixedIndex()], weights: [0] },
    'NaN as weight': { indexes: [new FixedIndex()], weights: [Number.NaN] },
    'a rankConstant of 0': { indexes: [new FixedIndex()], rankConstant: 0 },
    'NaN as rankConstant': { indexes: [new FixedIndex()], rankConstant: Number.NaN },
  }))
    it(`rejects ${what}`, () => {
      expect(() => new HybridToolIndex(options as never)).to.throw(
        InvalidArgumentError,
        'HybridToolIndex: ',
      );
    });

  it('ignores later changes of the list of indexes', async () => {
    const indexes: ToolIndex[] = [new FixedIndex('a')];
    const index = new HybridToolIndex({ indexes });
    indexes.push(failing('search', true));

    expect(await namesOf(index, 'q')).to.deep.equal(['a']);
  });

  it('[D27] closes every index, also after one that fails, and reports the error', async () => {
    const closed: string[] = [];
    const closing = (name: string, close: () => void): ToolIndex =>
      Object.assign(new KeywordToolIndex(), {
        close: () => {
          closed.push(name);
          close();
        },
      });
    const fails = closing('first', () => {
      throw FAILURE;
    });
    const index = new HybridToolIndex({
      indexes: [fails, new FixedIndex('a'), closing('last', () => undefined)],
    });
    await index.index({ session: 's', references: [tool('a')] });

    expect(await failureOf(index.close())).to.equal(FAILURE);
    expect(closed).to.deep.equal(['first', 'last']);
    expect(index.size('s')).to.equal(0);
  });
});
