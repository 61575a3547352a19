import { expect } from 'chai';
import { InvalidArgumentError, ModelCallError } from '../../src/index.js';
import type { Document, Filter, QueryFilter } from '../../src/knowledge/index.js';
import {
  HybridRetriever,
  KeywordIndex,
  KeywordRetriever,
  VectorRetriever,
  type DocumentRetriever,
} from '../../src/knowledge/index.js';
import { InMemoryVectorStore } from '../../src/stores/vectors/in-memory-vector-store.js';
import type { EmbeddingModel } from '../../src/stores/vectors/embedding-model.js';
import { failureOf } from '../support/modes.js';
import { idsOf, queryOf } from '../support/queries.js';
import { ledgerOfTurn } from '../support/query-in-turn.js';

const TEXTS: Readonly<Record<string, string>> = {
  refund: 'A refund is paid within 14 days.',
  delivery: 'Goods are delivered within 3 days.',
  returns: 'Returned goods are refunded, unless they are damaged.',
  contact: 'Write to our support.',
  hours: 'Support answers from 9 to 5, on weekdays within an hour.',
  terms: 'Terms of refunds and deliveries.',
};
const DOCUMENTS: readonly Document[] = Object.entries(TEXTS).map(([id, text], at) => ({
  id,
  text,
  metadata: { lang: at % 2 === 0 ? 'en' : 'de', page: at },
  vector: vectorOf(text),
}));

/** Counts letters: texts with the same words have near directions. */
function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(26);
  for (const letter of text.toLowerCase()) {
    const at = letter.charCodeAt(0) - 97;
    if (at >= 0 && at < 26) vector[at] = (vector[at] ?? 0) + 1;
  }
  return vector;
}

const EMBEDDINGS: EmbeddingModel = {
  embed: async (texts) => ({
    vectors: texts.map(vectorOf),
    usage: { inputTokens: 3, outputTokens: 0, totalTokens: 3 },
    model: 'letters',
  }),
};

/** Returns documents of these ids, the best first. */
const fixed = (...ids: readonly string[]): DocumentRetriever => ({
  retrieve: async () => ids.map((id) => ({ id, text: id, score: 1 })),
});
const failing = (error: Error): DocumentRetriever => ({
  retrieve: () => {
    throw error;
  },
});

