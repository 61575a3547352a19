import assert from 'node:assert/strict';
import type { Document } from '../../core/chat/document.js';
import { matchesFilter, type Filter } from '../../stores/vectors/filter.js';
import { documentOf, idsOf, RandomCases, type VectorLaws } from './samples.js';

const DOCUMENTS: readonly Document[] = [
  documentOf('empty'),
  documentOf('texts', { k: 'en', other: 'x' }),
  documentOf('number', { k: 5 }),
  documentOf('fraction', { k: 0.1 + 0.2 }),
  documentOf('text of a number', { k: '5' }),
  documentOf('yes', { k: true }),
  documentOf('no', { k: false }),
  documentOf('list', { k: ['en', 5, true, 0.3] }),
  documentOf('list of texts', { k: ['5', 'true'] }),
  documentOf('empty list', { k: [] }),
  documentOf('emoji', { k: '😀' }),
  documentOf('last unit', { k: '\uffff' }),
];

const FILTERS: readonly Filter[] = [
  {},
  ...['en', 5, '5', 0.3, 0.1 + 0.2, true, false, 1, 0, 'true', '', '😀'].flatMap((value) => [
    { k: value },
    { k: { eq: value } },
    { k: { ne: value } },
    { k: { in: [value, 'x'] } },
    { k: { nin: [value, 'x'] } },
    { k: { contains: value } },
    { not: { k: value } },
  ]),
  ...['', 'en', '5', '\uffff', 5, 0.3, -1].flatMap((value) => [
    { k: { gt: value } },
    { k: { gte: value } },
    { k: { lt: value } },
    { k: { lte: value } },
    { not: { k: { lt: value } } },
  ]),
  { k: { in: [] } },
  { k: { nin: [] } },
  { k: { gte: 0, lt: 5 } },
  { k: { ne: 'en', nin: [5] }, other: { ne: 'y' } },
  { or: [] },
  { and: [] },
  { or: [{ k: 5 }, { other: 'x', k: { gt: 'a' } }] },
  { and: [{ k: { ne: 5 } }, { not: { k: true } }], not: { or: [{ k: '5' }, { other: 'x' }] } },
  { not: { not: { missing: 'x' } } },
  { not: { missing: { gt: 0 } } },
];

/** A filter as deep and as long as filters may be. */
function largest(): readonly Filter[] {
  let deep: Filter = { k: 5 };
  for (let level = 0; level < 15; level++) deep = { or: [{ not: deep }] };
  const many = Array.from({ length: 249 }, (_, at) => ({ k: { gt: at } }));
  return [
    deep,
    { or: many },
    { and: many },
    { k: { in: Array.from({ length: 5_000 }, (_, at) => at) } },
  ];
}

function accepted(documents: readonly Document[], filter: Filter): readonly string[] {
  return documents
    .filter(({ metadata }) => matchesFilter(filter, metadata))
    .map(({ id }) => id)
    .sort();
}

export const FILTER_LAWS: VectorLaws = {
  'accepts by every operator what matchesFilter accepts': async (store, name) => {
    await store.upsert(name, DOCUMENTS);
    for (const filter of [...FILTERS, ...largest()])
      assert.deepEqual(
        await idsOf(store.list(name, { filter })),
        accepted(DOCUMENTS, filter),
        JSON.stringify(filter).slice(0, 500),
      );
  },

  'accepts by random filters what matchesFilter accepts': async (store, name) => {
    const cases = new RandomCases(3);
    const documents = cases.documents(60);
    await store.upsert(name, documents);
    for (let round = 0; round < 200; round++) {
      const filter = cases.filter(documents);
      const found = await idsOf(store.list(name, { filter }));
      assert.deepEqual(found, accepted(documents, filter), JSON.stringify(filter));
    }
  },

  'deletes by random filters what matchesFilter accepts': async (store, name, other) => {
    const cases = new RandomCases(4);
    const documents = cases.documents(80);
    await store.upsert(name, documents);
    let kept = documents;
    for (let round = 0; round < 20; round++) {
      const filter = { and: [cases.filter(kept), { lang: { ne: `${round}` } }] };
      if (accepted(kept, filter).length > kept.length / 2) continue;
      kept = kept.filter(({ metadata }) => !matchesFilter(filter, metadata));
      await store.delete(name, filter);
      assert.deepEqual(
        await idsOf(other.list(name)),
        kept.map(({ id }) => id),
      );
    }
  },
};
