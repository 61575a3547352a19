import { mock } from 'node:test';
import { expect } from 'chai';
import {
  InMemoryKeyValueStore,
  InvalidArgumentError,
  LimitExceededError,
} from '../../src/index.js';
import { failureOf } from '../support/modes.js';

describe('InMemoryKeyValueStore', () => {
  it('writes on the condition of a value, or of none', async () => {
    const store = new InMemoryKeyValueStore();

    const first = await store.set('lock', 'me', { expected: null });
    const second = await store.set('lock', 'you', { expected: null });
    const third = await store.set('lock', 'you', { expected: 'me' });

    expect([first, second, third]).to.deep.equal([true, false, true]);
    expect(await store.get('lock')).to.equal('you');
  });

  it('deletes on the condition of a value', async () => {
    const store = new InMemoryKeyValueStore();
    await store.set('lock', 'me');

    const foreign = await store.delete('lock', { expected: 'you' });
    const own = await store.delete('lock', { expected: 'me' });

    expect([foreign, own, await store.delete('lock')]).to.deep.equal([false, true, false]);
    expect(await store.get('lock')).to.equal(undefined);
  });

  it('adds to several counters of a key, apart from its value', async () => {
    const store = new InMemoryKeyValueStore();
    await store.set('day', 'value');
    await store.add('day', { tokens: 10, cost: 0.5 });

    const sums = await store.add('day', { tokens: 5, calls: 1 });

    expect(sums).to.deep.equal({ tokens: 15, calls: 1 });
    expect(await store.add('day', { cost: 0 })).to.deep.equal({ cost: 0.5 });
    expect(await store.get('day')).to.equal('value');
  });

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

  it('refuses a key beyond its limit', async () => {
    const store = new InMemoryKeyValueStore({ maxKeys: 1 });
    await store.set('a', '1');
    await store.set('a', '2');

    const error = await failureOf(store.set('b', '1'));

    expect(error).to.be.instanceOf(LimitExceededError);
    expect((error as LimitExceededError).option).to.equal('maxKeys');
  });

  it('rejects an invalid limit', () => {
    expect(() => new InMemoryKeyValueStore({ maxKeys: 0 })).to.throw(InvalidArgumentError);
  });
});