describe('retrievers', () => {
  let index: KeywordIndex;
  let store: InMemoryVectorStore;

  beforeEach(async () => {
    index = new KeywordIndex();
    store = new InMemoryVectorStore();
    for (const each of [index, store]) {
      await each.upsert('docs', DOCUMENTS);
      await each.upsert('other', [
        { id: 'secret', text: 'A refund of another tenant', vector: vectorOf('refund') },
      ]);
    }
  });

  const makers = [
    {
      name: 'KeywordRetriever',
      make: (options: { topK?: number; minScore?: number; filter?: QueryFilter } = {}) =>
        new KeywordRetriever({ index, ...options }),
    },
    {
      name: 'VectorRetriever',
      make: (options: { topK?: number; minScore?: number; filter?: QueryFilter } = {}) =>
        new VectorRetriever({ store, embeddingModel: EMBEDDINGS, ...options }),
    },
  ];

  for (const { name, make } of makers)
    describe(name, () => {
      it('finds the documents that fit a query best, 4 by default', async () => {
        const found = await make().retrieve(queryOf('refund paid within days support goods'));

        expect(found).to.have.lengthOf(4);
        expect(found[0]?.text).to.equal(TEXTS[found[0]?.id ?? '']);
        expect(found.map(({ score = 0 }) => score)).to.deep.equal(
          found.map(({ score = 0 }) => score).sort((a, b) => b - a),
        );
      });

      it('returns at most topK documents, and only those with the minimum score', async () => {
        const query = queryOf('refund');
        const [best] = await make({ topK: 1 }).retrieve(query);
        const minScore = best?.score ?? 0;

        expect(await make({ topK: 2 }).retrieve(query)).to.have.lengthOf(2);
        expect(idsOf(await make({ minScore }).retrieve(query))).to.deep.equal([best?.id]);
      });

      it('returns as many documents as the query asks for, unless it has a topK of its own', async () => {
        const query = queryOf('refund goods support days', { topK: 2 });

        expect(await make().retrieve(query)).to.have.lengthOf(2);
        expect(await make({ topK: 3 }).retrieve(query)).to.have.lengthOf(3);
      });

      it('refuses a query for less than one document', async () => {
        const failure = await failureOf(make().retrieve(queryOf('refund', { topK: 0 })));

        expect(failure).to.be.instanceOf(InvalidArgumentError);
        expect(failure).to.have.property('message').that.contains('topK');
      });

      it('searches in the namespace of the query alone', async () => {
        const query = queryOf('refund', { namespace: 'other' });

        expect(idsOf(await make().retrieve(query))).to.deep.equal(['secret']);
        expect(await make().retrieve({ ...query, namespace: 'missing' })).to.deep.equal([]);
      });

      it('applies the filter of the query and its own: neither widens the other one', async () => {
        const text = 'refund goods support days';
        const pagesOf = async (own?: QueryFilter, filter?: Filter): Promise<unknown> => {
          const retriever = make({ topK: 9, ...(own && { filter: own }) });
          const found = await retriever.retrieve(queryOf(text, { filter }));
          return found.map(({ metadata }) => Number(metadata?.['page'])).sort((a, b) => a - b);
        };

        expect(await pagesOf({ lang: 'en' })).to.deep.equal([0, 2, 4]);
        expect(await pagesOf({ lang: 'en' }, { page: { lte: 2 } })).to.deep.equal([0, 2]);
        expect(await pagesOf({ lang: 'en' }, { lang: 'de' })).to.deep.equal([]);
        expect(await pagesOf(({ text: asked }) => ({ page: asked.length - 24 }))).to.deep.equal([
          1,
        ]);
        expect(await pagesOf(() => undefined, { page: 0 })).to.deep.equal([0]);
      });

      it('finds nothing for a blank query', async () => {
        expect(await make().retrieve(queryOf(' \n'))).to.deep.equal([]);
      });

      it('ends with the run of the query', async () => {
        const query = queryOf('refund', { signal: AbortSignal.abort() });

        expect(await failureOf(make().retrieve(query))).to.be.instanceOf(Error);
      });

      it('refuses invalid options', () => {
        expect(() => make({ topK: 0 })).to.throw(InvalidArgumentError, `${name}: topK must be`);
        expect(() => make({ minScore: 2 })).to.throw(InvalidArgumentError, 'minScore');
      });
    });

  describe('VectorRetriever', () => {
    it('adds the embedding to the ledger of the run that asks', async () => {
      const retriever = new VectorRetriever({ store, embeddingModel: EMBEDDINGS });

      const ledger = await ledgerOfTurn(({ signal }) =>
        retriever.retrieve(queryOf('refund', { signal })),
      );

      expect(ledger[0]?.model).to.equal('letters');
      expect(ledger[0]?.usage?.inputTokens).to.equal(3);
    });

    it('has no results below a similarity of 0 by default', async () => {
      await store.upsert('signs', [
        { id: 'same', text: '', vector: new Float32Array([1, 0]) },
        { id: 'opposite', text: '', vector: new Float32Array([-1, 0]) },
      ]);
      const embeddingModel: EmbeddingModel = {
        embed: async () => ({
          vectors: [new Float32Array([1, 0])],
          usage: undefined,
          model: undefined,
        }),
      };
      const query = queryOf('any', { namespace: 'signs' });
      const find = async (minScore?: number): Promise<readonly string[]> =>
        idsOf(await new VectorRetriever({ store, embeddingModel, minScore }).retrieve(query));

      expect(await find()).to.deep.equal(['same']);
      expect(await find(-1)).to.deep.equal(['same', 'opposite']);
    });

    it('refuses an answer of the model without a vector', async () => {
      const embeddingModel: EmbeddingModel = {
        embed: async () => ({ vectors: [], usage: undefined, model: undefined }),
      };
      const retriever = new VectorRetriever({ store, embeddingModel });

      expect(await failureOf(retriever.retrieve(queryOf('a')))).to.be.instanceOf(ModelCallError);
    });
  });

  describe('HybridRetriever', () => {
    it('fuses the results of its retrievers by rank', async () => {
      const hybrid = new HybridRetriever({
        retrievers: [fixed('a', 'b', 'c', 'd'), fixed('e', 'c', 'f')],
        topK: 3,
      });

      const found = await hybrid.retrieve(queryOf('any'));

      expect(idsOf(found)).to.deep.equal(['c', 'a', 'e']);
      expect(found[0]?.score).to.equal(1 / 63 + 1 / 62);
    });

    it('weighs retrievers, and damps ranks by its constant', async () => {
      const retrievers = [fixed('a', 'b'), fixed('c', 'b')];
      const find = async (options: object): Promise<readonly string[]> =>
        idsOf(await new HybridRetriever({ retrievers, ...options }).retrieve(queryOf('any')));

      expect(await find({})).to.deep.equal(['b', 'a', 'c']);
      expect(await find({ weights: [1, 3] })).to.deep.equal(['b', 'c', 'a']);
      expect(await find({ rankConstant: 0.1 })).to.deep.equal(['b', 'a', 'c']);
      expect(await find({ weights: [1, 3], rankConstant: 0.1 })).to.deep.equal(['c', 'b', 'a']);
    });

    it('joins keywords and vectors of one namespace', async () => {
      const retrievers = makers.map(({ make }) => make({ topK: 8 }));
      const hybrid = new HybridRetriever({ retrievers, topK: 2 });

      const found = await hybrid.retrieve(queryOf('When is a refund paid?'));

      expect(found).to.have.lengthOf(2);
      expect(found[0]?.id).to.equal('refund');
    });

    it('asks its retrievers for 100 documents, or for as many as it returns', async () => {
      const asked: unknown[] = [];
      const counting: DocumentRetriever = {
        retrieve: async ({ topK }) => {
          asked.push(topK);
          return [];
        },
      };
      const retrievers = [counting];

      await new HybridRetriever({ retrievers }).retrieve(queryOf('any'));
      await new HybridRetriever({ retrievers, topK: 101 }).retrieve(queryOf('any', { topK: 3 }));
      await new HybridRetriever({ retrievers }).retrieve(queryOf('any', { topK: 200 }));

      expect(asked).to.deep.equal([100, 101, 200]);
    });

    it('returns as many documents as the query asks for, unless it has a topK of its own', async () => {
      const retrievers = [fixed('a', 'b', 'c', 'd', 'e')];
      const find = async (topK?: number): Promise<number> =>
        (await new HybridRetriever({ retrievers, topK }).retrieve(queryOf('any', { topK: 3 })))
          .length;

      expect(await find()).to.equal(3);
      expect(await find(2)).to.equal(2);
    });

    it('returns a document that both halves have below their first four', async () => {
      const ids = ['a', 'b', 'c', 'd', 'e', 'shared'];
      const half = (order: readonly string[]): KeywordRetriever => {
        const index: Pick<KeywordIndex, 'search'> = {
          search: async (_namespace, { topK }) =>
            order.slice(0, topK).map((id) => ({ id, text: id, score: 1 })),
        };
        return new KeywordRetriever({ index });
      };
      const retrievers = [half(ids), half(ids.map((id) => (id === 'shared' ? id : `${id}2`)))];

      const found = await new HybridRetriever({ retrievers }).retrieve(queryOf('any'));

      expect(idsOf(found)[0]).to.equal('shared');
      expect(found).to.have.lengthOf(4);
    });

    it('fails with the first error of a retriever, without an onError', async () => {
      const error = new Error('down');
      const retrievers = [fixed('a'), failing(error), failing(new Error('second'))];

      expect(
        await failureOf(new HybridRetriever({ retrievers }).retrieve(queryOf('any'))),
      ).to.equal(error);
    });

    it('answers with the others when onError receives the error', async () => {
      const error = new Error('down');
      const retrievers = [failing(error), fixed('a')];
      const received: unknown[] = [];
      const hybrid = new HybridRetriever({
        retrievers,
        onError: (...failure) => received.push(failure),
      });

      expect(idsOf(await hybrid.retrieve(queryOf('any')))).to.deep.equal(['a']);
      expect(received).to.deep.equal([[error, retrievers[0]]]);
    });

    it('fails when all fail, or the run is cancelled, whatever onError receives', async () => {
      const error = new Error('down');
      const onError = (): void => undefined;
      const all = new HybridRetriever({ retrievers: [failing(error)], onError });
      const some = new HybridRetriever({ retrievers: [fixed('a'), failing(error)], onError });
      const signal = AbortSignal.abort();

      expect(await failureOf(all.retrieve(queryOf('any')))).to.equal(error);
      expect(await failureOf(some.retrieve(queryOf('any', { signal })))).to.equal(error);
    });

    it('refuses invalid options', () => {
      const retrievers = [fixed('a')];

      expect(() => new HybridRetriever({ retrievers: [] })).to.throw(InvalidArgumentError);
      expect(() => new HybridRetriever({ retrievers, weights: [1, 2] })).to.throw(
        InvalidArgumentError,
        'HybridRetriever: 2 weights do not fit 1 retrievers; give one for each',
      );
      expect(() => new HybridRetriever({ retrievers, weights: [0] })).to.throw(
        InvalidArgumentError,
      );
    });
  });
});
