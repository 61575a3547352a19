import type { Document } from '../../core/chat/document.js';
import { CHECKED_APART, checkOptions } from '../../core/internal/options.js';
import { quoteName } from '../databases/sql-name.js';
import {
  openSqlite,
  SQLITE_RULES,
  SqliteConnection,
  type SqliteDatabase,
  type SqliteOptions,
} from '../databases/sqlite.js';
import { loadSqliteVec } from '../databases/sqlite-vec.js';
import {
  CheckedVectorStore,
  type CheckedVectorQuery,
  type EmbeddedDocument,
} from './checked-vector-store.js';
import type { Condition } from './condition.js';
import type { CheckedListQuery, Selection } from './document-checks.js';
import { documentOfRow, type DocumentRow } from './document-row.js';
import type { Vector } from './embedding-model.js';
import { indexed, sqliteCondition, type SqlCondition } from './sqlite-condition.js';

export type { SqliteDatabase };

/** Options of a {@link SqliteVectorStore}. */
export interface SqliteVectorStoreOptions extends SqliteOptions {
  /** Name of the table. @default 'vectors' */
  readonly table?: string | undefined;
}

interface Row extends DocumentRow {
  /** The type depends on the client. */
  readonly vector?: ArrayBuffer | Uint8Array;
}

const WHERE = 'SqliteVectorStore';
/** Of a number in a vector. */
const BYTES = Float32Array.BYTES_PER_ELEMENT;
const ALL: SqlCondition = { sql: '1', values: [] };

/**
 * Stores documents and their vectors in a SQLite database: a file or `:memory:`. Several processes may
 * use one file. A search is exact: the extension `sqlite-vec` compares every vector of the namespace
 * that the filter accepts, on the thread of the caller. Call {@link migrate} once before the first use.
 */
