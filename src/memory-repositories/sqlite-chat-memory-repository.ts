import { InvalidArgumentError } from '../errors.js';
import { checkOption, withMethods } from '../internal/options.js';
import {
  CheckedChatMemoryRepository,
  checkVersion,
  type EncodedLog,
  type EncodedWrite,
  type ReadOptions,
} from '../memory/chat-memory-repository.js';
import { quoteName, toLog } from './sql.js';

/** The required part of a SQLite client: `libsql`, `better-sqlite3` or `node:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  /** Returns a statement with `run(…values)` and `all(…values)`. */
  prepare(sql: string): unknown;
  close(): unknown;
}

interface Statement {
  run(...values: readonly unknown[]): unknown;
  all(...values: readonly unknown[]): readonly unknown[];
}

/** Options of a {@link SqliteChatMemoryRepository}. */
export interface SqliteChatMemoryRepositoryOptions {
  /** An open database, see `SqliteChatMemoryRepository.open(file)`; the caller closes it. */
  readonly database: SqliteDatabase;
  /** Prefix of the names of the two tables. @default 'chat_memory' */
  readonly tablePrefix?: string | undefined;
}

const WHERE = 'SqliteChatMemoryRepository';
const DATABASE = withMethods('an open SQLite database', 'prepare', 'exec');

/** Time limit for waiting for other writers, in milliseconds. */
const BUSY_TIMEOUT = 10_000;

/**
 * Stores conversations in a SQLite database: a file or `:memory:`. Several processes may use one
 * file. Call {@link migrate} once before the first use.
 */
export class SqliteChatMemoryRepository extends CheckedChatMemoryRepository {
  private readonly conversations: string;
  private readonly messages: string;
  private readonly statements = new Map<string, Statement>();

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(private readonly options: SqliteChatMemoryRepositoryOptions) {
    super();
    const { database, tablePrefix = 'chat_memory' } = options ?? {};
    checkOption(WHERE, 'database', database, DATABASE);
    this.conversations = quoteName(WHERE, 'tablePrefix', tablePrefix, '_conversation');
    this.messages = quoteName(WHERE, 'tablePrefix', tablePrefix, '_message');
  }

  /**
   * Opens a database with `libsql` and creates missing tables. Uses a write-ahead log, syncs every
   * commit and waits up to ten seconds for other writers.
   * @param file a path, or `:memory:`
   * @throws {@link InvalidArgumentError} if `libsql` is not installed, and errors of SQLite
   */
  static async open(
    file: string,
    options: Omit<SqliteChatMemoryRepositoryOptions, 'database'> = {},
  ): Promise<SqliteChatMemoryRepository> {
    const { default: Database } = await import('libsql').catch((cause: unknown) => {
      throw new InvalidArgumentError(
        `${WHERE}.open needs the package libsql: npm install libsql@^0.5`,
        { cause },
      );
    });
    const database: SqliteDatabase = new Database(file);
    try {
      const repository = new SqliteChatMemoryRepository({ ...options, database });
      const pragma = (setting: string): unknown =>
        (database.prepare(`PRAGMA ${setting}`) as Statement).all();
      pragma(`busy_timeout = ${BUSY_TIMEOUT}`);
      await retryWhileBusy(() => pragma('journal_mode = WAL'));
      pragma('synchronous = FULL');
      await repository.migrate();
      return repository;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Creates missing tables. */
  async migrate(): Promise<void> {
    this.options.database.exec(`
      CREATE TABLE IF NOT EXISTS ${this.conversations} (id TEXT PRIMARY KEY, version INTEGER NOT NULL, system TEXT);
      CREATE TABLE IF NOT EXISTS ${this.messages} (
        conversation TEXT NOT NULL, version INTEGER NOT NULL, turn TEXT, message TEXT NOT NULL, PRIMARY KEY (conversation, version)
      );`);
  }

  async close(): Promise<void> {
    this.options.database.close();
  }

  protected async readLog(id: string, options: ReadOptions): Promise<EncodedLog> {
    const { limit = -1, beforeVersion = Number.MAX_SAFE_INTEGER } = options;
    // one statement, so that it reads one consistent state
    const select = this.prepareOnce(
      `SELECT head.version AS head, head.system, m.version, m.turn, m.message
       FROM ${this.conversations} head LEFT JOIN (
         SELECT version, turn, message FROM ${this.messages} WHERE conversation = ? AND version < ? ORDER BY version DESC LIMIT ?
       ) m WHERE head.id = ? ORDER BY m.version`,
    );
    return toLog(select.all(id, beforeVersion, limit, id));
  }

  protected async deleteLog(id: string): Promise<void> {
    this.inTransaction(() => {
      this.prepareOnce(`DELETE FROM ${this.messages} WHERE conversation = ?`).run(id);
      this.prepareOnce(`DELETE FROM ${this.conversations} WHERE id = ?`).run(id);
    });
  }

  protected async listIds(prefix: string, after: string, limit: number): Promise<string[]> {
    const sql = `SELECT id FROM ${this.conversations} WHERE id >= ? AND id > ? ORDER BY id LIMIT ?`;
    const rows = this.prepareOnce(sql).all(prefix, after, limit);
    return rows.map((row) => (row as { readonly id: string }).id);
  }

  protected writeLog(id: string, write: EncodedWrite): number {
    const { texts, system, turn, expectedVersion, isReplacing } = write;
    return this.inTransaction(() => {
      const select = `SELECT version FROM ${this.conversations} WHERE id = ?`;
      const [row] = this.prepareOnce(select).all(id) as readonly { readonly version: number }[];
      const present = Number(row?.version ?? 0);
      checkVersion(id, expectedVersion, present);
      if (isReplacing)
        this.prepareOnce(`DELETE FROM ${this.messages} WHERE conversation = ?`).run(id);
      const insert = this.prepareOnce(
        `INSERT INTO ${this.messages} (conversation, version, turn, message) VALUES (?, ?, ?, ?)`,
      );
      texts.forEach((text, at) => insert.run(id, present + at + 1, turn, text));
      const version = present + Math.max(texts.length, 1);
      this.prepareOnce(
        `INSERT INTO ${this.conversations} (id, version, system) VALUES (?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET version = excluded.version,
           system = ${isReplacing ? 'excluded.system' : 'coalesce(excluded.system, system)'}`,
      ).run(id, version, system);
      return version;
    });
  }

  /** Locks for writing at the start: a read lock that is upgraded could find a newer version. */
  private inTransaction<T>(work: () => T): T {
    const { database } = this.options;
    database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      try {
        database.exec('ROLLBACK');
      } catch {
        // after some errors, such as a full disk, SQLite has rolled back already
      }
      throw error;
    }
  }

  private prepareOnce(sql: string): Statement {
    const statement = this.statements.get(sql) ?? (this.options.database.prepare(sql) as Statement);
    this.statements.set(sql, statement);
    return statement;
  }
}

/** Retries `PRAGMA journal_mode = WAL`: on concurrent calls SQLite fails without waiting. */
async function retryWhileBusy(action: () => unknown): Promise<void> {
  const end = performance.now() + BUSY_TIMEOUT;
  for (;;) {
    try {
      action();
      return;
    } catch (error) {
      const code = String((error as { readonly code?: unknown } | undefined)?.code);
      if (!code.startsWith('SQLITE_BUSY') || performance.now() > end) throw error;
    }
    // random, so that the processes do not retry in step
    await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 20));
  }
}
