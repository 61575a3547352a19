import { mock } from 'node:test';
import { expect } from 'chai';
import { InMemoryKeyValueStore } from '../../../src/index.js';
import { Cancellation } from '../../../src/core/internal/cancellation.js';
import { Lease } from '../../../src/stores/key-value/lease.js';
import { settle } from '../../support/promises.js';

describe('Lease', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }));
  afterEach(() => mock.timers.reset());

  const store = new InMemoryKeyValueStore();
  const acquire = (key: string, run = new Cancellation()): Promise<Lease | undefined> =>
    Lease.acquire({ store, key, lifetime: 300 }, run);
  const pass = async (milliseconds: number): Promise<void> => {
    for (let time = 0; time < milliseconds; time += 50) {
      mock.timers.tick(50);
      await settle();
    }
  };

  it('has one owner, until it is released', async () => {
    const first = await acquire('a');
    const second = await acquire('a');
    await first?.release();

    expect([first !== undefined, second]).to.deep.equal([true, undefined]);
    const third = await acquire('a');
    expect(third).to.be.instanceOf(Lease);
    await third?.release();
  });

  it('is renewed while it is held', async () => {
    const lease = await acquire('b');
    await pass(2_000);
    const whileHeld = await acquire('b');
    await lease?.release();

    expect(whileHeld).to.equal(undefined);
  });

  it('ends after its lifetime when its run is cancelled, and is not taken from a later owner', async () => {
    const run = new Cancellation();
    const lease = await acquire('c', run);
    run.cancel();
    await pass(250);
    const early = await acquire('c');
    await pass(100);
    const later = await acquire('c');
    await lease?.release();

    expect(early).to.equal(undefined);
    expect(later).to.be.instanceOf(Lease);
    expect(await acquire('c')).to.equal(undefined);
    await later?.release();
  });

  it('stops the renewal of a lease that another owner has, and survives a failure of the store', async () => {
    const lease = await acquire('d');
    const set = mock.method(store, 'set', () => Promise.reject(new Error('down')));
    await pass(100);
    set.mock.restore();
    await store.set('d', 'another owner');
    await pass(1_000);

    expect(await store.get('d')).to.equal('another owner');
    await lease?.release();
    expect(await store.get('d')).to.equal('another owner');
  });
});
