import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createClient } from 'redis';
import { PostgresChatMemoryRepository } from '../../src/memory-repositories/postgres-chat-memory-repository.js';
import { RedisChatMemoryRepository } from '../../src/memory-repositories/redis-chat-memory-repository.js';
import { SqliteChatMemoryRepository } from '../../src/memory-repositories/sqlite-chat-memory-repository.js';
import { InMemoryChatMemoryRepository } from '../../src/memory-repositories/in-memory-chat-memory-repository.js';
import { itBehavesLikeAChatMemoryRepository } from '../../src/testing/index.js';
import { hasServer, POSTGRES, REDIS } from './servers.js';

describe('stores of conversations', function () {
  this.timeout(60_000);
  this.slow(10_000);

  const memory = new InMemoryChatMemoryRepository();
  itBehavesLikeAChatMemoryRepository({ name: 'InMemoryChatMemoryRepository', create: () => memory });

  describe('SQLite', () => {
    const folder = mkdtempSync(join(tmpdir(), 'chat-memory-'));
    for (const [name, file] of [
      ['in a file', join(folder, 'memory.db')],
      ['in memory', ':memory:'],
    ] as const) {
      let store: SqliteChatMemoryRepository;
      before(async () => {
        store = await SqliteChatMemoryRepository.open(file);
      });
      after(() => store.close());
      itBehavesLikeAChatMemoryRepository({ name: `SqliteChatMemoryRepository ${name}`, create: () => store });
    }
    after(() => rmSync(folder, { recursive: true }));
  });

  describe('PostgreSQL, embedded', () => {
    let client: PGlite;
    let store: PostgresChatMemoryRepository;
    before(async () => {
      client = await PGlite.create();
      store = new PostgresChatMemoryRepository({ client });
      await store.migrate();
    });
    after(() => client.close());
    itBehavesLikeAChatMemoryRepository({ name: 'PostgresChatMemoryRepository on PGlite', create: () => store });
  });

  describe('PostgreSQL, a server', () => {
    let pool: pg.Pool;
    let store: PostgresChatMemoryRepository;
    before(async function () {
      if (!(await hasServer(this, POSTGRES))) return;
      pool = new pg.Pool({ ...POSTGRES.connection, max: 8 });
      await pool.query('DROP SCHEMA IF EXISTS advisor_chain_stores CASCADE; CREATE SCHEMA advisor_chain_stores');
      store = new PostgresChatMemoryRepository({ client: pool, schema: 'advisor_chain_stores' });
      await Promise.all([store.migrate(), store.migrate(), store.migrate(), store.migrate()]);
    });
    after(() => pool?.end());
    itBehavesLikeAChatMemoryRepository({ name: 'PostgresChatMemoryRepository on a pool of pg', create: () => store });
  });

  for (const kind of ['redis', 'ioredis'] as const)
    describe(`Redis with ${kind}`, () => {
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
      itBehavesLikeAChatMemoryRepository({ name: `RedisChatMemoryRepository on ${kind}`, create: () => store });

      it('forgets a conversation when its time is up, and no longer lists it', async () => {
        const id = `short ${randomUUID()}`;
        const lasting = withTtl(600_000);
        await withTtl(50).append(id, [{ role: 'user', content: 'x' }]);
        await lasting.append(`${id} long`, [{ role: 'user', content: 'y' }]);
        while ((await store.read(id)).version > 0) await new Promise((resolve) => setTimeout(resolve, 10));

        expect(await store.conversationIds({ prefix: id })).to.deep.equal([`${id} long`]);
        expect(await lasting.append(id, [{ role: 'user', content: 'z' }], { expectedVersion: 0 })).to.equal(1);
        expect(await store.conversationIds({ prefix: id })).to.have.length(2);
        for (const each of [id, `${id} long`]) await store.delete(each);
      });
    });
});
