import assert from 'node:assert/strict';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import type { KeyValueStore } from '../../stores/key-value/key-value-store.js';

/** Properties of every store, by test title; each check has a new key, and a second connection. */
export type KeyValueLaws = Readonly<
  Record<string, (store: KeyValueStore, key: string, other: KeyValueStore) => Promise<void>>
>;

/** A lifetime that ends during a test. */
const SHORT = 10;
const LONG = 3_600_000;

const UNUSUAL = [
  ['with space ', 'new\nline', '"; DROP TABLE key_value; --', "') OR ('1'='1", '%', '_', '$1'],
  ['a:{b}', '{}', '*', '?', '[a-z]*', '../x', 'C:\\x', '__proto__', 'constructor', 'null', '0'],
  ['\u202eright', 'é', 'e\u0301', '😀', '\u{10FFFF}', '\uffff', '\u0001'],
].flat();

export const VALUE_LAWS: KeyValueLaws = {
  'reads what it has written, also by another connection': async (store, key, other) => {
    assert.equal(await store.get(key), undefined);
    assert.equal(await store.set(key, 'a'), true);
    assert.equal(await store.set(key, 'b'), true);
    for (const each of [store, other]) assert.equal(await each.get(key), 'b');
  },

  'keeps keys of any characters apart': async (store, key) => {
    const keys = [...UNUSUAL, ...UNUSUAL.map((text) => text.toUpperCase())].map(
      (text) => `${key} ${text}`,
    );
    const unique = [...new Set(keys)];
    await Promise.all(unique.map((each) => store.set(each, `value of ${each}`)));
    const values = await Promise.all(unique.map((each) => store.get(each)));
    assert.deepEqual(
      values,
      unique.map((each) => `value of ${each}`),
    );
  },

  'keeps values of any characters, the empty one, and large ones': async (store, key, other) => {
    const large = 'x😀"\\\n'.repeat(200_000);
    const values = ['', ' ', 'null', ...UNUSUAL, large];
    await Promise.all(values.map((value, at) => store.set(`${key} ${at}`, value)));
    const read = await Promise.all(values.map((_, at) => other.get(`${key} ${at}`)));
    assert.deepEqual(read, values);
  },

  'takes the longest keys': async (store, key) => {
    const longest = key + '日'.repeat(768 - key.length);
    await store.set(longest, 'a');
    await store.add(longest, { a: 1 });
    assert.equal(await store.get(longest), 'a');
  },

  'writes on the condition of a value, or of none': async (store, key, other) => {
    assert.equal(await store.set(key, 'a', { expected: 'b' }), false);
    assert.equal(await store.get(key), undefined);
    assert.equal(await store.set(key, '', { expected: null }), true);
    assert.equal(await other.set(key, 'b', { expected: null }), false);
    assert.equal(await other.set(key, 'b', { expected: 'a' }), false);
    assert.equal(await store.get(key), '');
    assert.equal(await store.set(key, 'b', { expected: '' }), true);
    assert.equal(await other.get(key), 'b');
  },

  'deletes on the condition of a value': async (store, key, other) => {
    assert.equal(await store.delete(key), false);
    await store.set(key, 'a');
    assert.equal(await other.delete(key, { expected: 'b' }), false);
    assert.equal(await other.delete(key, { expected: null }), false);
    assert.equal(await store.get(key), 'a');
    assert.equal(await other.delete(key, { expected: 'a' }), true);
    assert.equal(await store.delete(key, { expected: 'a' }), false);
    await store.set(key, 'b');
    assert.equal(await store.delete(key), true);
    assert.equal(await store.get(key), undefined);
  },

  'lets one of many win that expect no value': async (store, key, other) => {
    for (let round = 0; round < 3; round++) {
      const attempts = Array.from({ length: 24 }, (_, at) =>
        (at % 2 ? store : other).set(key, `${at}`, { expected: null, ttl: LONG }),
      );
      const won = (await Promise.all(attempts)).map((isWon, at) => (isWon ? `${at}` : ''));
      assert.deepEqual(won.filter(Boolean), [await store.get(key)]);
      await store.delete(key);
    }
  },

  'lets one of many win that expect the same value': async (store, key, other) => {
    await store.set(key, 'first');
    const attempts = Array.from({ length: 24 }, (_, at) =>
      (at % 2 ? store : other).set(key, `${at}`, { expected: 'first' }),
    );
    const won = (await Promise.all(attempts)).map((isWon, at) => (isWon ? `${at}` : ''));
    assert.deepEqual(won.filter(Boolean), [await store.get(key)]);
  },

  'forgets a value at the end of its lifetime': async (store, key, other) => {
    await store.set(key, 'a', { ttl: SHORT });
    await untilGone(other, key);
    assert.equal(await store.set(key, 'b', { expected: 'a' }), false);
    assert.equal(await store.delete(key), false);
    assert.equal(await store.set(key, 'b', { expected: null }), true);
    assert.equal(await other.get(key), 'b');
  },

  'gives each write the lifetime that it names': async (store, key) => {
    const lifetimes = [undefined, Infinity, LONG, 1e13];
    const write = async (ttl: number | undefined): Promise<void> => {
      await store.set(`${key} ${ttl}`, 'a', { ttl: SHORT });
      await store.set(`${key} ${ttl}`, 'a', { ttl });
    };
    await Promise.all(lifetimes.map(write));
    await store.set(key, 'a', { ttl: SHORT + 0.5 });
    await untilGone(store, key);
    for (const ttl of lifetimes) assert.equal(await store.get(`${key} ${ttl}`), 'a');
    await store.set(key, 'a');
    await store.set(key, 'a', { expected: 'a', ttl: SHORT });
    await untilGone(store, key);
  },

  'rejects what some databases cannot store': async (store, key) => {
    const long = 'x'.repeat(769);
    for (const bad of ['', ' ', 'a\0', '\ud800', long, 7, null, undefined] as never[])
      for (const act of [
        () => store.get(bad),
        () => store.set(bad, 'a'),
        () => store.delete(bad),
        () => store.add(bad, { a: 1 }),
      ])
        await assert.rejects(act, InvalidArgumentError);
    for (const bad of ['a\0', '\udfff', 7, null, undefined, {}] as never[])
      await assert.rejects(() => store.set(key, bad), InvalidArgumentError);
    for (const ttl of [0, -1, NaN, 1e14, '1', null] as never[])
      await assert.rejects(() => store.set(key, 'a', { ttl }), InvalidArgumentError);
    assert.equal(await store.get(key), undefined);
  },
};

/** Waits until a value is gone: its lifetime ends by the clock of the store. */
async function untilGone(store: KeyValueStore, key: string): Promise<void> {
  while ((await store.get(key)) !== undefined)
    await new Promise((resolve) => setTimeout(resolve, 2));
}
