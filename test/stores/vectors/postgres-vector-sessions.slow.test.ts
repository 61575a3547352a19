import { expect } from 'chai';
import pg from 'pg';
import type { EmbeddedDocument } from '../../../src/stores/vectors/checked-vector-store.js';
import { PostgresVectorStore } from '../../../src/stores/vectors/postgres-vector-store.js';
import { itBehavesLikeAVectorStore } from '../../../src/testing/index.js';
import { PGVECTOR_IN_SQL } from '../../support/pgvector-in-sql.js';
import { createPostgresDatabase, type PostgresDatabase } from '../../support/postgres-database.js';
import { hasServer, POSTGRES } from '../../support/servers.js';

describe('PostgresVectorStore in concurrent sessions', () => {
  let database: PostgresDatabase | undefined;
  const pools: pg.Pool[] = [];
  const stores: PostgresVectorStore[] = [];
  before(async function () {
    if (!(await hasServer(this, POSTGRES))) return;
    database = await createPostgresDatabase();
    for (let at = 0; at < 2; at++) {
      // no law is about a loss of power
      const options = '-c synchronous_commit=off';
      const pool = new pg.Pool({ connectionString: database.url, max: 4, options });
      pools.push(pool);
      stores.push(new PostgresVectorStore({ client: pool }));
    }
    await pools[0]?.query(PGVECTOR_IN_SQL);
    await Promise.all([...stores, ...stores].map((store) => store.migrate()));
  });
  after(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await database?.drop();
  });
  let created = 0;
  itBehavesLikeAVectorStore({
    name: 'PostgresVectorStore on pools of pg',
    create: () => stores[created++ % 2] as PostgresVectorStore,
  });

  it('replaces a file by one of many concurrent versions, whole', async () => {
    const write = async (version: number): Promise<void> => {
      const documents = Array.from({ length: 1 + (version % 5) }, (_, chunk) => ({
        id: `${version} ${chunk}`,
        text: '',
        vector: new Float32Array([1, chunk]),
        metadata: { file: 'a', version },
      }));
      const store = stores[version % 2] as PostgresVectorStore;
      await store.upsert('versions', documents, { replaces: { file: 'a' } });
    };
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 24 }, (_, at) => write(round * 24 + at)));

      const kept = await (stores[0] as PostgresVectorStore).list('versions');
      const version = Number(kept[0]?.metadata?.['version']);
      expect(kept.map(({ metadata }) => metadata?.['version'])).to.deep.equal(
        Array.from({ length: 1 + (version % 5) }, () => version),
      );
    }
  });

  const DELETIONS: Readonly<
    Record<string, (store: PostgresVectorStore, namespace: string) => Promise<void>>
  > = {
    'by a filter': (store, namespace) => store.delete(namespace, { file: 'a' }),
    'by ids': (store, namespace) => store.delete(namespace, ['shared', 'new']),
    'with its namespace': (store, namespace) => store.clear(namespace),
  };

  for (const [name, deleteFile] of Object.entries(DELETIONS))
    it(`deletes a file ${name} after a write under way, whole`, async () => {
      const writer = await (pools[0] as pg.Pool).connect();
      const other = stores[1] as PostgresVectorStore;
      await other.upsert(name, chunks('shared', 'old'));
      await writer.query('BEGIN');
      const write = new PostgresVectorStore({ client: writer });
      await write.upsert(name, chunks('shared', 'new'), { replaces: { file: 'a' } });
      const deletion = deleteFile(other, name);
      await untilWaiting(pools[0] as pg.Pool);
      await writer.query('COMMIT');
      writer.release();
      await deletion;

      expect(await other.list(name)).to.deep.equal([]);
    });
});

function chunks(...ids: readonly string[]): readonly EmbeddedDocument[] {
  return ids.map((id) => ({
    id,
    text: '',
    vector: new Float32Array([1, 0]),
    metadata: { file: 'a' },
  }));
}

/** Resolves when another session of the database waits for a lock. */
async function untilWaiting(client: pg.Pool): Promise<void> {
  for (;;) {
    const { rows } = await client.query(
      `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()`,
    );
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
