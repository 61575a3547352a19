import { expect } from 'chai';
import pg from 'pg';
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
});
