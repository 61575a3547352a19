import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { InvalidArgumentError, KeyValueError } from '../../../src/index.js';
import { RedisKeyValueStore } from '../../../src/stores/key-value/redis-key-value-store.js';
import { itBehavesLikeAKeyValueStore } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';
import { hasServer, REDIS } from '../../support/servers.js';

const keyPrefix = `advisor-chain:key-value:${randomUUID()}`;

describe('RedisKeyValueStore', () => {
  it('rejects wrong options', () => {
    const client = { call: () => Promise.resolve(null) };
    for (const wrong of [undefined, {}, { client: {} }] as never[])
      expect(() => new RedisKeyValueStore(wrong)).to.throw(
        InvalidArgumentError,
        'RedisKeyValueStore: client must be a client of redis or ioredis',
      );
    for (const prefix of ['', 'a{b}', 7] as never[])
      expect(() => new RedisKeyValueStore({ client, keyPrefix: prefix })).to.throw(
        InvalidArgumentError,
        'keyPrefix must be a non-empty string without { and }',
      );
  });

  it('refuses a server that could evict a lock', async () => {
    const info = 'maxmemory:1000\r\nmaxmemory_policy:volatile-lru\r\naof_enabled:0';
    const client = {
      call: (command: string) => Promise.resolve(command === 'INFO' ? info : 'OK'),
    };

    const refused = await failureOf(new RedisKeyValueStore({ client }).set('a', 'b'));
    const allowed = new RedisKeyValueStore({ client, allowEviction: true });

    expect(refused).to.be.instanceOf(InvalidArgumentError);
    expect((refused as Error).message).to.include('maxmemory-policy volatile-lru');
    expect(await allowed.set('a', 'b')).to.equal(true);
  });

  it('does not know whether a write was done whose connection broke', async () => {
    const call = (command: string): Promise<unknown> =>
      command === 'INFO' ? Promise.resolve('') : Promise.reject(new Error('Connection is closed.'));
    const store = new RedisKeyValueStore({ client: { call } });

    expect(await failureOf(store.add('a', { n: 1 }))).to.deep.include({
      operation: 'add',
      outcome: 'unknown',
    });
  });

  describe('on a server', () => {
    const clients: { ioredis?: Redis; redis?: ReturnType<typeof createClient> } = {};
    const stores: RedisKeyValueStore[] = [];
    before(async function () {
      if (!(await hasServer(this, REDIS))) return;
      clients.ioredis = new Redis(REDIS.connection);
      clients.redis = createClient({ socket: REDIS.connection });
      await clients.redis.connect();
      for (const client of [clients.ioredis, clients.redis])
        stores.push(new RedisKeyValueStore({ client, keyPrefix }));
    });
    after(async () => {
      const keys = (await clients.ioredis?.keys(`${keyPrefix}*`)) ?? [];
      if (keys.length > 0) await clients.ioredis?.del(keys);
      await clients.ioredis?.quit();
      await clients.redis?.close();
    });
    let created = 0;
    itBehavesLikeAKeyValueStore({
      name: 'RedisKeyValueStore on ioredis and redis',
      create: () => stores[created++ % 2] as RedisKeyValueStore,
    });

    it('measures lifetimes by the clock of the database', async () => {
      const store = stores[0] as RedisKeyValueStore;
      await store.set('clock', 'a', { ttl: 60_000 });
      const future = Date.now() + 3_600_000;
      const clock = mock.method(Date, 'now', () => future);
      const found = await store.get('clock');
      clock.mock.restore();

      expect(found).to.equal('a');
    });

    it('refuses with the error of the server, and has written nothing', async () => {
      await clients.ioredis?.set(`${keyPrefix}:counters:{wrong}`, 'no hash');

      const error = await failureOf((stores[1] as RedisKeyValueStore).add('wrong', { n: 1 }));

      expect(error).to.be.instanceOf(KeyValueError);
      expect(error).to.deep.include({ operation: 'add', key: 'wrong', outcome: 'unchanged' });
      expect((error as Error).message).to.match(/WRONGTYPE/);
    });
  });
});
