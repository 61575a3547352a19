// Retrieval of documents: quality, time and memory of the keyword index, of vectors of two test embeddings, and of both fused.
// npm run bench:retrieval -- ../other/folder    reads the sets of another folder, in the form of ../shared/retrieval/data
import { AdvisorContext } from '../src/index.js';
import {
  HybridRetriever,
  KeywordIndex,
  KeywordRetriever,
  VectorRetriever,
  type DocumentRetriever,
} from '../src/knowledge/index.js';
import type { EmbeddingModel } from '../src/stores/vectors/embedding-model.js';
import { InMemoryVectorStore } from '../src/stores/vectors/in-memory-vector-store.js';
import { HashedEmbeddingModel } from '../test/support/hashed-embedding-model.js';
import { LsaEmbeddingModel } from '../test/support/lsa-embedding-model.js';
import { idsOf } from '../test/support/queries.js';
import {
  embeddedTexts,
  ndcgOf,
  readRetrievalSets,
  type RetrievalSet,
} from '../test/support/retrieval-sets.js';

const TOP = 10;
const namespace = 'set';
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
  const query = { namespace, topK: TOP, history: [], context: AdvisorContext.empty, signal };
  const times = set.questions.map(() => Infinity);
  let sum = 0;
  for (let round = 1; round <= ROUNDS; round++)
    for (const [at, { text, relevant }] of set.questions.entries()) {
      const start = performance.now();
      const found = await retriever.retrieve({ ...query, text });
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

type Rows = Readonly<Record<string, DocumentRetriever>>;

/** Vectors alone, and fused with the words by equal and by other weights. */
async function fusions(
  name: string,
  set: RetrievalSet,
  words: DocumentRetriever,
  embeddingModel: EmbeddingModel,
): Promise<Rows> {
  const { vectors } = await embeddingModel.embed(embeddedTexts(set));
  const store = new InMemoryVectorStore();
  await store.upsert(
    namespace,
    set.documents.map(({ id, text }, at) => ({ id, text, vector: vectors[at] })),
  );
  const byMeaning = new VectorRetriever({ store, embeddingModel });
  const retrievers = [words, byMeaning];
  const both = [1, 0.3, 0.1].map((weight) => [
    `words and ${name}, 1 and ${weight}`,
    new HybridRetriever({ retrievers, weights: [1, weight] }),
  ]);
  return { [name]: byMeaning, ...Object.fromEntries(both) };
}

async function report(set: RetrievalSet): Promise<readonly number[]> {
  const documents = set.documents.map(({ id, title, text }) => ({ id, text, metadata: { title } }));
  const index = new KeywordIndex();
  const before = heap();
  const start = performance.now();
  await index.upsert(namespace, documents);
  const built = performance.now() - start;
  const perDocument = (heap() - before) / documents.length;
  const words = new KeywordRetriever({ index });
  const rows: Rows = {
    words,
    ...(await fusions('hashes', set, words, new HashedEmbeddingModel())),
    ...(await fusions('LSA', set, words, new LsaEmbeddingModel(embeddedTexts(set)))),
  };
  console.log(
    `${set.name}: ${documents.length} documents, built in ${built.toFixed(0)} ms, ${((perDocument * 1e5) / 2 ** 20).toFixed(0)} MiB for 100,000 documents beside their texts`,
  );
  const figures: number[] = [];
  for (const [name, retriever] of Object.entries(rows)) {
    const { ndcg, p50, p99 } = await measure(retriever, set);
    figures.push(ndcg);
    console.log(
      `  ${name.padEnd(28)} nDCG@10 ${ndcg.toFixed(1)}   p50 ${p50.toFixed(2)} ms   p99 ${p99.toFixed(2)} ms`,
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
