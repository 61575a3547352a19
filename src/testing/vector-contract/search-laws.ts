import assert from 'node:assert/strict';
import type { Document } from '../../core/chat/document.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { matchesFilter, type Filter } from '../../stores/vectors/filter.js';
import type { VectorStore } from '../../stores/vectors/vector-store.js';
import { documentOf, idsOf, RandomCases, type VectorLaws } from './samples.js';

/** Vectors have numbers of 32 bits, or fewer. */
const PRECISION = 1e-3;
const query = (...numbers: readonly number[]) => ({ vector: new Float32Array(numbers), topK: 10 });

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1);
}

/** Compares the scores that were found with the best ones of all documents that the filter accepts. */
async function assertNearest(
  store: VectorStore,
  namespace: string,
  documents: readonly Document[],
  numbers: readonly number[],
  filter: Filter,
): Promise<void> {
  const exact = new Map(
    documents
      .filter(({ metadata }) => matchesFilter(filter, metadata))
      .map(({ id, vector = [] }) => [id, cosine([...vector], numbers)]),
  );
  const found = await store.search(namespace, { ...query(...numbers), topK: 7, filter });
  const best = [...exact.values()].sort((a, b) => b - a).slice(0, 7);
  assert.equal(found.length, best.length, JSON.stringify(filter));
  for (const [at, { id, score = NaN, vector }] of found.entries()) {
    assert.ok(Math.abs(score - (best[at] ?? NaN)) < PRECISION, `${score} for ${best[at]}`);
    assert.ok(Math.abs(score - (exact.get(id) ?? NaN)) < PRECISION);
    assert.equal(vector, undefined);
  }
}

export const SEARCH_LAWS: VectorLaws = {
  'finds the nearest documents by angle, best first': async (store, name, other) => {
    const cases = new RandomCases(1);
    const documents = cases.documents(50);
    await store.upsert(name, documents);
    for (let round = 0; round < 10; round++)
      await assertNearest(other, name, documents, cases.vector(4), {});
  },

  'applies a filter before it counts': async (store, name) => {
    const cases = new RandomCases(2);
    const documents = cases.documents(50);
    await store.upsert(name, documents);
    for (let round = 0; round < 60; round++)
      await assertNearest(store, name, documents, cases.vector(4), cases.filter(documents));
  },

  'finds at most topK documents, none below minScore': async (store, name) => {
    await store.upsert(name, [
      documentOf('same', {}, 9, 0),
      documentOf('near', {}, 1, 1),
      documentOf('right', {}, 0, 1),
      documentOf('opposite', {}, -1, 0),
    ]);
    const found = await store.search(name, query(7, 0));
    assert.deepEqual(
      found.map(({ id }) => id),
      ['same', 'near', 'right', 'opposite'],
    );
    assert.deepEqual(
      found.map(({ score = NaN }) => Math.round(score * 1_000) / 1_000 + 0),
      [1, 0.707, 0, -1],
    );
    assert.deepEqual(await idsOf(store.search(name, { ...query(7, 0), topK: 1 })), ['same']);
    const nearOnes = store.search(name, { ...query(7, 0), minScore: 0.5 });
    assert.deepEqual(await idsOf(nearOnes), ['same', 'near']);
  },

  'scores 0 for a zero vector, and large and small ones by their angle': async (store, name) => {
    await store.upsert(name, [
      documentOf('large', {}, 3.4e38, 3.4e38),
      documentOf('small', {}, 1e-45, 1e-45),
      documentOf('zero', {}, 0, 0),
      documentOf('opposite', {}, -1, -1),
    ]);
    const found = await store.search(name, query(1, 1));
    const scores = new Map(
      found.map(({ id, score = NaN }) => [id, Math.round(score * 100) / 100 + 0]),
    );
    assert.deepEqual(
      ['large', 'small', 'zero', 'opposite'].map((id) => scores.get(id)),
      [1, 1, 0, -1],
    );
    assert.deepEqual(found.map(({ id }) => id).slice(2), ['zero', 'opposite']);
    const ofNothing = await store.search(name, query(0, 0));
    assert.deepEqual(
      ofNothing.map(({ score = NaN }) => score + 0),
      [0, 0, 0, 0],
    );
  },

  'returns texts and metadata, and scores': async (store, name) => {
    await store.upsert(name, [
      documentOf('a', { page: 7, tags: ['x'] }),
      documentOf('b', {}, -1, 0),
    ]);
    const [{ score = NaN, ...best } = documentOf('none')] = await store.search(name, query(1, 0));
    assert.deepEqual(best, { id: 'a', text: 'text of a', metadata: { page: 7, tags: ['x'] } });
    assert.ok(Math.abs(score - 1) < PRECISION);
  },

  'finds nothing in an empty namespace, which then takes other dimensions': async (store, name) => {
    assert.deepEqual(await store.search(name, query(1, 0)), []);
    await store.upsert(name, []);
    await store.upsert(name, [documentOf('a')]);
    await store.clear(name);
    assert.deepEqual(await store.search(name, query(1, 0, 0)), []);
    await store.upsert(name, [documentOf('a', {}, 1, 2, 3)]);
    assert.deepEqual(await idsOf(store.search(name, query(1, 2, 3))), ['a']);
    await store.delete(name, ['a']);
    await store.upsert(name, [documentOf('b')]);
    assert.deepEqual(await idsOf(store.search(name, query(1, 0))), ['b']);
  },

  'rejects queries that it cannot answer': async (store, name) => {
    await store.upsert(name, [documentOf('a')]);
    const bad = [
      query(1),
      query(1, 0, 0),
      query(),
      query(1, NaN),
      { ...query(1, 0), vector: [1, 0] },
      { ...query(1, 0), topK: 0 },
      { ...query(1, 0), topK: 1.5 },
      { ...query(1, 0), minScore: 2 },
      { ...query(1, 0), filter: { k: undefined } },
      { ...query(1, 0), filters: {} },
    ] as never[];
    for (const each of bad)
      await assert.rejects(store.search(name, each), InvalidArgumentError, JSON.stringify(each));
  },
};
