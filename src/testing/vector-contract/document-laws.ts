import assert from 'node:assert/strict';
import type { Document, DocumentMetadata } from '../../core/chat/document.js';
import { CancelledError, InvalidArgumentError } from '../../core/errors/errors.js';
import { documentOf, idsOf, UNUSUAL, type VectorLaws } from './samples.js';

/** Without the vector, as a store lists it. */
function listed({ id, text, metadata }: Document): Document {
  return { id, text, ...(metadata && { metadata }) };
}

const FILE = { file: 'a' };
const replacing = { replaces: FILE };

export const DOCUMENT_LAWS: VectorLaws = {
  'lists what it keeps, also by another connection': async (store, name, other) => {
    const documents = [
      documentOf('a', { lang: 'en', year: 2021, draft: false, tags: ['x', 7, true], none: [] }),
      documentOf('b'),
      { ...documentOf('c', {}), text: '' },
    ];
    await store.upsert(name, documents);
    for (const each of [store, other])
      assert.deepEqual(await each.list(name), documents.map(listed));
    const [first] = await other.list(name, { withVectors: true, limit: 1 });
    assert.deepEqual(first?.vector, new Float32Array([1, 0]));
  },

  'replaces the document of a known id': async (store, name, other) => {
    await store.upsert(name, [documentOf('a', { old: true, k: 1 }), documentOf('b')]);
    const replacement = { ...documentOf('a', { k: 2 }, 0, 1), text: 'new' };
    await other.upsert(name, [documentOf('a'), replacement]);
    assert.deepEqual(await store.list(name), [listed(replacement), listed(documentOf('b'))]);
    const [best] = await store.search(name, { vector: new Float32Array([0, 1]), topK: 1 });
    assert.equal(best?.id, 'a');
  },

  'keeps namespaces apart, whatever their names': async (store, name, other) => {
    const names = [...new Set(UNUSUAL.flatMap((text) => [`${name} ${text}`, `${name} ${text} `]))];
    const kept = documentOf('same id', { k: 1 });
    for (const each of names) await store.upsert(each, [{ ...kept, text: each }]);
    await store.delete(name, {});
    await store.clear(name);
    await store.upsert(name, [kept], { replaces: {} });
    await other.delete(name, ['same id']);
    for (const each of names) {
      const found = await other.search(each, { vector: new Float32Array([1, 0]), topK: 9 });
      assert.deepEqual(
        found.map(({ text }) => text),
        [each],
      );
      assert.deepEqual(
        (await store.list(each)).map(({ text }) => text),
        [each],
      );
    }
    await store.clear(names[0] as string);
    assert.deepEqual(await other.list(names[0] as string), []);
    assert.equal((await other.list(names[1] as string)).length, 1);
    assert.deepEqual(await store.list(name), []);
  },

  'keeps ids, texts, keys and values of any characters': async (store, name, other) => {
    const documents = UNUSUAL.filter((text) => text.trim() !== '').map((text) => {
      const metadata: DocumentMetadata = { list: [text], ...Object.fromEntries([[text, text]]) };
      return { ...documentOf(text, metadata), text: `${text}\n`.repeat(3) };
    });
    await store.upsert(name, documents);
    const found = new Map((await other.list(name)).map((each) => [each.id, each]));
    assert.deepEqual(
      documents.map(({ id }) => found.get(id)),
      documents.map(listed),
    );
    const large = { ...documentOf('large'), text: 'x😀"\\\n'.repeat(200_000) };
    await store.upsert(name, [large], { replaces: {} });
    assert.deepEqual(await other.list(name), [listed(large)]);
  },

  'keeps U+FFFD in place of what some databases refuse': async (store, name) => {
    await store.upsert(name, [{ ...documentOf('a', { k: 'a\0' }), text: 'a\0\ud800' }]);
    const [kept] = await store.list(name, { filter: { k: 'a\0' } });
    assert.deepEqual([kept?.text, kept?.metadata], ['a\ufffd\ufffd', { k: 'a\ufffd' }]);
  },

  'lists pages in the order of code points': async (store, name, other) => {
    const ids = ['\u{10FFFF}', 'b', '😀', 'B', 'a', '\uffff', 'é', '10', '9', 'a b', 'ab', '_'];
    const order = ['10', '9', 'B', '_', 'a', 'a b', 'ab', 'b', 'é', '\uffff', '😀', '\u{10FFFF}'];
    await store.upsert(
      name,
      ids.map((id) => documentOf(id, { isLong: id.length > 1 })),
    );
    assert.deepEqual(await idsOf(other.list(name)), order);
    const pages: string[] = [];
    for (let after: string | undefined; ; after = pages.at(-1)) {
      const page = await idsOf(other.list(name, { after, limit: 5 }));
      pages.push(...page);
      if (page.length < 5) break;
    }
    assert.deepEqual(pages, order);
    const query = { filter: { isLong: true }, after: 'a', limit: 2 };
    assert.deepEqual(await idsOf(store.list(name, query)), ['a b', 'ab']);
    assert.deepEqual(await store.list(name, { after: '\u{10FFFF}' }), []);
  },

  'deletes by ids and by filter': async (store, name, other) => {
    await store.upsert(
      name,
      ['a', 'b', 'c', 'd'].map((id) => documentOf(id, { id })),
    );
    await store.delete(name, ['a', 'a', 'missing']);
    await store.delete(name, []);
    await other.delete(name, { id: { gt: 'c' } });
    assert.deepEqual(await idsOf(store.list(name)), ['b', 'c']);
    await other.delete(name, { or: [] });
    assert.deepEqual(await idsOf(store.list(name)), ['b', 'c']);
    await store.delete(name, {});
    assert.deepEqual(await other.list(name), []);
    await store.clear(name);
  },

  'replaces in one step what a filter accepts': async (store, name) => {
    await store.upsert(name, [documentOf('1', FILE), documentOf('2', FILE), documentOf('3')]);
    await store.upsert(name, [documentOf('2', FILE, 0, 1), documentOf('4', FILE)], replacing);
    assert.deepEqual(await idsOf(store.list(name)), ['2', '3', '4']);
    await store.upsert(name, [], replacing);
    assert.deepEqual(await idsOf(store.list(name)), ['3']);
    await store.upsert(name, [documentOf('5', {}, 1, 2, 3)], { replaces: {} });
    assert.deepEqual(await idsOf(store.list(name)), ['5']);
  },

  'stores all documents of a call or none': async (store, name, other) => {
    await store.upsert(name, [documentOf('1', FILE)]);
    const bad: readonly (readonly Document[])[] = [
      [documentOf('2'), documentOf('3', {}, 1, NaN)],
      [documentOf('2'), documentOf('3', {}, 1, 2, 3)],
      [documentOf('2', {}, 1, 2, 3)],
      [documentOf('2'), documentOf('3', { k: null } as never)],
    ];
    for (const documents of bad)
      await assert.rejects(
        store.upsert(name, documents, { replaces: { no: 1 } }),
        InvalidArgumentError,
      );
    assert.deepEqual(await idsOf(other.list(name)), ['1']);
  },

  'shows readers all documents of a call or none': async (store, name, other) => {
    const generation = async (each: typeof store, at: number): Promise<void> => {
      const ids = Array.from({ length: 2 + (at % 4) }, (_, chunk) => `${at} ${chunk}`);
      await each.upsert(
        name,
        ids.map((id) => documentOf(id, { ...FILE, at, of: ids.length })),
        replacing,
      );
    };
    await generation(store, 0);
    let isWriting = true;
    const writers = Array.from({ length: 12 }, (_, at) => generation(at % 2 ? store : other, at));
    const written = Promise.all(writers).finally(() => (isWriting = false));
    do {
      const seen = await other.list(name);
      const { at, of } = seen[0]?.metadata ?? {};
      assert.equal(seen.length, of, 'a reader sees half of a call');
      assert.ok(seen.every(({ metadata }) => metadata?.['at'] === at));
      await new Promise((resolve) => setTimeout(resolve, 0));
    } while (isWriting);
    await written;
  },

  'deletes all documents of a concurrent call or none': async (store, name, other) => {
    for (let round = 0; round < 20; round++) {
      // of each call the first half is kept by the next one
      const ids = Array.from({ length: 40 }, (_, at) => `${at < 20 ? 'kept' : round} ${at}`);
      const documents = ids.map((id) => documentOf(id, FILE));
      const deletion = async (): Promise<void> => {
        // begins at another moment of the write in each round
        for (let wait = round % 4; wait > 0; wait--) await other.list(name, { limit: 1 });
        await other.delete(name, FILE);
      };
      await Promise.all([store.upsert(name, documents, replacing), deletion()]);
      const { length } = await store.list(name);
      assert.ok(length === 0 || length === ids.length, `${length} of ${ids.length} are left`);
      await store.upsert(name, documents, replacing);
    }
  },

  'stores nothing once its signal is aborted': async (store, name) => {
    const signal = AbortSignal.abort();
    await assert.rejects(store.upsert(name, [documentOf('a')], { signal }), CancelledError);
    assert.deepEqual(await store.list(name), []);
  },

  'rejects what databases cannot keep': async (store, name) => {
    const bad = ['', ' ', 'a\0', '\ud800', 'x'.repeat(513), 7, null, undefined] as never[];
    for (const each of bad) {
      for (const act of [
        () => store.upsert(each, [documentOf('a')]),
        () => store.upsert(name, [{ ...documentOf('a'), id: each }]),
        () => store.search(each, { vector: new Float32Array([1, 0]), topK: 1 }),
        () => store.list(each),
        () => store.delete(each, {}),
        () => store.clear(each),
      ])
        await assert.rejects(act, InvalidArgumentError);
    }
    for (const metadata of [
      { and: 1 },
      { 'a\0': 1 },
      { k: NaN },
      { k: [[1]] },
      { k: {} },
    ] as never[])
      await assert.rejects(store.upsert(name, [documentOf('a', metadata)]), InvalidArgumentError);
    for (const filter of [{ k: undefined }, { k: {} }, { k: { is: 1 } }, { or: 1 }, 'k'] as never[])
      await assert.rejects(store.delete(name, filter), InvalidArgumentError);
    for (const limit of [0, 1.5, NaN])
      await assert.rejects(store.list(name, { limit }), InvalidArgumentError);
    await store.upsert(name, [documentOf('日'.repeat(512))]);
    assert.equal((await store.list(name)).length, 1);
  },
};
