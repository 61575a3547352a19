import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pg from 'pg';
import { InvalidArgumentError } from '../../../src/index.js';
import { PostgresChatMemoryRepository } from '../../../src/stores/chat-memory/postgres-chat-memory-repository.js';
import { itBehavesLikeAChatMemoryRepository } from '../../../src/testing/index.js';
import { hasServer, POSTGRES } from '../../support/servers.js';
import { BAD_SQL_NAMES, SQL_NAME_RULE } from '../../support/sql-names.js';

describe('PostgresChatMemoryRepository', function () {
  this.timeout(60_000);
  this.slow(10_000);

  const client = { query: () => Promise.resolve({ rows: [] }) };
  for (const name of BAD_SQL_NAMES)
    it(`[F71] rejects the schema or tablePrefix ${JSON.stringify(String(name).slice(0, 20))}`, () => {
      for (const option of ['schema', 'tablePrefix'])
        expect(() => new PostgresChatMemoryRepository({ client, [option]: name })).to.throw(
          InvalidArgumentError,
          SQL_NAME_RULE,
        );
    });

  for (const wrong of [undefined, {}, { query: 1 }, 'file.db'])
    it(`rejects the client ${JSON.stringify(wrong)}`, () => {
      expect(() => new PostgresChatMemoryRepository({ client: wrong as never })).to.throw(
        InvalidArgumentError,
        'PostgresChatMemoryRepository: client must be a client with a method query',
      );
    });

  describe('on a server', () => {
    let pool: pg.Pool;
    let store: PostgresChatMemoryRepository;
    before(async function () {
      if (!(await hasServer(this, POSTGRES))) return;
      pool = new pg.Pool({ ...POSTGRES.connection, max: 8 });
      await pool.query(
        'DROP SCHEMA IF EXISTS advisor_chain_stores CASCADE; CREATE SCHEMA advisor_chain_stores',
      );
      store = new PostgresChatMemoryRepository({ client: pool, schema: 'advisor_chain_stores' });
      await Promise.all([store.migrate(), store.migrate(), store.migrate(), store.migrate()]);
    });
    after(() => pool?.end());
    itBehavesLikeAChatMemoryRepository({
      name: 'PostgresChatMemoryRepository on a pool of pg',
      create: () => store,
    });

    /** Performs an action while another writer has an open transaction on the conversation. */
    const duringTransaction = async (id: string, act: () => Promise<unknown>): Promise<unknown> => {
      const client = new pg.Client(POSTGRES.connection);
      await client.connect();
      await client.query('BEGIN');
      await new PostgresChatMemoryRepository({ client, schema: 'advisor_chain_stores' }).append(
        id,
        [{ role: 'user', content: 'second' }],
      );
      const acted = act().catch((error: unknown) => error);
      const waits = 'SELECT FROM pg_stat_activity WHERE wait_event_type = $1 AND query LIKE $2';
      while ((await pool.query(waits, ['Lock', '%advisor_chain_stores%'])).rowCount === 0);
      await client.query('COMMIT');
      await client.end();
      return acted;
    };

    it('[F64] deletes messages that were written while the deletion waited', async () => {
      const id = `deleted ${randomUUID()}`;
      await store.append(id, [{ role: 'user', content: 'first' }]);
      await duringTransaction(id, () => store.delete(id));
      expect(await store.read(id)).to.deep.include({ version: 0, messages: [] });

      for (const version of [1, 2, 3])
        expect(await store.append(id, [{ role: 'user', content: 'new' }])).to.equal(version);
      const { messages } = await store.read(id);
      expect(
        messages.map(({ message }) => (message as { content: unknown }).content),
      ).to.deep.equal(['new', 'new', 'new']);
    });

    it('[F74] reports a conflict if the conversation was deleted concurrently', async () => {
      const id = `gone ${randomUUID()}`;
      await store.append(id, [{ role: 'user', content: 'first' }]);
      const client = new pg.Client(POSTGRES.connection);
      await client.connect();
      await client.query('BEGIN');
      await new PostgresChatMemoryRepository({ client, schema: 'advisor_chain_stores' }).delete(id);
      const appended = store
        .append(id, [{ role: 'user', content: 'x' }], { expectedVersion: 1 })
        .catch((error: unknown) => error);
      const replaced = store
        .replace(id, [{ role: 'user', content: 'y' }], { expectedVersion: 1 })
        .catch((error: unknown) => error);
      await client.query('COMMIT');
      await client.end();

      expect(await appended).to.have.property('code', 'memory_conflict');
      expect(await replaced).to.have.property('code', 'memory_conflict');
      expect(await store.read(id)).to.deep.include({ version: 0, messages: [] });
    });
  });
});
