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
import { Random } from '../../support/random.js';
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

  for (const dimensions of [2, 3])
    itBehavesLikeAVectorStore({
      name: `PostgresVectorStore with an index of ${dimensions} dimensions on PGlite`,
      create: async () => {
        const indexed = new PostgresVectorStore({ client: database, hnsw: { dimensions } });
        await indexed.migrate();
        return indexed;
      },
    });

  describe('with an HNSW index', () => {
    const DIMENSIONS = 16;
    const random = new Random(34);
    const randomVector = (): Float32Array =>
      Float32Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);
    const statements: string[] = [];
    const client: PostgresClient = {
      query: (sql, values) => (statements.push(sql), database.query(sql, values)),
    };
    const hnsw = { dimensions: DIMENSIONS };
    const table = 'indexed';
    let indexed: PostgresVectorStore;
    const exact = (): PostgresVectorStore => new PostgresVectorStore({ client: database, table });
    before(async function () {
      this.timeout(60_000);
      indexed = new PostgresVectorStore({ client, table, hnsw });
      await indexed.migrate();
      const documents = Array.from({ length: 3_000 }, (_, at) => ({
        id: String(at),
        text: '',
        vector: randomVector(),
        metadata: { part: at % 100 },
      }));
      await indexed.upsert('large', documents);
      await indexed.upsert('small', documents.slice(0, 5));
      await database.query(`ANALYZE ${table}`);
    });
    beforeEach(() => statements.splice(0));

    const idsOf = async (
      from: PostgresVectorStore,
      vector: Float32Array,
      namespace = 'large',
      filter = {},
    ): Promise<readonly string[]> =>
      (await from.search(namespace, { vector, topK: 10, filter })).map(({ id }) => id);

    it('finds at least 95 of 100 of the nearest documents, by the index', async () => {
      let found = 0;
      for (let query = 0; query < 50; query++) {
        const vector = randomVector();
        const [nearest, expected] = [await idsOf(indexed, vector), await idsOf(exact(), vector)];
        found += expected.filter((id) => nearest.includes(id)).length;
      }

      console.log(`      ${found / 5} of 100 nearest documents found`);
      expect(statements).to.have.lengthOf(50);
      expect(found).to.be.at.least(475);
      const values = ['large', `[${[...randomVector()].join()}]`, 10];
      const { rows } = await database.query(`EXPLAIN ${statements[0]}`, values);
      expect(JSON.stringify(rows)).to.include('Index Scan using indexed_hnsw_16');
    });

    it('finds as many documents as an exact search where few pass the filter', async () => {
      for (const filter of [{ part: 7 }, { part: { lt: 5 } }, { part: -1 }]) {
        const vector = randomVector();

        const ids = await idsOf(indexed, vector, 'large', filter);

        const expected = await idsOf(exact(), vector, 'large', filter);
        expect(ids).to.have.lengthOf(expected.length);
      }
    });

    it('finds all documents of a small namespace beside a large one', async () => {
      const ids = await idsOf(indexed, randomVector(), 'small');

      expect([...ids].sort()).to.deep.equal(['0', '1', '2', '3', '4']);
    });

    it('searches vectors of other dimensions, and zero vectors, exactly', async () => {
      await indexed.upsert('flat', [documentOf('a'), documentOf('b', 'a', 0, 0)]);

      const found = await indexed.search('flat', { vector: new Float32Array([1, 0]), topK: 5 });

      expect(found.map(({ id, score }) => [id, score])).to.deep.equal([
        ['a', 1],
        ['b', 0],
      ]);
    });

    it('ranks zero vectors, which no index has, above opposite ones', async () => {
      const opposite = new Float32Array(DIMENSIONS).fill(-1);
      await indexed.upsert('opposites', [
        { ...documentOf('opposite'), vector: opposite },
        { ...documentOf('zero'), vector: new Float32Array(DIMENSIONS) },
      ]);

      const vector = new Float32Array(DIMENSIONS).fill(1);
      const found = await indexed.search('opposites', { vector, topK: 1 });

      expect(found.map(({ id }) => id)).to.deep.equal(['zero']);
    });

    it('changes no setting of its connection', async () => {
      await idsOf(indexed, randomVector());

      const { rows } = await database.query('SHOW hnsw.iterative_scan');
      expect(rows).to.deep.equal([{ 'hnsw.iterative_scan': 'off' }]);
    });

    it('refuses what pgvector cannot index, and an older pgvector', async () => {
      const make = (options: object) => () =>
        new PostgresVectorStore({ client, hnsw: options as { dimensions: number } });

      expect(make({ dimensions: 3072 })).to.throw(InvalidArgumentError, 'integer from 1 to 2000');
      expect(make({})).to.throw(InvalidArgumentError, 'dimensions');
      expect(make({ dimensions: 3, efSearch: 0 })).to.throw(InvalidArgumentError, 'efSearch');
      const old: PostgresClient = { query: async () => ({ rows: [{ version: '0.7.4' }] }) };
      const failure = await failureOf(new PostgresVectorStore({ client: old, hnsw }).migrate());
      expect((failure as Error).message).to.include('hnsw needs version 0.8');
    });
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
