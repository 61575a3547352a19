import { CHECKED_APART, checkOptions } from '../../core/internal/options.js';
import { quoteName } from '../databases/sql-name.js';
import {
  openSqlite,
  SQLITE_RULES,
  SqliteConnection,
  type SqliteDatabase,
  type SqliteOptions,
} from '../databases/sqlite.js';
import { addTo, CheckedKeyValueStore, type Counters } from './checked-key-value-store.js';

export type { SqliteDatabase };

/** Options of a {@link SqliteKeyValueStore}. */
export interface SqliteKeyValueStoreOptions extends SqliteOptions {
  /** Name of the table. @default 'key_value' */
  readonly table?: string | undefined;
}

type Kind = 'value' | 'counters';

interface Row {
  readonly value: string;
  /** End of the lifetime in milliseconds since the epoch; null if it is unlimited. */
  readonly expires: number | null;
}

const WHERE = 'SqliteKeyValueStore';
/** Milliseconds since the epoch, by the clock of the database. */
const NOW = `CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)`;

/**
 * Keeps states in a SQLite database: a file or `:memory:`. Several processes may use one file. Call
 * {@link migrate} once before the first use. Each new value or sum deletes up to two expired rows.
 */
export class SqliteKeyValueStore extends CheckedKeyValueStore {
  private readonly table: string;
  private readonly index: string;
  private readonly sqlite: SqliteConnection;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: SqliteKeyValueStoreOptions) {
    super();
    checkOptions(WHERE, options, { ...SQLITE_RULES, table: CHECKED_APART });
    this.sqlite = new SqliteConnection(options);
    const { table = 'key_value' } = options;
    this.table = quoteName(WHERE, 'table', table);
    this.index = quoteName(WHERE, 'table', table, '_expires');
  }

  /**
   * Opens a database with `libsql` and creates the missing table. Uses a write-ahead log, syncs every
   * commit and waits up to `busyTimeout` for other connections.
   * @param file a path, or `:memory:`
   * @throws {@link InvalidArgumentError} if `libsql` is not installed, and errors of SQLite
   */
  static async open(
    file: string,
    options: Omit<SqliteKeyValueStoreOptions, 'database'> = {},
  ): Promise<SqliteKeyValueStore> {
    return openSqlite(WHERE, file, async (database) => {
      const store = new SqliteKeyValueStore({ ...options, database });
      await store.sqlite.useAlone();
      await store.migrate();
      return store;
    });
  }

  /** Creates the missing table. */
  async migrate(): Promise<void> {
    await this.sqlite.migrate(`
      CREATE TABLE IF NOT EXISTS ${this.table} (
        key TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL, expires INTEGER, PRIMARY KEY (key, kind)
      );
      CREATE INDEX IF NOT EXISTS ${this.index} ON ${this.table} (expires) WHERE expires IS NOT NULL;`);
  }

  /** Deletes all that has expired, also if nothing more is written; returns the number of rows. */
  async deleteExpired(): Promise<number> {
    return this.sqlite.transaction(() => this.deleteExpiredRows(-1));
  }

  /** Closes the database after the writes under way. */
  async close(): Promise<void> {
    await this.sqlite.close();
  }

  protected async readValue(key: string): Promise<string | undefined> {
    const rows = await this.sqlite.read(this.selection('value'), [key]);
    return (rows as readonly Row[])[0]?.value;
  }

  protected writeValue(
    key: string,
    value: string,
    ttl: number,
    expected: string | null | undefined,
  ): Promise<boolean> {
    return this.sqlite.transaction(() => {
      const current = this.living('value', key)?.value ?? null;
      if (expected !== undefined && expected !== current) return false;
      this.write('value', key, value, ttl);
      return true;
    });
  }

  protected deleteValue(key: string, expected: string | undefined): Promise<boolean> {
    return this.sqlite.transaction(() => {
      const current = this.living('value', key)?.value;
      if (current === undefined || (expected !== undefined && expected !== current)) return false;
      this.sqlite.run(`DELETE FROM ${this.table} WHERE key = ? AND kind = 'value'`, key);
      return true;
    });
  }

  protected async readCounters(key: string): Promise<Counters | undefined> {
    const [row] = (await this.sqlite.read(this.selection('counters'), [key])) as readonly Row[];
    return row && (JSON.parse(row.value) as Counters);
  }

  protected addCounters(key: string, amounts: Counters, ttl: number): Promise<Counters> {
    return this.sqlite.transaction(() => {
      const row = this.living('counters', key);
      const counters = row ? (JSON.parse(row.value) as Record<string, number>) : {};
      const sums = addTo(counters, amounts);
      const text = JSON.stringify(counters);
      if (row)
        this.sqlite.run(
          `UPDATE ${this.table} SET value = ? WHERE key = ? AND kind = 'counters'`,
          text,
          key,
        );
      else this.write('counters', key, text, ttl);
      return sums;
    });
  }

  /** A transaction that fails is rolled back. */
  protected isRefused(): boolean {
    return true;
  }

  private selection(kind: Kind): string {
    return `SELECT value FROM ${this.table} WHERE key = ? AND kind = '${kind}' AND (expires IS NULL OR expires > ${NOW})`;
  }

  private living(kind: Kind, key: string): Row | undefined {
    const [row] = this.sqlite.all(this.selection(kind), key) as readonly Row[];
    return row;
  }

  private write(kind: Kind, key: string, value: string, ttl: number): void {
    this.sqlite.run(
      `INSERT INTO ${this.table} (key, kind, value, expires) VALUES (?, '${kind}', ?, ${NOW} + ?)
       ON CONFLICT (key, kind) DO UPDATE SET value = excluded.value, expires = excluded.expires`,
      key,
      value,
      ttl === Infinity ? null : ttl,
    );
    this.deleteExpiredRows(2);
  }

  /** @param limit maximum number of rows; -1: all */
  private deleteExpiredRows(limit: number): number {
    const expired = `SELECT rowid FROM ${this.table} WHERE expires <= ${NOW} ORDER BY expires LIMIT ?`;
    return this.sqlite.all(
      `DELETE FROM ${this.table} WHERE rowid IN (${expired}) RETURNING rowid`,
      limit,
    ).length;
  }
}
