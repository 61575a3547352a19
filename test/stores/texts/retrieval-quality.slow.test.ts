import { expect } from 'chai';
import {
  HybridRetriever,
  KeywordIndex,
  KeywordRetriever,
  VectorRetriever,
  type DocumentRetriever,
} from '../../../src/knowledge/index.js';
import type { EmbeddingModel } from '../../../src/stores/vectors/embedding-model.js';
import { InMemoryVectorStore } from '../../../src/stores/vectors/in-memory-vector-store.js';
import { HashedEmbeddingModel } from '../../support/hashed-embedding-model.js';
import { LsaEmbeddingModel } from '../../support/lsa-embedding-model.js';
import { idsOf, queryOf } from '../../support/queries.js';
import {
  embeddedTexts,
  loadRetrievalSets,
  ndcgOf,
  type RetrievalSet,
} from '../../support/retrieval-sets.js';

/** Mean nDCG@10 in percent. */
async function qualityOf(
  retriever: DocumentRetriever,
  { questions }: RetrievalSet,
): Promise<number> {
  let sum = 0;
  for (const { text, relevant } of questions)
    sum += ndcgOf(idsOf(await retriever.retrieve(queryOf(text, { topK: 10 }))), relevant);
  return (100 * sum) / questions.length;
}

async function keywordsOf({ documents }: RetrievalSet): Promise<KeywordRetriever> {
  const index = new KeywordIndex();
  await index.upsert(
    'docs',
    documents.map(({ id, title, text }) => ({ id, text, metadata: { title } })),
  );
  return new KeywordRetriever({ index });
}

async function vectorsOf(
  set: RetrievalSet,
  embeddingModel: EmbeddingModel,
): Promise<VectorRetriever> {
  const { vectors } = await embeddingModel.embed(embeddedTexts(set));
  const store = new InMemoryVectorStore();
  await store.upsert(
    'docs',
    set.documents.map(({ id, text }, at) => ({ id, text, vector: vectors[at] })),
  );
  return new VectorRetriever({ store, embeddingModel });
}

describe('quality of retrieval', () => {
  it('is at least 40.5 points of nDCG@10 by words, and fusion with a tenth of the weight for a much worse half keeps it within 0.5', async function () {
    const sets = loadRetrievalSets(this);
    const qualities: number[] = [];

    for (const set of sets) {
      const words = await keywordsOf(set);
      const vectors = await vectorsOf(set, new HashedEmbeddingModel());
      const hybrid = new HybridRetriever({ retrievers: [words, vectors], weights: [1, 0.1] });
      const byWords = await qualityOf(words, set);
      qualities.push(byWords);

      expect(await qualityOf(vectors, set), set.name).to.be.below(byWords - 10);
      expect(await qualityOf(hybrid, set), set.name).to.be.above(byWords - 0.5);
    }

    expect(qualities.reduce((sum, one) => sum + one, 0) / sets.length).to.be.at.least(40.5);
  });

  it('is not lowered by more than 0.5 by fusion with equal weights where both halves are within 3 points of each other', async function () {
    const similar: string[] = [];

    for (const set of loadRetrievalSets(this)) {
      const words = await keywordsOf(set);
      const vectors = await vectorsOf(set, new LsaEmbeddingModel(embeddedTexts(set)));
      const hybrid = new HybridRetriever({ retrievers: [words, vectors] });
      const [byWords, byVectors] = [await qualityOf(words, set), await qualityOf(vectors, set)];
      if (Math.abs(byWords - byVectors) > 3) continue;
      similar.push(set.name);

      expect(await qualityOf(hybrid, set), set.name).to.be.above(
        Math.max(byWords, byVectors) - 0.5,
      );
    }

    // the short texts of the third one are too little to learn an embedding from
    expect(similar).to.deep.equal(['cisi', 'cranfield']);
  });
});
