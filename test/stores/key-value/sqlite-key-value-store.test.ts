import { mkdtempSync, rmSync } from 'node:fs';
import { mock } from 'node:test';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { InvalidArgumentError, KeyValueError, StoreBusyError } from '../../../src/index.js';
import { SqliteKeyValueStore } from '../../../src/stores/key-value/sqlite-key-value-store.js';
import { itBehavesLikeAKeyValueStore } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';
import { BAD_SQL_NAMES, SQL_NAME_RULE } from '../../support/sql-names.js';

describe('SqliteKeyValueStore', () => {
  const folder = mkdtempSync(join(tmpdir(), 'key-value-'));
  const file = join(folder, 'states.db');
  const stores: SqliteKeyValueStore[] = [];
  before(async () => {
    stores.push(await SqliteKeyValueStore.open(file));
    for (let at = 0; at < 2; at++) {
      const database = new Database(file);
      database.exec('PRAGMA synchronous = OFF'); // no law is about a loss of power
      stores.push(new SqliteKeyValueStore({ database }));
    }
  });
  after(async () => {
    for (const store of stores) await store.close();
    rmSync(folder, { recursive: true });
  });
  let created = 0;
  itBehavesLikeAKeyValueStore({
    name: 'SqliteKeyValueStore in a file',
    create: () => stores[1 + (created++ % 2)] as SqliteKeyValueStore,
  });

  it('measures lifetimes by the clock of the database', async () => {
    const store = stores[0] as SqliteKeyValueStore;
    await store.set('clock', 'a', { ttl: 60_000 });
    const future = Date.now() + 3_600_000;
    const clock = mock.method(Date, 'now', () => future);
    const found = await store.get('clock');
    clock.mock.restore();

    expect(found).to.equal('a');
  });

  it('deletes two expired rows at each new value, all by deleteExpired', async () => {
    const database = new Database(':memory:');
    const store = new SqliteKeyValueStore({ database });
    await store.migrate();
    await store.migrate();
    const count = (): number =>
      (database.prepare('SELECT count(*) AS n FROM key_value').all()[0] as { n: number }).n;
    for (let at = 0; at < 10; at++) await store.set(`${at}`, 'a', { ttl: 3_600_000 });
    database.exec('UPDATE key_value SET expires = 1');
    await store.set('lasting', 'a');
    const left = count();
    const deleted = await store.deleteExpired();

    expect([left, deleted, count()]).to.deep.equal([9, 8, 1]);
    await store.close();
  });

  it('refuses with the error of SQLite, and has written nothing', async () => {
    const store = new SqliteKeyValueStore({ database: new Database(':memory:') });
    for (const act of [
      () => store.get('a'),
      () => store.set('a', 'b'),
      () => store.delete('a'),
      () => store.add('a', { n: 1 }),
    ]) {
      const error = await failureOf(act());
      expect(error).to.be.instanceOf(KeyValueError);
      expect(error).to.deep.include({ code: 'key_value', key: 'a', outcome: 'unchanged' });
      expect((error as Error).message).to.match(/no such table/);
    }
  });

  it('fails with StoreBusyError while another connection holds the lock', async () => {
    const other = new Database(file);
    const store = new SqliteKeyValueStore({ database: new Database(file), busyTimeout: 20 });
    other.exec('BEGIN IMMEDIATE');
    const error = await failureOf(store.set('locked', 'a'));
    other.exec('ROLLBACK');

    expect(error).to.be.instanceOf(StoreBusyError);
    expect(await store.set('locked', 'a')).to.equal(true);
    await store.close();
    other.close();
  });

  for (const name of BAD_SQL_NAMES)
    it(`[F71] rejects the table ${JSON.stringify(String(name).slice(0, 20))}`, () => {
      const database = { exec: () => 0, prepare: () => 0, close: () => 0 };
      expect(() => new SqliteKeyValueStore({ database, table: name })).to.throw(
        InvalidArgumentError,
        SQL_NAME_RULE,
      );
    });

  it('rejects what is no database', () => {
    for (const wrong of [undefined, {}, { database: {} }] as never[])
      expect(() => new SqliteKeyValueStore(wrong)).to.throw(
        InvalidArgumentError,
        'SqliteKeyValueStore: database must be an open SQLite database',
      );
  });
});
