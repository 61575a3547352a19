/**
 * Searches of an InMemoryVectorStore: milliseconds of CPU time, with the ratio to a brute force over a list
 * of vectors in the same run, and memory of 100,000 documents. `npm run bench:vectors`
 */
import type { Document } from '../src/core/chat/document.js';
import { InMemoryVectorStore } from '../src/stores/vectors/in-memory-vector-store.js';
import type { Filter } from '../src/stores/vectors/filter.js';

const DIMENSIONS = 384;
const TOP_K = 10;
const BATCH = 1_000;

function randomVector(): Float32Array {
  return Float32Array.from({ length: DIMENSIONS }, () => Math.random() - 0.5);
}

function documentsOf(from: number, count: number): readonly Document[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `document ${from + at}`,
    text: `text of document ${from + at}`,
    vector: randomVector(),
    metadata: { document: `file ${Math.floor((from + at) / 10)}`, chunk: (from + at) % 10 },
  }));
}

/** As most examples do it: all cosines, then a sort. */
function bruteForce(vectors: readonly Float32Array[], query: Float32Array): readonly number[] {
  const cosine = (a: Float32Array, b: Float32Array): number => {
    let [dot, squaresOfA, squaresOfB] = [0, 0, 0];
    for (let at = 0; at < a.length; at++) {
      const [x, y] = [a[at] as number, b[at] as number];
      dot += x * y;
      squaresOfA += x * x;
      squaresOfB += y * y;
    }
    return dot / Math.sqrt(squaresOfA * squaresOfB);
  };
  const scored = vectors.map((vector, at) => [at, cosine(vector, query)] as const);
  return scored
    .sort((a, b) => b[1] - a[1])
    .slice(0, TOP_K)
    .map(([at]) => at);
}

/** Median of the milliseconds of CPU time of a number of runs: other programs do not count. */
async function medianOf(runs: number, work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    const start = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1_000);
  }
  return times.sort((a, b) => a - b)[runs >> 1] ?? NaN;
}

/** Longest time, in milliseconds, for which searches keep a timer waiting. */
async function longestPause(work: () => Promise<unknown>): Promise<number> {
  let [last, longest] = [performance.now(), 0];
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await work();
  clearInterval(timer);
  return longest;
}

function memory(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function measure(count: number): Promise<void> {
  const store = new InMemoryVectorStore();
  const before = memory();
  const start = performance.now();
  for (let from = 0; from < count; from += BATCH)
    await store.upsert('n', documentsOf(from, Math.min(BATCH, count - from)));
  const added = performance.now() - start;
  const used = memory() - before;
  const search = (filter?: Filter) => (): Promise<readonly Document[]> =>
    store.search('n', { vector: randomVector(), topK: TOP_K, filter });
  await medianOf(5, search());
  const runs = count > 50_000 ? 15 : 60;
  const time = await medianOf(runs, search());
  const selective = await medianOf(runs, search({ chunk: 3 }));
  const pause = await longestPause(() => Promise.all(Array.from({ length: 8 }, search())));
  const vectors = Array.from({ length: count }, randomVector);
  const naive = await medianOf(Math.ceil(runs / 3), () => bruteForce(vectors, randomVector()));
  console.log(
    `${count} x ${DIMENSIONS}: search ${time.toFixed(1)} ms, brute force ${naive.toFixed(1)} ms, ratio ${(naive / time).toFixed(2)};`,
    `filter of a tenth ${selective.toFixed(1)} ms; longest pause of 8 searches ${pause.toFixed(0)} ms;`,
    `added in ${added.toFixed(0)} ms; ${(used / 2 ** 20).toFixed(0)} MiB`,
  );
}

for (const count of [1_000, 10_000, 100_000]) await measure(count);
