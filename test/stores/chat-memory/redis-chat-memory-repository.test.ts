import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { InvalidArgumentError } from '../../../src/index.js';
import { RedisChatMemoryRepository } from '../../../src/stores/chat-memory/redis-chat-memory-repository.js';
import { itBehavesLikeAChatMemoryRepository } from '../../../src/testing/index.js';
import { hasServer, REDIS } from '../../support/servers.js';

describe('RedisChatMemoryRepository', function () {
  this.timeout(60_000);
  this.slow(10_000);

  const client = { sendCommand: () => Promise.resolve(null) };
  for (const options of [
    { client: undefined },
    { client: {} },
    { client: { query: 1 } },
    { client: 'file.db' },
    { client, keyPrefix: '' },
    { client, keyPrefix: 'a{b}' },
    { client, keyPrefix: 7 },
    { client, ttl: 0 },
    { client, ttl: -1 },
    { client, ttl: 1.5 },
    { client, ttl: '9' },
  ])
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new RedisChatMemoryRepository(options as never)).to.throw(
        InvalidArgumentError,
        /^RedisChatMemoryRepository: (client|keyPrefix|ttl) must be/,
      );
    });

  for (const kind of ['redis', 'ioredis'] as const)
    describe(`with ${kind}`, () => {
      let close: () => unknown;
      let store: RedisChatMemoryRepository;
      let withTtl: (ttl: number) => RedisChatMemoryRepository;
      before(async function () {
        if (!(await hasServer(this, REDIS))) return;
        const keyPrefix = `advisor-chain:stores:${kind}`;
        if (kind === 'redis') {
          const client = await createClient({ socket: REDIS.connection }).connect();
          store = new RedisChatMemoryRepository({ client, keyPrefix });
          withTtl = (ttl) => new RedisChatMemoryRepository({ client, keyPrefix, ttl });
          close = () => client.close();
        } else {
          const client = new Redis(REDIS.connection);
          store = new RedisChatMemoryRepository({ client, keyPrefix });
          withTtl = (ttl) => new RedisChatMemoryRepository({ client, keyPrefix, ttl });
          close = () => client.quit();
        }
      });
      after(() => close?.());
      itBehavesLikeAChatMemoryRepository({
        name: `RedisChatMemoryRepository on ${kind}`,
        create: () => store,
      });

      it('[F64] lists conversations that are created during a listing', async () => {
        const prefix = `listed ${randomUUID()}`;
        const ids = Array.from({ length: 60 }, (_, at) => `${prefix} ${at}`);
        let writing = true;
        const listing = Array.from({ length: 6 }, async () => {
          while (writing) await store.conversationIds({ prefix });
        });
        for (const id of ids) await store.append(id, [{ role: 'user', content: 'x' }]);
        writing = false;
        await Promise.all(listing);

        expect(await store.conversationIds({ prefix, limit: 100 })).to.have.members(ids);
        for (const id of ids) await store.delete(id);
      });

      it('deletes a conversation after its ttl and removes it from the list', async () => {
        const id = `short ${randomUUID()}`;
        const lasting = withTtl(600_000);
        await withTtl(50).append(id, [{ role: 'user', content: 'x' }]);
        await lasting.append(`${id} long`, [{ role: 'user', content: 'y' }]);
        while ((await store.read(id)).version > 0)
          await new Promise((resolve) => setTimeout(resolve, 10));

        expect(await store.conversationIds({ prefix: id })).to.deep.equal([`${id} long`]);
        expect(
          await lasting.append(id, [{ role: 'user', content: 'z' }], { expectedVersion: 0 }),
        ).to.equal(1);
        expect(await store.conversationIds({ prefix: id })).to.have.length(2);
        for (const each of [id, `${id} long`]) await store.delete(each);
      });
    });
});
