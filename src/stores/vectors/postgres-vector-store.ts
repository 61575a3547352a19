import type { Document } from '../../core/chat/document.js';
import { CHECKED_APART, checkOptions, PLAIN_OBJECT } from '../../core/internal/options.js';
import {
  POSTGRES_RULES,
  type PostgresClient,
  type PostgresOptions,
} from '../databases/postgres.js';
import { quoteName } from '../databases/sql-name.js';
import {
  CheckedVectorStore,
  type CheckedVectorQuery,
  type EmbeddedDocument,
} from './checked-vector-store.js';
import type { Condition } from './condition.js';
import type { CheckedListQuery, Selection } from './document-checks.js';
import { documentOfRow, type DocumentRow } from './document-row.js';
import type { Vector } from './embedding-model.js';
import { INDEXED, postgresCondition } from './postgres-condition.js';
import { checkPgvector, PostgresHnsw, type HnswOptions } from './postgres-hnsw.js';
import { PostgresNamespaces, type Outcome } from './postgres-namespaces.js';

export type { HnswOptions, PostgresClient };

/** Options of a {@link PostgresVectorStore}. */
export interface PostgresVectorStoreOptions extends PostgresOptions {
  /** Name of the table; a second one has `_namespaces` after it. @default 'vectors' */
  readonly table?: string | undefined;
  /**
   * Searches by an approximate index, which {@link PostgresVectorStore.migrate} creates (pgvector 0.8 or later): for namespaces of
   * more than some ten thousand documents. @default none; searches are exact
   */
  readonly hnsw?: HnswOptions | undefined;
}

interface Row extends DocumentRow {
  /** JSON text. */
  readonly vector?: string;
}

interface WriteOutcome extends Outcome {
  /** Of the vectors that stay. */
  readonly dimensions: number | null;
}

const WHERE = 'PostgresVectorStore';

/**
 * Stores documents and their vectors in a PostgreSQL database with the extension `vector` (pgvector).
 * Each operation that changes or reads is one statement, so that a pool suffices, also behind a pooler of
 * transactions. Writes and deletions of a namespace follow each other. A search is exact, unless `hnsw` is set: it compares every
 * vector of the namespace that the filter accepts. Call {@link migrate} once before the first use.
 */
