import assert from 'node:assert/strict';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import type { KeyValueStore } from '../../stores/key-value/key-value-store.js';
import type { KeyValueLaws } from './value-laws.js';

const SHORT = 10;

export const COUNTER_LAWS: KeyValueLaws = {
  'adds to several counters of a key': async (store, key, other) => {
    assert.deepEqual(await store.add(key, { tokens: 10, calls: 1 }), { tokens: 10, calls: 1 });
    assert.deepEqual(await other.add(key, { tokens: -3 }), { tokens: 7 });
    assert.deepEqual(await store.add(key, { calls: 1, cost: 0 }), { calls: 2, cost: 0 });
    assert.deepEqual(await other.add(key, { tokens: 0, calls: 0, cost: 0 }), {
      tokens: 7,
      calls: 2,
      cost: 0,
    });
    assert.deepEqual(await store.add(key, {}), {});
  },

  'keeps the counters and the value of a key apart': async (store, key) => {
    await store.set(key, 'value');
    await store.add(key, { calls: 1 });
    assert.equal(await store.delete(key), true);
    assert.deepEqual(await store.add(key, { calls: 0 }), { calls: 1 });
    assert.equal(await store.get(key), undefined);
    assert.equal(await store.set(key, 'again', { expected: null }), true);
  },

  'adds fractions, small, large and negative amounts': async (store, key) => {
    const amounts = [0.1, 0.2, 1e-7, 2.5, -0.3, 1_234_567_890.25];
    let sum = 0;
    for (const cost of amounts) {
      const { cost: sumOfStore } = await store.add(key, { cost, count: 1 });
      sum += cost;
      assert.ok(Math.abs(sumOfStore - sum) <= Math.abs(sum) * 1e-12, `${sumOfStore} for ${sum}`);
    }
    const count = Number.MAX_SAFE_INTEGER - amounts.length;
    assert.deepEqual(await store.add(key, { count }), { count: Number.MAX_SAFE_INTEGER });
  },

  'takes counters of any name': async (store, key) => {
    const names = ['__proto__', 'constructor', 'toString', '', 'a b', '$1', '"', "'", '日本', '0'];
    const amounts = Object.fromEntries(names.map((name, at) => [name, at + 1]));
    assert.deepEqual(await store.add(key, amounts), amounts);
    const twice = Object.fromEntries(names.map((name, at) => [name, (at + 1) * 2]));
    assert.deepEqual(await store.add(key, amounts), twice);
  },

  'counts 50 concurrent additions by two connections exactly': async (store, key, other) => {
    const sums = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? store : other).add(key, { n: 1, half: 0.5 })),
    );
    const counts = sums.map(({ n }) => n).toSorted((a, b) => a - b);
    assert.deepEqual(
      counts,
      Array.from({ length: 50 }, (_, at) => at + 1),
    );
    assert.deepEqual(await store.add(key, { n: 0, half: 0 }), { n: 50, half: 25 });
  },

  'begins the lifetime of counters with the first amount': async (store, key, other) => {
    await store.add(key, { n: 0 }, { ttl: SHORT });
    assert.deepEqual(await store.add(key, { n: 1 }, { ttl: 3_600_000 }), { n: 1 });
    await store.add(key, { n: 1 }, { ttl: SHORT });
    const brief = await briefCounters(store, key);
    while ((await other.add(brief, { n: 0 })).n > 0)
      await new Promise((resolve) => setTimeout(resolve, 2));
    assert.deepEqual(await store.add(brief, { n: 5 }), { n: 5 });
    assert.deepEqual(await store.add(brief, { old: 0 }), { old: 0 });
    assert.deepEqual(await store.add(key, { n: 0 }), { n: 2 });
  },

  'rejects amounts that are no finite numbers': async (store, key) => {
    for (const bad of [NaN, Infinity, '1', null, undefined, 1n] as never[])
      await assert.rejects(() => store.add(key, { good: 1, bad }), InvalidArgumentError);
    for (const bad of [null, undefined, [], 1, { 'a\0': 1 }] as never[])
      await assert.rejects(() => store.add(key, bad), InvalidArgumentError);
    for (const ttl of [0, NaN] as never[])
      await assert.rejects(() => store.add(key, { n: 1 }, { ttl }), InvalidArgumentError);
    assert.deepEqual(await store.add(key, { good: 0 }), { good: 0 });
  },
};

/** Counters with a short lifetime that a later addition, which came in time, did not prolong. */
async function briefCounters(store: KeyValueStore, key: string): Promise<string> {
  for (let ttl = SHORT; ; ttl *= 2) {
    const brief = `${key} ${ttl}`;
    await store.add(brief, { n: 1, old: 1 }, { ttl });
    const { n } = await store.add(brief, { n: 1 }, { ttl: 3_600_000 });
    if (n === 2) return brief;
  }
}
