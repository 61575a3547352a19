import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { expect } from 'chai';
import pg from 'pg';
import { InvalidArgumentError, KeyValueError } from '../../../src/index.js';
import { PostgresKeyValueStore } from '../../../src/stores/key-value/postgres-key-value-store.js';
import { itBehavesLikeAKeyValueStore } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';
import { hasServer, POSTGRES } from '../../support/servers.js';
import { BAD_SQL_NAMES, SQL_NAME_RULE } from '../../support/sql-names.js';

describe('PostgresKeyValueStore', () => {
  const client = { query: () => Promise.resolve({ rows: [] }) };
  for (const name of BAD_SQL_NAMES)
    it(`[F71] rejects the schema or table ${JSON.stringify(String(name).slice(0, 20))}`, () => {
      for (const option of ['schema', 'table'])
        expect(() => new PostgresKeyValueStore({ client, [option]: name })).to.throw(
          InvalidArgumentError,
          SQL_NAME_RULE,
        );
    });

  it('rejects what is no client', () => {
    for (const wrong of [undefined, {}, { client: {} }] as never[])
      expect(() => new PostgresKeyValueStore(wrong)).to.throw(
        InvalidArgumentError,
        'PostgresKeyValueStore: client must be a client with a method query',
      );
  });

  it('does not know whether a write was done whose connection broke', async () => {
    const broken = { query: () => Promise.reject(new Error('Connection terminated')) };
    const store = new PostgresKeyValueStore({ client: broken });

    expect(await failureOf(store.add('a', { n: 1 }))).to.deep.include({
      operation: 'add',
      outcome: 'unknown',
    });
    expect(await failureOf(store.get('a'))).to.have.property('outcome', 'unchanged');
  });

  describe('on a server', () => {
    const table = `t${randomUUID().replaceAll('-', '').slice(0, 16)}`;
    const pools: pg.Pool[] = [];
    const stores: PostgresKeyValueStore[] = [];
    before(async function () {
      if (!(await hasServer(this, POSTGRES))) return;
      for (let at = 0; at < 2; at++) {
        // no law is about a loss of power
        const options = '-c synchronous_commit=off';
        const pool = new pg.Pool({ ...POSTGRES.connection, max: 2, options });
        pools.push(pool);
        stores.push(new PostgresKeyValueStore({ client: pool, schema: 'public', table }));
      }
      await Promise.all([...stores, ...stores].map((store) => store.migrate()));
    });
    after(async () => {
      await pools[0]?.query(`DROP TABLE ${table}`);
      await Promise.all(pools.map((pool) => pool.end()));
    });
    let created = 0;
    itBehavesLikeAKeyValueStore({
      name: 'PostgresKeyValueStore on pools of pg',
      create: () => stores[created++ % 2] as PostgresKeyValueStore,
    });

    it('measures lifetimes by the clock of the database', async () => {
      const store = stores[0] as PostgresKeyValueStore;
      await store.set('clock', 'a', { ttl: 60_000 });
      const future = Date.now() + 3_600_000;
      const clock = mock.method(Date, 'now', () => future);
      const found = await store.get('clock');
      clock.mock.restore();

      expect(found).to.equal('a');
    });

    it('deletes two expired rows at each new value, all by deleteExpired', async () => {
      const store = stores[0] as PostgresKeyValueStore;
      await store.deleteExpired();
      for (let at = 0; at < 10; at++) await store.set(`expired ${at}`, 'a', { ttl: 3_600_000 });
      await pools[0]?.query(`UPDATE ${table} SET expires = now() WHERE key LIKE 'expired %'`);
      const count = `SELECT count(*)::int AS n FROM ${table} WHERE key LIKE 'expired %'`;
      const before = (await pools[0]?.query(count))?.rows[0] as { n: number };
      await store.set('lasting', 'a');
      const after = (await pools[0]?.query(count))?.rows[0] as { n: number };
      const deleted = await store.deleteExpired();

      expect(before.n - after.n).to.equal(2);
      expect(deleted).to.equal(after.n);
    });

    it('refuses with the error of the server, and has written nothing', async () => {
      const store = new PostgresKeyValueStore({ client: pools[0] as pg.Pool, table: 'missing' });

      const error = await failureOf(store.set('a', 'b'));

      expect(error).to.be.instanceOf(KeyValueError);
      expect(error).to.deep.include({ operation: 'set', key: 'a', outcome: 'unchanged' });
      expect((error as Error).cause).to.have.property('code', '42P01');
    });
  });
});
