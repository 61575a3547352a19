import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { StoreBusyError } from '../../../src/index.js';
import { SqliteChatMemoryRepository } from '../../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import type { SqliteDatabase } from '../../../src/stores/databases/sqlite.js';
import { SqliteKeyValueStore } from '../../../src/stores/key-value/sqlite-key-value-store.js';
import { SqliteVectorStore } from '../../../src/stores/vectors/sqlite-vector-store.js';
import {
  itBehavesLikeAChatMemoryRepository,
  itBehavesLikeAKeyValueStore,
  itBehavesLikeAVectorStore,
} from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';
import { SQLITE_CLIENTS } from '../../support/sqlite-clients.js';

for (const [client, load] of Object.entries(SQLITE_CLIENTS))
  describe(`SQLite by ${client}`, function () {
    this.timeout(60_000);
    this.slow(10_000);

    const folder = mkdtempSync(join(tmpdir(), 'sqlite-'));
    const databases: SqliteDatabase[] = [];
    let open: (file: string) => SqliteDatabase;
    const openFile = (): SqliteDatabase => {
      const database = open(join(folder, 'stores.db'));
      database.exec('PRAGMA synchronous = OFF'); // no law is about a loss of power
      databases.push(database);
      return database;
    };
    let database: SqliteDatabase;
    let other: SqliteDatabase;
    before(async function () {
      try {
        open = await load();
      } catch (error) {
        console.log(`      skipped: ${client} does not load: ${String(error).split('\n')[0]}`);
        return this.skip();
      }
      [database, other] = [openFile(), openFile()];
      for (const Store of [SqliteVectorStore, SqliteChatMemoryRepository, SqliteKeyValueStore])
        for (const each of [database, other]) await new Store({ database: each }).migrate();
    });
    after(() => {
      for (const each of databases) each.close();
      rmSync(folder, { recursive: true });
    });
    let created = 0;
    const next = () => ({ database: created++ % 2 ? other : database });
    itBehavesLikeAVectorStore({
      name: 'SqliteVectorStore',
      create: () => new SqliteVectorStore(next()),
    });
    itBehavesLikeAChatMemoryRepository({
      name: 'SqliteChatMemoryRepository',
      create: () => new SqliteChatMemoryRepository(next()),
    });
    itBehavesLikeAKeyValueStore({
      name: 'SqliteKeyValueStore',
      create: () => new SqliteKeyValueStore(next()),
    });

    it('waits for the lock of another connection, and fails with StoreBusyError', async () => {
      const store = new SqliteVectorStore({ database, busyTimeout: 20 });
      other.exec('BEGIN IMMEDIATE');
      const document = { id: 'a', text: '', vector: new Float32Array([1]) };
      const error = await failureOf(store.upsert('busy', [document]));
      other.exec('ROLLBACK');

      expect(error).to.be.instanceOf(StoreBusyError);
      expect(await store.list('busy')).to.deep.equal([]);
    });
  });
