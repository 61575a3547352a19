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

    /** A writer that has appended and not ended its transaction, and what another one does meanwhile. */
    const beside = async (id: string, act: () => Promise<unknown>): Promise<unknown> => {
      const client = new pg.Client(POSTGRES.connection);
      await client.connect();
      await client.query('BEGIN');
      await new PostgresChatMemoryRepository({ client, schema: 'advisor_chain_stores' }).append(id, [{ role: 'user', content: 'late' }]);
      const acted = act().catch((error: unknown) => error);
      const waits = 'SELECT FROM pg_stat_activity WHERE wait_event_type = $1 AND query LIKE $2';
      while ((await pool.query(waits, ['Lock', '%advisor_chain_stores%'])).rowCount === 0);
      await client.query('COMMIT');
      await client.end();
      return acted;
    };

    it('[F64] deletes what was written while it waited, too', async () => {
      const id = `deleted ${randomUUID()}`;
      await store.append(id, [{ role: 'user', content: 'first' }]);
      await beside(id, () => store.delete(id));
      expect(await store.read(id)).to.deep.include({ version: 0, messages: [] });

      for (const version of [1, 2, 3]) expect(await store.append(id, [{ role: 'user', content: 'new' }])).to.equal(version);
      const { messages } = await store.read(id);
      expect(messages.map(({ message }) => (message as { content: unknown }).content)).to.deep.equal(['new', 'new', 'new']);
    });

    it('[F74] brings nothing back that was deleted since the expected version', async () => {
      const id = `gone ${randomUUID()}`;
      await store.append(id, [{ role: 'user', content: 'first' }]);
      const client = new pg.Client(POSTGRES.connection);
      await client.connect();
      await client.query('BEGIN');
      await new PostgresChatMemoryRepository({ client, schema: 'advisor_chain_stores' }).delete(id);
      const appended = store.append(id, [{ role: 'user', content: 'x' }], { expectedVersion: 1 }).catch((error: unknown) => error);
      const replaced = store.replace(id, [{ role: 'user', content: 'y' }], { expectedVersion: 1 }).catch((error: unknown) => error);
      await client.query('COMMIT');
      await client.end();

      expect(await appended).to.have.property('code', 'memory_conflict');
      expect(await replaced).to.have.property('code', 'memory_conflict');
      expect(await store.read(id)).to.deep.include({ version: 0, messages: [] });
    });

    it('mends tables of before, in which messages could outlive their conversation', async () => {
      await pool.query(`DROP SCHEMA IF EXISTS advisor_chain_before CASCADE; CREATE SCHEMA advisor_chain_before;
        CREATE TABLE advisor_chain_before.chat_memory_conversation (id text COLLATE "C" PRIMARY KEY, version bigint NOT NULL, system text);
        CREATE TABLE advisor_chain_before.chat_memory_message (conversation text COLLATE "C" NOT NULL, version bigint NOT NULL, turn text,
          message text NOT NULL, PRIMARY KEY (conversation, version));
        INSERT INTO advisor_chain_before.chat_memory_message VALUES ('orphan', 3, NULL, '{"role":"user","content":"SECRET"}')`);
      const mended = new PostgresChatMemoryRepository({ client: pool, schema: 'advisor_chain_before' });
      await Promise.all([mended.migrate(), mended.migrate()]);
      for (const version of [1, 2, 3]) expect(await mended.append('orphan', [{ role: 'user', content: 'new' }])).to.equal(version);

      expect(JSON.stringify(await mended.read('orphan'))).not.to.include('SECRET');
      await pool.query('DROP SCHEMA advisor_chain_before CASCADE');
    });
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

      it('[F64] lists a conversation that began while somebody listed', async () => {
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
