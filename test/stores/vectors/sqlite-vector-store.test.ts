import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { InvalidArgumentError, StoreBusyError } from '../../../src/index.js';
import { conditionOf } from '../../../src/stores/vectors/condition.js';
import type { Filter } from '../../../src/stores/vectors/filter.js';
import { sqliteCondition } from '../../../src/stores/vectors/sqlite-condition.js';
import { SqliteVectorStore } from '../../../src/stores/vectors/sqlite-vector-store.js';
import { itBehavesLikeAVectorStore } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';
import { BAD_SQL_NAMES, SQL_NAME_RULE } from '../../support/sql-names.js';

describe('SqliteVectorStore', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vectors-'));
  const file = join(folder, 'vectors.db');
  const stores: SqliteVectorStore[] = [];
  before(async () => {
    stores.push(await SqliteVectorStore.open(file));
    for (let at = 0; at < 2; at++) {
      const database = new Database(file);
      database.exec('PRAGMA synchronous = OFF'); // no law is about a loss of power
      const store = new SqliteVectorStore({ database });
      await store.migrate();
      stores.push(store);
    }
  });
  after(async () => {
    for (const store of stores) await store.close();
    rmSync(folder, { recursive: true });
  });
  let created = 0;
  itBehavesLikeAVectorStore({
    name: 'SqliteVectorStore in a file',
    create: () => stores[1 + (created++ % 2)] as SqliteVectorStore,
  });

  it('keeps documents in the file', async () => {
    const path = join(folder, 'kept.db');
    const document = { id: 'a', text: 'kept', vector: new Float32Array([1, 0]) };
    const first = await SqliteVectorStore.open(path, { table: 'chunks' });
    await first.upsert('n', [document]);
    await first.close();
    const second = await SqliteVectorStore.open(path, { table: 'chunks' });
    const found = await second.search('n', { vector: document.vector, topK: 1 });
    await second.close();

    expect(found).to.deep.equal([{ id: 'a', text: 'kept', score: 1 }]);
  });

  it('keeps the extension that a connection has', async () => {
    const database = new Database(':memory:');
    const store = new SqliteVectorStore({ database });
    await store.migrate();
    await store.migrate();

    expect(await store.list('n')).to.deep.equal([]);
    await store.close();
  });

  it('names what a connection without extensions needs', async () => {
    const database = new Database(':memory:');
    const closed = {
      prepare: (sql: string) => database.prepare(sql),
      exec: (sql: string) => database.exec(sql),
      close: () => database.close(),
      loadExtension: () => {
        throw new Error('extension loading is not allowed');
      },
    };

    const error = await failureOf(new SqliteVectorStore({ database: closed }).migrate());

    expect(error).to.be.instanceOf(InvalidArgumentError);
    expect((error as Error).message).to.include('open node:sqlite with { allowExtension: true }');
    database.close();
  });

  it('finds the chunks of one document by an index', async () => {
    const database = new Database(':memory:');
    const store = new SqliteVectorStore({ database });
    await store.migrate();
    const condition = conditionOf('a test', { document: 'guide', chunk: { gt: 1 } });
    const { sql, values } = sqliteCondition(condition, 'metadata');
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN SELECT 1 FROM vectors WHERE namespace = ? AND ${sql}`)
      .all('n', ...values);

    expect(JSON.stringify(plan)).to.include('vectors_document');
    await store.close();
  });

  it('answers any number of different filters', async () => {
    const store = stores[1] as SqliteVectorStore;
    for (let count = 1; count < 150; count++) {
      const or: readonly Filter[] = Array.from({ length: count }, (_, at) => ({ k: at }));
      expect(await store.list('filters', { filter: { or } })).to.deep.equal([]);
    }
  });

  it('fails with StoreBusyError while another connection holds the lock, and stores nothing', async () => {
    const other = new Database(file);
    const database = new Database(file);
    const store = new SqliteVectorStore({ database, busyTimeout: 20 });
    await store.migrate();
    other.exec('BEGIN IMMEDIATE');
    const document = { id: 'a', text: '', vector: new Float32Array([1]) };

    expect(await failureOf(store.upsert('busy', [document]))).to.be.instanceOf(StoreBusyError);
    other.exec('ROLLBACK');
    expect(await store.list('busy')).to.deep.equal([]);
    await store.close();
    other.close();
  });

  it('refuses names that SQL could misread', () => {
    const database = new Database(':memory:');
    for (const table of BAD_SQL_NAMES)
      expect(() => new SqliteVectorStore({ database, table })).to.throw(
        InvalidArgumentError,
        SQL_NAME_RULE,
      );
    database.close();
  });
});
