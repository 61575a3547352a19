import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { expect } from 'chai';
import { InvalidArgumentError } from '../../../src/index.js';
import { conditionOf } from '../../../src/stores/vectors/condition.js';
import { postgresCondition } from '../../../src/stores/vectors/postgres-condition.js';
import {
  PostgresVectorStore,
  type PostgresClient,
} from '../../../src/stores/vectors/postgres-vector-store.js';
import { itBehavesLikeAVectorStore } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';
import { BAD_SQL_NAMES, SQL_NAME_RULE } from '../../support/sql-names.js';

const documentOf = (id: string, file = 'a', ...numbers: readonly number[]) => ({
  id,
  text: `text of ${id}`,
  vector: new Float32Array(numbers.length > 0 ? numbers : [1, 0]),
  metadata: { file },
});

describe('PostgresVectorStore', () => {
  let database: PGlite;
  let store: PostgresVectorStore;
  before(async () => {
    database = await PGlite.create({ extensions: { vector } });
    store = new PostgresVectorStore({ client: database });
    await store.migrate();
    await store.migrate();
  });
  after(() => database.close());

  itBehavesLikeAVectorStore({
    name: 'PostgresVectorStore on PGlite',
    create: () => new PostgresVectorStore({ client: database }),
  });

  it('keeps tables of a schema and a name', async () => {
    await database.query('CREATE SCHEMA other');
    const other = new PostgresVectorStore({ client: database, schema: 'other', table: 'chunks' });
    await other.migrate();
    await other.upsert('schemas', [documentOf('a')]);

    expect((await other.list('schemas')).map(({ id }) => id)).to.deep.equal(['a']);
    expect(await store.list('schemas')).to.deep.equal([]);
  });

  it('writes again if another write of the namespace came first, and misses no row to replace', async () => {
    let interruptions = 0;
    const interrupted: PostgresClient = {
      query: async (sql, values) => {
        if (sql.includes('inserted AS') && interruptions++ < 3)
          await store.upsert('race', [documentOf(`other ${interruptions}`)], {
            replaces: { file: 'a' },
          });
        return database.query(sql, values);
      },
    };
    const other = new PostgresVectorStore({ client: interrupted });

    await other.upsert('race', [documentOf('last')], { replaces: { file: 'a' } });

    expect((await store.list('race')).map(({ id }) => id)).to.deep.equal(['last']);
    expect(interruptions).to.equal(4);
  });

  it('never mixes dimensions, also if the namespace was empty when the write began', async () => {
    let isFirst = true;
    const interrupted: PostgresClient = {
      query: async (sql, values) => {
        if (sql.includes('inserted AS') && isFirst) {
          isFirst = false;
          await store.upsert('dimensions', [documentOf('first')]);
        }
        return database.query(sql, values);
      },
    };
    const other = new PostgresVectorStore({ client: interrupted });

    const error = await failureOf(other.upsert('dimensions', [documentOf('b', 'a', 1, 2, 3)]));

    expect(error).to.be.instanceOf(InvalidArgumentError);
    expect((await store.list('dimensions')).map(({ id }) => id)).to.deep.equal(['first']);
  });

  it('leaves no row of a namespace that was cleared', async () => {
    await store.upsert('cleared', [documentOf('a')]);
    await store.clear('cleared');

    for (const table of ['vectors', 'vectors_namespaces']) {
      const sql = `SELECT 1 FROM ${table} WHERE namespace = 'cleared'`;
      expect((await database.query(sql)).rows).to.deep.equal([]);
    }
  });

  it('finds the chunks of one document by an index', async () => {
    const values: unknown[] = ['n'];
    const condition = conditionOf('a test', { document: 'guide', chunk: { gt: 1 } });
    const sql = postgresCondition(condition, values);
    await database.query('SET enable_seqscan = off'); // the table is small
    const plan = await database.query(
      `EXPLAIN SELECT 1 FROM vectors WHERE namespace = $1 AND ${sql}`,
      values,
    );
    await database.query('RESET enable_seqscan');

    expect(JSON.stringify(plan.rows)).to.match(/vectors_document.*Index Cond[^"]*md5/);
  });

  it('names what a server without pgvector needs', async () => {
    const plain = await PGlite.create();
    const error = await failureOf(new PostgresVectorStore({ client: plain }).migrate());
    await plain.close();

    expect(error).to.be.instanceOf(InvalidArgumentError);
    expect((error as Error).message).to.include('install pgvector on the server');
  });

  it('refuses names that SQL could misread', () => {
    for (const name of BAD_SQL_NAMES)
      for (const option of ['table', 'schema'])
        expect(() => new PostgresVectorStore({ client: database, [option]: name })).to.throw(
          InvalidArgumentError,
          SQL_NAME_RULE,
        );
  });
});
