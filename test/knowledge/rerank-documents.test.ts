import { expect } from 'chai';
import { CancelledError, InvalidArgumentError, ModelCallError } from '../../src/index.js';
import {
  rerankDocuments,
  type Document,
  type Reranker,
  type RerankDocumentsOptions,
} from '../../src/knowledge/index.js';
import { failureOf } from '../support/modes.js';
import { idsOf, queryOf } from '../support/queries.js';
import { ledgerOfTurn } from '../support/query-in-turn.js';

const QUERY = queryOf('Which king founded Rome?');
const DOCUMENTS: readonly Document[] = [
  { id: 'a', text: 'Paris', score: 0.9, metadata: { page: 1 } },
  { id: 'b', text: 'Rome', score: 0.8 },
  { id: 'c', text: 'Romulus' },
];
const scoring = (...scores: number[]): Reranker => ({
  rerank: () => Promise.resolve({ scores }),
});
const failureFor = (options: RerankDocumentsOptions): Promise<unknown> =>
  failureOf(Promise.resolve(rerankDocuments(options)(DOCUMENTS, QUERY)));

describe('rerankDocuments', () => {
  it('sorts by the scores of the reranker and keeps all else of the documents', async () => {
    const reranked = await rerankDocuments({ reranker: scoring(0.1, 0.2, 0.7) })(DOCUMENTS, QUERY);

    expect(reranked).to.deep.equal([
      { id: 'c', text: 'Romulus', score: 0.7 },
      { id: 'b', text: 'Rome', score: 0.2 },
      { id: 'a', text: 'Paris', score: 0.1, metadata: { page: 1 } },
    ]);
  });

  it('keeps the best ones', async () => {
    const rerank = rerankDocuments({ reranker: scoring(0.1, 0.2, 0.7), topK: 2 });

    expect(idsOf(await rerank(DOCUMENTS, QUERY))).to.deep.equal(['c', 'b']);
  });

  it('gives the reranker the query and the texts', async () => {
    const asked: unknown[] = [];
    const reranker: Reranker = {
      rerank: async (query, texts) => {
        asked.push(query, texts);
        return { scores: [1, 2, 3] };
      },
    };

    await rerankDocuments({ reranker })(DOCUMENTS, QUERY);

    expect(asked).to.deep.equal([QUERY.text, ['Paris', 'Rome', 'Romulus']]);
  });

  it('asks nothing about no documents', async () => {
    const reranker: Reranker = { rerank: () => Promise.reject(new Error('asked')) };

    expect(await rerankDocuments({ reranker })([], QUERY)).to.deep.equal([]);
  });

  for (const scores of [
    [1, 2],
    [1, 2, 3, 4],
    [1, 2, NaN],
  ])
    it(`refuses the scores ${String(scores)} of three documents`, async () => {
      const error = await failureFor({ reranker: scoring(...scores) });

      expect(error).to.be.instanceOf(ModelCallError);
    });

  it('fails with the error of the reranker', async () => {
    const failure = new Error('unavailable');

    const error = await failureFor({ reranker: { rerank: () => Promise.reject(failure) } });

    expect(error).to.equal(failure);
  });

  it('is in the ledger of the run of the query, once', async () => {
    const usage = { inputTokens: 7, outputTokens: 0, totalTokens: 7 };
    const reranker: Reranker = {
      rerank: async () => ({ scores: [1, 2, 3], usage, model: 'rerank-1' }),
    };

    const ledger = await ledgerOfTurn((query) => rerankDocuments({ reranker })(DOCUMENTS, query));

    expect(ledger.map(({ kind, model }) => [kind, model])).to.deep.equal([
      ['rerank', 'rerank-1'],
      ['chat', 'chat'],
    ]);
    expect(ledger[0]?.usage).to.deep.equal(usage);
  });

  it('ends with the run of the query, also if the reranker does not', async () => {
    const controller = new AbortController();
    const reranker: Reranker = { rerank: () => new Promise(() => undefined) };
    const query = { ...QUERY, signal: controller.signal };
    const reranked = rerankDocuments({ reranker })(DOCUMENTS, query);

    controller.abort();

    expect(await failureOf(Promise.resolve(reranked))).to.be.instanceOf(CancelledError);
  });

  for (const options of [{}, { reranker: {} }, { reranker: scoring(), topK: 0 }])
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(() => rerankDocuments(options as never)).to.throw(
        InvalidArgumentError,
        'rerankDocuments: ',
      );
    });
});