export class PostgresVectorStore extends CheckedVectorStore {
  protected readonly where = WHERE;
  private readonly client: PostgresClient;
  private readonly table: string;
  private readonly namespaces: PostgresNamespaces;
  private readonly index: string;
  private readonly hnsw: PostgresHnsw | undefined;
  private readonly hnswIndex: string;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: PostgresVectorStoreOptions) {
    super();
    checkOptions(WHERE, options, { ...POSTGRES_RULES, table: CHECKED_APART, hnsw: PLAIN_OBJECT });
    const { client, schema, table = 'vectors', hnsw } = options;
    const path = schema === undefined ? '' : `${quoteName(WHERE, 'schema', schema)}.`;
    this.client = client;
    this.table = path + quoteName(WHERE, 'table', table);
    this.index = quoteName(WHERE, 'table', table, '_document');
    const namespaces = path + quoteName(WHERE, 'table', table, '_namespaces');
    this.namespaces = new PostgresNamespaces(client, namespaces);
    this.hnsw = hnsw && new PostgresHnsw(`${WHERE}: hnsw`, hnsw);
    this.hnswIndex = quoteName(WHERE, 'table', table, `_hnsw_${hnsw?.dimensions}`);
  }

  /**
   * Creates the missing extension and tables; any number of processes may call it concurrently.
   * @throws {@link InvalidArgumentError} if the server does not have pgvector
   */
  async migrate(): Promise<void> {
    await checkPgvector(WHERE, this.client, this.hnsw !== undefined);
    // IF NOT EXISTS alone fails where two sessions create a table concurrently. Roles that may not
    // create tables can call this once the tables exist.
    await this.client.query(`DO $$ BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('advisor-chain vectors', 0));
      IF to_regtype('vector') IS NULL THEN CREATE EXTENSION vector; END IF;
      IF to_regclass('${this.table}') IS NULL THEN
        CREATE TABLE ${this.table} (
          namespace text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, text text NOT NULL,
          metadata jsonb, vector vector NOT NULL, PRIMARY KEY (namespace, id)
        );
        CREATE INDEX ${this.index} ON ${this.table} (namespace, (${INDEXED}));
        CREATE TABLE ${this.namespaces.table} (namespace text COLLATE "C" PRIMARY KEY, version bigint NOT NULL);
      END IF;
      ${this.hnsw ? `${this.hnsw.createIndex(this.table, this.hnswIndex)};` : ''}
    END $$`);
  }

  protected async write(
    namespace: string,
    documents: readonly EmbeddedDocument[],
    replaces: Condition | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    await this.namespaces.inOrder(async () => {
      const outcome = await this.attempt(namespace, documents, replaces);
      const { won, dimensions: kept } = outcome;
      const given = documents[0]?.vector.length;
      if (won && given !== undefined && kept !== null)
        this.checkDimensions(namespace, 'documents[0].vector', given, kept);
      return outcome;
    }, signal);
  }

  protected async nearest(
    namespace: string,
    { vector, topK, minScore, condition }: CheckedVectorQuery,
  ): Promise<readonly Document[]> {
    const values: unknown[] = [namespace, textOf(vector), topK];
    const accepted = `namespace = $1 AND ${condition ? postgresCondition(condition, values) : 'true'}`;
    let found: readonly Row[] = [];
    if (this.hnsw?.dimensions === vector.length)
      found = await this.rank(this.hnsw.nearest(this.table, '$2', accepted, '$3::bigint'), values);
    // an index finds too few where few documents pass the filter, and it has no zero vectors (score 0)
    if (found.length < topK || (found.at(-1)?.score ?? 0) < 0)
      found = await this.rank(
        `SELECT id, text, metadata, vector <=> $2::text::vector AS distance FROM ${this.table}
         WHERE vector_dims(vector) = ${vector.length} AND ${accepted}`,
        values,
      );
    if (found.length === 0) await this.checkQuery(namespace, vector);
    return found.map(toDocument).filter(({ score = 0 }) => score >= minScore);
  }

  /** The best of compared rows; a zero vector has no angle, and the score 0. */
  private async rank(compared: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const { rows } = await this.client.query(
      `SELECT id, text, metadata::text AS metadata, score FROM (
         SELECT *, CASE WHEN distance = 'NaN' THEN 0 ELSE greatest(-1, least(1, 1 - distance)) END AS score
         FROM (${compared}) AS compared
       ) AS scored ORDER BY score DESC, id LIMIT $3::bigint`,
      [...values],
    );
    return rows as readonly Row[];
  }

  protected async page(
    namespace: string,
    { condition, after, limit, withVectors }: CheckedListQuery,
  ): Promise<readonly Document[]> {
    const values: unknown[] = [namespace, after ?? null, limit === Infinity ? null : limit];
    const accepted = condition ? postgresCondition(condition, values) : 'true';
    const { rows } = await this.client.query(
      `SELECT id, text, metadata::text AS metadata ${withVectors ? ', vector::text AS vector' : ''} FROM ${this.table}
       WHERE namespace = $1 AND ($2::text IS NULL OR id > $2) AND ${accepted} ORDER BY id LIMIT $3::bigint`,
      values,
    );
    return (rows as readonly Row[]).map(toDocument);
  }

  protected async remove(namespace: string, selection: Selection): Promise<void> {
    const select = (values: unknown[]): string =>
      'type' in selection
        ? postgresCondition(selection, values)
        : `id IN (SELECT json_array_elements_text($${values.push(JSON.stringify(selection))}::text::json))`;
    await this.deleteInOrder(namespace, this.namespaces.lock, select);
  }

  protected async removeAll(namespace: string): Promise<void> {
    await this.deleteInOrder(namespace, this.namespaces.lockAndForget, () => 'true');
  }

  private async deleteInOrder(
    namespace: string,
    lock: string,
    select: (values: unknown[]) => string,
  ): Promise<void> {
    await this.namespaces.inOrder(async () => {
      const version = await this.namespaces.versionOf(namespace);
      if (version === undefined) return { won: true };
      const values: unknown[] = [namespace, version];
      const sql = `WITH locked AS (${lock}), deleted AS (
          DELETE FROM ${this.table} WHERE namespace = $1 AND ${select(values)} AND EXISTS (SELECT 1 FROM locked)
        ) SELECT EXISTS (SELECT 1 FROM locked) AS won`;
      const { rows } = await this.client.query(sql, values);
      return (rows as readonly Outcome[])[0] as Outcome;
    });
  }

  /** Writes in one statement, unless another write of the namespace comes first. */
  private async attempt(
    namespace: string,
    documents: readonly EmbeddedDocument[],
    replaces: Condition | undefined,
  ): Promise<WriteOutcome> {
    const version = await this.namespaces.versionOrNew(namespace);
    const dimensions = documents[0]?.vector.length ?? null;
    const given = documents.map(({ id, text, metadata = null, vector }) => {
      return { id, text, metadata, vector: textOf(vector) };
    });
    const values: unknown[] = [namespace, version, JSON.stringify(given), dimensions];
    const replaced = replaces ? postgresCondition(replaces, values) : 'false';
    const others = `namespace = $1 AND id NOT IN (SELECT id FROM given)`;
    const { rows } = await this.client.query(
      `WITH given AS MATERIALIZED (
         SELECT * FROM json_to_recordset($3::text::json) AS one (id text, text text, metadata jsonb, vector text)
       ), locked AS (
         ${this.namespaces.lock}
       ), kept AS (
         SELECT vector_dims(vector) AS dimensions FROM ${this.table} WHERE ${others} AND NOT ${replaced} LIMIT 1
       ), allowed AS (
         SELECT 1 FROM locked WHERE NOT EXISTS (SELECT 1 FROM kept WHERE dimensions <> $4::int)
       ), deleted AS (
         DELETE FROM ${this.table} WHERE ${others} AND ${replaced} AND EXISTS (SELECT 1 FROM allowed)
       ), inserted AS (
         INSERT INTO ${this.table} (namespace, id, text, metadata, vector)
         SELECT $1, id, text, metadata, vector::vector FROM given WHERE EXISTS (SELECT 1 FROM allowed)
         ON CONFLICT (namespace, id) DO UPDATE
         SET text = excluded.text, metadata = excluded.metadata, vector = excluded.vector
       )
       SELECT EXISTS (SELECT 1 FROM locked) AS won, (SELECT dimensions FROM kept) AS dimensions`,
      values,
    );
    return (rows as readonly WriteOutcome[])[0] as WriteOutcome;
  }

  private async checkQuery(namespace: string, vector: Vector): Promise<void> {
    const { rows } = await this.client.query(
      `SELECT vector_dims(vector) AS dimensions FROM ${this.table} WHERE namespace = $1 LIMIT 1`,
      [namespace],
    );
    const [row] = rows as readonly { readonly dimensions: number }[];
    if (row) this.checkDimensions(namespace, 'vector', vector.length, row.dimensions);
  }
}

function toDocument({ vector, ...row }: Row): Document {
  return documentOfRow(row, vector === undefined ? undefined : vectorOf(vector));
}

/** The text form of pgvector; nine digits are exact for numbers of 32 bits. */
function textOf(vector: Vector): string {
  return `[${Array.from(vector, (value) => Number(value.toPrecision(9))).join()}]`;
}

function vectorOf(text: string): Vector {
  return new Float32Array(JSON.parse(text) as number[]);
}
