// Retrieval of documents: quality, time and memory of the keyword index, of vectors of a test embedding, and of both fused.
// npm run bench:retrieval -- ../other/folder    reads the sets of another folder, in the form of ../shared/retrieval/data
import { AdvisorContext } from '../src/index.js';
import {
  HybridRetriever,
  KeywordIndex,
  KeywordRetriever,
  VectorRetriever,
  type Document,
  type DocumentRetriever,
} from '../src/knowledge/index.js';
import { InMemoryVectorStore } from '../src/stores/vectors/in-memory-vector-store.js';
import { HashedEmbeddingModel } from '../test/support/hashed-embedding-model.js';
import { idsOf } from '../test/support/queries.js';
import { ndcgOf, readRetrievalSets, type RetrievalSet } from '../test/support/retrieval-sets.js';

const DEPTH = 100;
const namespace = 'set';
const embeddingModel = new HashedEmbeddingModel();
const signal = new AbortController().signal;

interface Measured {
  /** nDCG@10 in percent. */
  readonly ndcg: number;
  /** Milliseconds of a search. */
  readonly p50: number;
  readonly p99: number;
}

const ROUNDS = 5;

/** Asks all questions several times; the best time of each counts, as the machine may do other things. */
async function measure(retriever: DocumentRetriever, set: RetrievalSet): Promise<Measured> {
  const context = AdvisorContext.empty;
  const times = set.questions.map(() => Infinity);
  let sum = 0;
  for (let round = 1; round <= ROUNDS; round++)
    for (const [at, { text, relevant }] of set.questions.entries()) {
      const start = performance.now();
      const found = await retriever.retrieve({ text, namespace, history: [], context, signal });
      times[at] = Math.min(times[at] ?? Infinity, performance.now() - start);
      if (round === ROUNDS) sum += ndcgOf(idsOf(found), relevant);
    }
  times.sort((a, b) => a - b);
  const percentile = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
  return { ndcg: (100 * sum) / times.length, p50: percentile(0.5), p99: percentile(0.99) };
}

/** Bytes of live objects; collects garbage first. */
function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

async function withVectors(documents: readonly Document[]): Promise<readonly Document[]> {
  const { vectors } = await embeddingModel.embed(documents.map(({ text }) => text));
  return documents.map((document, at) => ({ ...document, vector: vectors[at] }));
}

async function report(set: RetrievalSet): Promise<readonly number[]> {
  const documents = set.documents.map(({ id, title, text }) => ({ id, text, metadata: { title } }));
  const index = new KeywordIndex();
  const before = heap();
  const start = performance.now();
  await index.upsert(namespace, documents);
  const built = performance.now() - start;
  const perDocument = (heap() - before) / documents.length;
  const store = new InMemoryVectorStore();
  await store.upsert(namespace, await withVectors(documents));
  const words = new KeywordRetriever({ index, topK: DEPTH });
  const vectors = new VectorRetriever({ store, embeddingModel, topK: DEPTH });
  const retrievers = [words, vectors];
  const rows: Readonly<Record<string, DocumentRetriever>> = {
    words,
    vectors,
    'both, weights 1 and 1': new HybridRetriever({ retrievers, topK: 10 }),
    'both, weights 1 and 0.1': new HybridRetriever({ retrievers, topK: 10, weights: [1, 0.1] }),
  };
  console.log(
    `${set.name}: ${documents.length} documents, built in ${built.toFixed(0)} ms, ${((perDocument * 1e5) / 2 ** 20).toFixed(0)} MiB for 100,000 documents beside their texts`,
  );
  const figures: number[] = [];
  for (const [name, retriever] of Object.entries(rows)) {
    const { ndcg, p50, p99 } = await measure(retriever, set);
    figures.push(ndcg);
    console.log(
      `  ${name.padEnd(24)} nDCG@10 ${ndcg.toFixed(1)}   p50 ${p50.toFixed(2)} ms   p99 ${p99.toFixed(2)} ms`,
    );
  }
  return figures;
}

const all: (readonly number[])[] = [];
for (const set of readRetrievalSets(process.argv[2])) all.push(await report(set));
const means = (all[0] ?? []).map(
  (_, at) => all.reduce((sum, row) => sum + (row[at] ?? 0), 0) / all.length,
);
console.log(`mean nDCG@10: ${means.map((mean) => mean.toFixed(1)).join('   ')}`);
