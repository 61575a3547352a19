import { mock } from 'node:test';
import { expect } from 'chai';
import {
  InMemoryKeyValueStore,
  InvalidArgumentError,
  LimitExceededError,
} from '../../../src/index.js';
import { itBehavesLikeAKeyValueStore } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';

describe('InMemoryKeyValueStore', () => {
  const shared = new InMemoryKeyValueStore();
  itBehavesLikeAKeyValueStore({ name: 'InMemoryKeyValueStore', create: () => shared });

  it('forgets a value and counters at the end of their lifetime', async () => {
    let now = 1_000;
    const clock = mock.method(Date, 'now', () => now);
    const store = new InMemoryKeyValueStore();
    await store.set('key', 'value', { ttl: 100 });
    await store.add('key', { calls: 1 }, { ttl: 100 });
    now += 60;
    await store.add('key', { calls: 1 }, { ttl: 100 });
    now += 40;

    const value = await store.get('key');
    const sums = await store.add('key', { calls: 0 });
    clock.mock.restore();

    expect(value).to.equal(undefined);
    expect(sums).to.deep.equal({ calls: 0 });
  });

  it('releases values whose lifetime is over', async () => {
    let now = 1_000;
    const clock = mock.method(Date, 'now', () => now);
    const store = new InMemoryKeyValueStore({ maxKeys: 1_001 });
    for (let round = 0; round < 5; round++) {
      for (let at = 0; at < 1_000; at++) await store.set(`${round} ${at}`, 'value', { ttl: 100 });
      now += 100;
    }
    clock.mock.restore();

    expect(await store.get('4 999')).to.equal(undefined);
  });

  it('refuses a key beyond its limit', async () => {
    const store = new InMemoryKeyValueStore({ maxKeys: 1 });
    await store.set('a', '1');
    await store.set('a', '2');

    const error = await failureOf(store.set('b', '1'));

    expect(error).to.be.instanceOf(LimitExceededError);
    expect((error as LimitExceededError).option).to.equal('maxKeys');
  });

  it('evicts the values that were written first, if it should', async () => {
    const store = new InMemoryKeyValueStore({ maxKeys: 2, onFull: 'evict' });
    for (const key of ['a', 'b', 'a', 'c']) await store.set(key, key);

    const left = await Promise.all(['a', 'b', 'c'].map((key) => store.get(key)));

    expect(left).to.deep.equal(['a', undefined, 'c']);
  });

  it('does not look through all of its keys for each one that it writes when it is full', async () => {
    const store = new InMemoryKeyValueStore({ maxKeys: 3_000, onFull: 'evict' });
    for (let at = 0; at < 3_000; at++) await store.set(`${at}`, 'value', { ttl: 60_000 });
    const now = Date.now();
    const clock = mock.method(Date, 'now', () => now);
    for (let at = 0; at < 30; at++) await store.set(`new ${at}`, 'value');
    const reads = clock.mock.callCount();
    clock.mock.restore();

    expect(reads).to.be.below(2 * 3_000);
    expect(await store.get('29')).to.equal(undefined);
    expect(await store.get('30')).to.equal('value');
  });

  it('has room again a second after a lifetime has ended, at the latest', async () => {
    let now = 1_000;
    const clock = mock.method(Date, 'now', () => now);
    const store = new InMemoryKeyValueStore({ maxKeys: 1 });
    await store.set('a', '1', { ttl: 100 });
    const refused = await failureOf(store.set('b', '1'));
    now += 1_000;
    const isWritten = await store.set('b', '1');
    clock.mock.restore();

    expect(refused).to.be.instanceOf(LimitExceededError);
    expect(isWritten).to.equal(true);
  });

  it('rejects an invalid limit', () => {
    expect(() => new InMemoryKeyValueStore({ maxKeys: 0 })).to.throw(InvalidArgumentError);
  });
});
