import { expect } from 'chai';
import {
  HybridRetriever,
  KeywordIndex,
  KeywordRetriever,
  VectorRetriever,
  type DocumentRetriever,
} from '../../../src/knowledge/index.js';
import { InMemoryVectorStore } from '../../../src/stores/vectors/in-memory-vector-store.js';
import { HashedEmbeddingModel } from '../../support/hashed-embedding-model.js';
import { idsOf, queryOf } from '../../support/queries.js';
import { loadRetrievalSets, ndcgOf, type RetrievalSet } from '../../support/retrieval-sets.js';

const embeddingModel = new HashedEmbeddingModel();

/** Mean nDCG@10 in percent. */
async function qualityOf(
  retriever: DocumentRetriever,
  { questions }: RetrievalSet,
): Promise<number> {
  let sum = 0;
  for (const { text, relevant } of questions)
    sum += ndcgOf(idsOf(await retriever.retrieve(queryOf(text))), relevant);
  return (100 * sum) / questions.length;
}

async function retrieversOf({ documents }: RetrievalSet) {
  const plain = documents.map(({ id, title, text }) => ({ id, text, metadata: { title } }));
  const { vectors } = await embeddingModel.embed(plain.map(({ text }) => text));
  const [index, store] = [new KeywordIndex(), new InMemoryVectorStore()];
  await index.upsert('docs', plain);
  await store.upsert(
    'docs',
    plain.map((document, at) => ({ ...document, vector: vectors[at] })),
  );
  const words = new KeywordRetriever({ index, topK: 100 });
  return { words, vectors: new VectorRetriever({ store, embeddingModel, topK: 100 }) };
}

describe('quality of retrieval', () => {
  it('is at least 40.5 points of nDCG@10 by words, and fusion keeps it within 0.5 of the better half', async function () {
    const sets = loadRetrievalSets(this);
    const qualities: number[] = [];

    for (const set of sets) {
      const { words, vectors } = await retrieversOf(set);
      const weights = [1, 0.1]; // the test embedding is much worse alone
      const hybrid = new HybridRetriever({ retrievers: [words, vectors], weights, topK: 10 });
      const [byWords, byVectors, byBoth] = [
        await qualityOf(words, set),
        await qualityOf(vectors, set),
        await qualityOf(hybrid, set),
      ];
      qualities.push(byWords);
      expect(byBoth, set.name).to.be.above(Math.max(byWords, byVectors) - 0.5);
    }

    expect(qualities.reduce((sum, one) => sum + one, 0) / sets.length).to.be.at.least(40.5);
  });
});
