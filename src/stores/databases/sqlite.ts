import { InvalidArgumentError } from '../../core/errors/errors.js';
import { required, TIMEOUT, withMethods } from '../../core/internal/options.js';
import { SqliteLocks, type LockWait } from './sqlite-locks.js';

/** The required part of a SQLite client: `libsql`, `better-sqlite3` or `node:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  /** Returns a statement with `run(…values)` and `all(…values)`. */
  prepare(sql: string): unknown;
  close(): unknown;
}

/** A prepared statement of every supported client. */
export interface SqliteStatement {
  run(...values: readonly unknown[]): unknown;
  all(...values: readonly unknown[]): readonly unknown[];
}

/** Options of every store in SQLite. */
export interface SqliteOptions {
  /** An open database, see `open(file)` of the store; the caller closes it. */
  readonly database: SqliteDatabase;
  /**
   * Maximum time to wait for locks of other connections, in milliseconds > 0. The wait does not block
   * the event loop, and writes keep their order. @default 10_000
   */
  readonly busyTimeout?: number | undefined;
}

/** Rules of {@link SqliteOptions}. */
export const SQLITE_RULES = {
  database: required(
    withMethods('an open SQLite database, such as new DatabaseSync(path)', 'prepare', 'exec'),
  ),
  busyTimeout: TIMEOUT,
};

/** The most recently used ones are kept. */
const MAX_STATEMENTS = 100;

/** A database whose locks a store waits for. */
export class SqliteConnection {
  private readonly database: SqliteDatabase;
  private readonly locks: SqliteLocks;
  private readonly statements = new Map<string, SqliteStatement>();

  constructor({ database, busyTimeout = 10_000 }: SqliteOptions) {
    this.database = database;
    this.locks = new SqliteLocks(database, busyTimeout);
  }

  /** Prepares a connection that nothing else uses: a write-ahead log, and a sync at every commit. */
  async useAlone(): Promise<void> {
    this.locks.useAlone();
    for (const setting of ['journal_mode = WAL', 'synchronous = FULL'])
      await this.locks.read(() =>
        (this.database.prepare(`PRAGMA ${setting}`) as SqliteStatement).all(),
      );
  }

  /** Runs statements that create what is missing. */
  async migrate(sql: string): Promise<void> {
    await this.locks.write(() => this.database.exec(sql));
  }

  /** Reads by one statement, so that it sees one consistent state. */
  read(sql: string, values: readonly unknown[], wait?: LockWait): Promise<readonly unknown[]> {
    return this.locks.read(() => this.all(sql, ...values), wait);
  }

  /** Writes in a transaction of its own; a failed one is rolled back. */
  transaction<T>(work: () => T, wait?: LockWait): Promise<T> {
    return this.locks.write(() => this.attemptTransaction(work), wait);
  }

  /** Runs a statement of a transaction. */
  run(sql: string, ...values: readonly unknown[]): void {
    this.prepareOnce(sql).run(...values);
  }

  /** Returns the rows of a statement of a transaction. */
  all(sql: string, ...values: readonly unknown[]): readonly unknown[] {
    return this.prepareOnce(sql).all(...values);
  }

  /** Closes the database after the writes under way. */
  async close(): Promise<void> {
    await this.locks.idle();
    this.database.close();
  }

  /** Locks for writing at the start: a read lock that is upgraded could find a newer version. */
  private attemptTransaction<T>(work: () => T): T {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.database.exec('COMMIT');
      return result;
    } catch (error) {
      try {
        this.database.exec('ROLLBACK');
      } catch {
        // after some errors, such as a full disk, SQLite has rolled back already
      }
      throw error;
    }
  }

  private prepareOnce(sql: string): SqliteStatement {
    const statement = this.statements.get(sql) ?? (this.database.prepare(sql) as SqliteStatement);
    this.statements.delete(sql);
    this.statements.set(sql, statement);
    // filters of callers make any number of statements
    const [oldest] = this.statements.keys();
    if (oldest !== undefined && this.statements.size > MAX_STATEMENTS)
      this.statements.delete(oldest);
    return statement;
  }
}

async function loadLibsql(where: string): Promise<new (file: string) => SqliteDatabase> {
  try {
    // bundlers treat an import in a try block as optional
    return (await import('libsql')).default;
  } catch (cause) {
    throw new InvalidArgumentError(
      `${where}.open needs the package libsql: npm install libsql@^0.5`,
      { cause },
    );
  }
}

/**
 * Opens a database with `libsql`, and closes it if its store cannot be made.
 * @param create makes the store, and what is missing in the database
 * @throws {@link InvalidArgumentError} if `libsql` is not installed, and errors of SQLite
 */
export async function openSqlite<Store>(
  where: string,
  file: string,
  create: (database: SqliteDatabase) => Promise<Store>,
): Promise<Store> {
  const Database = await loadLibsql(where);
  const database: SqliteDatabase = new Database(file);
  try {
    return await create(database);
  } catch (error) {
    database.close();
    throw error;
  }
}
