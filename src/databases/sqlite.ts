import { InvalidArgumentError } from '../errors.js';
import { checkOption, checkOptions, TIMEOUT, withMethods } from '../internal/options.js';
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

const DATABASE = withMethods('an open SQLite database', 'prepare', 'exec');

/** A database whose locks a store waits for. */
export class SqliteConnection {
  private readonly database: SqliteDatabase;
  private readonly locks: SqliteLocks;
  private readonly statements = new Map<string, SqliteStatement>();

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(where: string, options: SqliteOptions) {
    const { database, busyTimeout = 10_000 } = options ?? {};
    checkOption(where, 'database', database, DATABASE);
    checkOptions(where, { busyTimeout }, { busyTimeout: TIMEOUT });
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
    this.statements.set(sql, statement);
    return statement;
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
  const { default: Database } = await import('libsql').catch((cause: unknown) => {
    throw new InvalidArgumentError(
      `${where}.open needs the package libsql: npm install libsql@^0.5`,
      { cause },
    );
  });
  const database: SqliteDatabase = new Database(file);
  try {
    return await create(database);
  } catch (error) {
    database.close();
    throw error;
  }
}
