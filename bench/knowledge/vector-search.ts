import type { Document } from '../../src/core/chat/document.js';
import type { Filter } from '../../src/stores/vectors/filter.js';
import { InMemoryVectorStore } from '../../src/stores/vectors/in-memory-vector-store.js';
import { cpuOf, mebibytes, median, memory } from './measures.js';

const DIMENSIONS = 384;
const TOP_K = 10;
const BATCH = 1_000;

/** Finds the rows of the best documents. */
type Search = (query: Float32Array) => readonly number[] | Promise<readonly Document[]>;

function randomVector(): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (let at = 0; at < DIMENSIONS; at++) vector[at] = Math.random() - 0.5;
  return vector;
}

function documentsOf(from: number, count: number): readonly Document[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `document ${from + at}`,
    text: `text of document ${from + at}`,
    vector: randomVector(),
    metadata: { document: `file ${Math.floor((from + at) / 10)}`, chunk: (from + at) % 10 },
  }));
}

const bestOf = (scores: readonly number[]): readonly number[] =>
  scores
    .map((score, at) => [at, score] as const)
    .sort((a, b) => b[1] - a[1])
    .slice(0, TOP_K)
    .map(([at]) => at);

/** As most examples do it: all cosines of arrays of numbers, then a sort. */
function overArrays(count: number): Search {
  const vectors = Array.from({ length: count }, () => Array.from(randomVector()));
  const cosine = (a: readonly number[], b: readonly number[]): number => {
    let dot = 0;
    let squaresOfA = 0;
    let squaresOfB = 0;
    for (let at = 0; at < a.length; at++) {
      const x = a[at] as number;
      const y = b[at] as number;
      dot += x * y;
      squaresOfA += x * x;
      squaresOfB += y * y;
    }
    return dot / Math.sqrt(squaresOfA * squaresOfB);
  };
  return (query) => {
    const numbers = Array.from(query);
    return bestOf(vectors.map((vector) => cosine(vector, numbers)));
  };
}

/** With care: one array of all numbers, vectors of length 1, and one product for each. */
function overOneArray(count: number): Search {
  const vectors = new Float32Array(count * DIMENSIONS);
  for (let row = 0; row < count; row++) vectors.set(randomVector(), row * DIMENSIONS);
  return (query) => {
    const scores: number[] = [];
    for (let row = 0; row < count; row++) {
      const start = row * DIMENSIONS;
      let dot = 0;
      for (let at = 0; at < DIMENSIONS; at++)
        dot += (vectors[start + at] as number) * (query[at] as number);
      scores.push(dot);
    }
    return bestOf(scores);
  };
}

/** Median of the milliseconds of a search, after some to warm up. */
async function timeOf(search: Search, count: number): Promise<number> {
  const times: number[] = [];
  const runs = count > 50_000 ? 15 : 60;
  for (let run = 0; run < runs; run++) {
    const query = randomVector();
    times.push(await cpuOf(() => search(query)));
  }
  return median(times.slice(5));
}

/** Longest time, in milliseconds, for which searches keep a timer waiting. */
async function longestPause(work: () => Promise<unknown>): Promise<number> {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await work();
  clearInterval(timer);
  return longest;
}

/** Searches of an InMemoryVectorStore beside two loops by hand, and its memory. */
export async function measureVectorSearch(count: number): Promise<void> {
  const store = new InMemoryVectorStore();
  const before = await memory();
  const added = await cpuOf(async () => {
    for (let from = 0; from < count; from += BATCH)
      await store.upsert('n', documentsOf(from, Math.min(BATCH, count - from)));
  });
  const used = (await memory()) - before;
  const search = (vector: Float32Array, filter?: Filter): Promise<readonly Document[]> =>
    store.search('n', { vector, topK: TOP_K, filter });
  const time = await timeOf((vector) => search(vector), count);
  const filtered = await timeOf((vector) => search(vector, { chunk: 3 }), count);
  const pause = await longestPause(() =>
    Promise.all(Array.from({ length: 8 }, () => search(randomVector()))),
  );
  const arrays = await timeOf(overArrays(count), count);
  const oneArray = await timeOf(overOneArray(count), count);
  console.log(
    `${count} vectors of ${DIMENSIONS}: search ${time.toFixed(1)} ms;`,
    `arrays of numbers ${arrays.toFixed(1)} ms, ratio ${(arrays / time).toFixed(2)};`,
    `one Float32Array ${oneArray.toFixed(1)} ms, ratio ${(oneArray / time).toFixed(2)};`,
    `filter of a tenth ${filtered.toFixed(1)} ms; longest pause of 8 searches ${pause.toFixed(0)} ms;`,
    `added in ${added.toFixed(0)} ms; ${mebibytes(used)} MiB`,
  );
}
