import { expect } from 'chai';
import { InvalidArgumentError } from '../../src/index.js';
import { concatenateDocuments, fuseByRank, type Document } from '../../src/knowledge/index.js';
import { idsOf, queryOf } from '../support/queries.js';

const QUERY = queryOf('When was Rome founded?');
const found = (id: string, score?: number): Document => ({ id, text: `text of ${id}`, score });

describe('concatenateDocuments', () => {
  it('[RAG-07] keeps the first of documents with one id', async () => {
    const [first, second] = [found('a', 0.2), found('a', 0.9)];

    const joined = await concatenateDocuments([[first], [second]], QUERY);

    expect(joined).to.deep.equal([first]);
  });

  it('[RAG-07] sorts by score, the highest first', async () => {
    const results = [
      [found('a', 0.2), found('b', 0.1)],
      [found('c', 0.9), found('d', 0.2)],
    ];

    const joined = await concatenateDocuments(results, QUERY);

    expect(idsOf(joined)).to.deep.equal(['c', 'a', 'd', 'b']);
  });

  it('[RAG-07] counts a missing score as 0', async () => {
    const joined = await concatenateDocuments(
      [[found('none'), found('negative', -1), found('positive', 0.1)]],
      QUERY,
    );

    expect(idsOf(joined)).to.deep.equal(['positive', 'none', 'negative']);
  });

  it('does not modify the results', async () => {
    const results = Object.freeze([Object.freeze([found('a', 1), found('b', 2)])]);

    const joined = await concatenateDocuments(results, QUERY);

    expect(idsOf(joined)).to.deep.equal(['b', 'a']);
  });
});

describe('fuseByRank', () => {
  it('prefers a document of two results to the first of one, whatever their scores', async () => {
    const results = [
      [found('a', 0.9), found('b', 0.8)],
      [found('c', 27), found('b', 3)],
    ];

    const joined = await fuseByRank()(results, QUERY);

    expect(idsOf(joined)).to.deep.equal(['b', 'a', 'c']);
  });

  it('replaces the scores by fused ones and keeps everything else', async () => {
    const document = { ...found('a', 0.9), metadata: { page: 3 } };

    const joined = await fuseByRank()([[document]], QUERY);

    expect(joined).to.deep.equal([{ ...document, score: 1 / 61 }]);
  });

  it('repeats the weights of the retrievers for each query', async () => {
    const results = [[found('a')], [found('b')], [found('c')], [found('d')]];

    const joined = await fuseByRank({ weights: [1, 2] })(results, QUERY);

    expect(idsOf(joined)).to.deep.equal(['b', 'd', 'a', 'c']);
  });

  it('refuses weights that do not fit the results', () => {
    const fuse = fuseByRank({ weights: [1, 2] });

    expect(() => fuse([[], [], []], QUERY)).to.throw(
      InvalidArgumentError,
      '2 weights do not fit 3 results',
    );
  });

  for (const options of [{ weights: [] }, { weights: [0] }, { rankConstant: 0 }])
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(() => fuseByRank(options)).to.throw(InvalidArgumentError, 'fuseByRank: ');
    });
});