export class SqliteVectorStore extends CheckedVectorStore {
  protected readonly where = WHERE;
  private readonly database: SqliteDatabase;
  private readonly sqlite: SqliteConnection;
  private readonly table: string;
  private readonly index: string;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: SqliteVectorStoreOptions) {
    super();
    checkOptions(WHERE, options, { ...SQLITE_RULES, table: CHECKED_APART });
    this.database = options.database;
    this.sqlite = new SqliteConnection(options);
    const { table = 'vectors' } = options;
    this.table = quoteName(WHERE, 'table', table);
    this.index = quoteName(WHERE, 'table', table, '_document');
  }

  /**
   * Opens a database with `libsql`, loads `sqlite-vec` and creates the missing table. Uses a write-ahead
   * log, syncs every commit and waits up to `busyTimeout` for other connections.
   * @param file a path, or `:memory:`
   * @throws {@link InvalidArgumentError} if a package is not installed, and errors of SQLite
   */
  static async open(
    file: string,
    options: Omit<SqliteVectorStoreOptions, 'database'> = {},
  ): Promise<SqliteVectorStore> {
    return openSqlite(WHERE, file, async (database) => {
      const store = new SqliteVectorStore({ ...options, database });
      await store.sqlite.useAlone();
      await store.migrate();
      return store;
    });
  }

  /**
   * Loads the extension unless the connection has it, and creates the missing table.
   * @throws {@link InvalidArgumentError} if `sqlite-vec` is not installed or the connection loads no extensions
   */
  async migrate(): Promise<void> {
    await loadSqliteVec(WHERE, this.database);
    await this.sqlite.migrate(`
      CREATE TABLE IF NOT EXISTS ${this.table} (
        namespace TEXT NOT NULL, id TEXT NOT NULL, metadata TEXT, vector BLOB NOT NULL, text TEXT NOT NULL,
        PRIMARY KEY (namespace, id)
      );
      CREATE INDEX IF NOT EXISTS ${this.index} ON ${this.table} (namespace, ${indexed('metadata')});`);
  }

  /** Closes the database after the writes under way. */
  async close(): Promise<void> {
    await this.sqlite.close();
  }

  protected async write(
    namespace: string,
    documents: readonly EmbeddedDocument[],
    replaces: Condition | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const ids = JSON.stringify(documents.map(({ id }) => id));
    const others = `namespace = ? AND id NOT IN (SELECT value FROM json_each(?))`;
    const insert = `INSERT INTO ${this.table} (namespace, id, text, metadata, vector) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (namespace, id) DO UPDATE SET text = excluded.text, metadata = excluded.metadata, vector = excluded.vector`;
    const deletes = replaces && sqliteCondition(replaces, 'metadata');
    const work = (): void => {
      if (deletes)
        this.sqlite.run(
          `DELETE FROM ${this.table} WHERE ${others} AND ${deletes.sql}`,
          namespace,
          ids,
          ...deletes.values,
        );
      const [first] = documents;
      const kept = this.sqlite.all(`${this.firstVector} WHERE ${others} LIMIT 1`, namespace, ids);
      if (first) this.checkRows(namespace, 'documents[0].vector', first.vector, kept);
      for (const { id, text, metadata, vector } of documents) {
        const json = metadata ? JSON.stringify(metadata) : null;
        this.sqlite.run(insert, namespace, id, text, json, bytesOf(vector));
      }
    };
    await this.sqlite.transaction(work, { signal });
  }

  protected async nearest(
    namespace: string,
    { vector, topK, minScore, condition }: CheckedVectorQuery,
    signal: AbortSignal | undefined,
  ): Promise<readonly Document[]> {
    const { sql, values } = condition ? sqliteCondition(condition, 'metadata') : ALL;
    // a zero vector has no angle
    const score = `max(-1, min(1, coalesce(1 - vec_distance_cosine(vector, ?), 0)))`;
    // texts are read for the best rows alone
    const selection = `WITH scored AS MATERIALIZED (
      SELECT rowid AS row, id, ${score} AS score FROM ${this.table} WHERE namespace = ? AND ${sql}
    ), best AS (SELECT * FROM scored WHERE score >= ? ORDER BY score DESC, id LIMIT ?)
    SELECT kept.id, text, metadata, score FROM best JOIN ${this.table} AS kept ON kept.rowid = best.row
    ORDER BY score DESC, kept.id`;
    const first = `${this.firstVector} WHERE namespace = ? LIMIT 1`;
    const kept = await this.sqlite.read(first, [namespace], { signal });
    this.checkRows(namespace, 'vector', vector, kept);
    const parameters = [bytesOf(vector), namespace, ...values, minScore, topK];
    const rows = await this.sqlite.read(selection, parameters, { signal });
    return (rows as readonly Row[]).map(toDocument);
  }

  protected async page(
    namespace: string,
    { condition, after, limit, withVectors }: CheckedListQuery,
  ): Promise<readonly Document[]> {
    const { sql, values } = condition ? sqliteCondition(condition, 'metadata') : ALL;
    const start = after === undefined ? ALL : { sql: 'id > ?', values: [after] };
    const rows = await this.sqlite.read(
      `SELECT id, text, metadata ${withVectors ? ', vector' : ''} FROM ${this.table}
       WHERE namespace = ? AND ${start.sql} AND ${sql} ORDER BY id LIMIT ?`,
      [namespace, ...start.values, ...values, limit === Infinity ? -1 : limit],
    );
    return (rows as readonly Row[]).map(toDocument);
  }

  protected async remove(namespace: string, selection: Selection): Promise<void> {
    const { sql, values } =
      'type' in selection
        ? sqliteCondition(selection, 'metadata')
        : { sql: 'id IN (SELECT value FROM json_each(?))', values: [JSON.stringify(selection)] };
    const deletion = `DELETE FROM ${this.table} WHERE namespace = ? AND ${sql}`;
    await this.sqlite.transaction(() => this.sqlite.run(deletion, namespace, ...values));
  }

  protected async removeAll(namespace: string): Promise<void> {
    const deletion = `DELETE FROM ${this.table} WHERE namespace = ?`;
    await this.sqlite.transaction(() => this.sqlite.run(deletion, namespace));
  }

  private get firstVector(): string {
    return `SELECT length(vector) AS bytes FROM ${this.table}`;
  }

  /** @param kept the size of a vector of the namespace, unless it is empty */
  private checkRows(
    namespace: string,
    name: string,
    vector: Vector,
    kept: readonly unknown[],
  ): void {
    const [row] = kept as readonly { readonly bytes: number }[];
    if (row) this.checkDimensions(namespace, name, vector.length, row.bytes / BYTES);
  }
}

function toDocument(row: Row): Document {
  return documentOfRow(row, row.vector && vectorOf(row.vector));
}

/** Bytes in the order of this processor; a client may take nothing but a Buffer. */
function bytesOf({ buffer, byteOffset, byteLength }: Vector): Uint8Array {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A copy: bytes of a client may begin at any address. */
function vectorOf(bytes: ArrayBuffer | Uint8Array): Vector {
  return new Float32Array(Uint8Array.from(new Uint8Array(bytes)).buffer);
}
