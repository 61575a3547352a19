import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import pg from 'pg';
import { PostgresKeyValueStore } from '../../../src/stores/key-value/postgres-key-value-store.js';
import { RedisKeyValueStore } from '../../../src/stores/key-value/redis-key-value-store.js';
import { SqliteKeyValueStore } from '../../../src/stores/key-value/sqlite-key-value-store.js';
import { hasServer, POSTGRES, REDIS } from '../../support/servers.js';
import { itRecordsCalls } from '../../support/tool-ledger-suite.js';

describe('ToolLedgerAdvisor', () => {
  describe('with SQLite', () => {
    let store: SqliteKeyValueStore;
    before(async () => {
      store = await SqliteKeyValueStore.open(':memory:');
    });
    after(() => store.close());

    itRecordsCalls(() => store);
  });

  describe('with PostgreSQL', () => {
    const table = `ledger_${randomUUID().replaceAll('-', '')}`;
    let client: pg.Pool | undefined;
    let store: PostgresKeyValueStore;
    before(async function () {
      if (!(await hasServer(this, POSTGRES))) return;
      client = new pg.Pool({ ...POSTGRES.connection, max: 8 });
      store = new PostgresKeyValueStore({ client, table });
      await store.migrate();
    });
    after(async () => {
      await client?.query(`DROP TABLE IF EXISTS ${table}`);
      await client?.end();
    });

    itRecordsCalls(() => store);
  });

  describe('with Redis', () => {
    const keyPrefix = `advisor-chain:ledger:${randomUUID()}`;
    let client: Redis | undefined;
    before(async function () {
      if (await hasServer(this, REDIS)) client = new Redis(REDIS.connection);
    });
    after(async () => {
      const keys = (await client?.keys(`${keyPrefix}*`)) ?? [];
      if (keys.length > 0) await client?.del(keys);
      await client?.quit();
    });

    itRecordsCalls(() => new RedisKeyValueStore({ client: client as Redis, keyPrefix }));
  });
});
