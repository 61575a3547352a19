import { InvalidArgumentError } from '../errors.js';
import { checkOption, checkOptions, TIMEOUT, withMethods } from '../internal/options.js';
import type { ReadOptions } from '../memory/chat-memory-repository.js';
import {
  CheckedChatMemoryRepository,
  type DecodingOptions,
  checkVersion,
  type EncodedLog,
  type EncodedWrite,
} from '../memory/checked-chat-memory-repository.js';
import { quoteName, toLog } from './sql.js';
import { SqliteLocks, type LockWait, type SqliteStatement } from './sqlite-locks.js';

/** The required part of a SQLite client: `libsql`, `better-sqlite3` or `node:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  /** Returns a statement with `run(…values)` and `all(…values)`. */
  prepare(sql: string): unknown;
  close(): unknown;
}

/** Options of a {@link SqliteChatMemoryRepository}. */
export interface SqliteChatMemoryRepositoryOptions extends DecodingOptions {
  /** An open database, see `SqliteChatMemoryRepository.open(file)`; the caller closes it. */
  readonly database: SqliteDatabase;
  /** Prefix of the names of the three tables. @default 'chat_memory' */
  readonly tablePrefix?: string | undefined;
  /**
   * Maximum time to wait for locks of other connections, in milliseconds > 0. The wait does not block
   * the event loop, writes keep their order, and the `signal` of a read or write ends it. @default 10_000
   */
  readonly busyTimeout?: number | undefined;
}

const WHERE = 'SqliteChatMemoryRepository';
const DATABASE = withMethods('an open SQLite database', 'prepare', 'exec');

/**
 * Stores conversations in a SQLite database: a file or `:memory:`. Several processes may use one
 * file. Call {@link migrate} once before the first use.
 */
export class SqliteChatMemoryRepository extends CheckedChatMemoryRepository {
  private readonly conversations: string;
  private readonly messages: string;
  private readonly writes: string;
  private readonly locks: SqliteLocks;
  private readonly statements = new Map<string, SqliteStatement>();

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(private readonly options: SqliteChatMemoryRepositoryOptions) {
    super(WHERE, options);
    const { database, tablePrefix = 'chat_memory', busyTimeout = 10_000 } = options ?? {};
    checkOption(WHERE, 'database', database, DATABASE);
    checkOptions(WHERE, { busyTimeout }, { busyTimeout: TIMEOUT });
    this.locks = new SqliteLocks(database, busyTimeout);
    this.conversations = quoteName(WHERE, 'tablePrefix', tablePrefix, '_conversation');
    this.messages = quoteName(WHERE, 'tablePrefix', tablePrefix, '_message');
    this.writes = quoteName(WHERE, 'tablePrefix', tablePrefix, '_write');
  }

  /**
   * Opens a database with `libsql` and creates missing tables. Uses a write-ahead log, syncs every
   * commit and waits up to `busyTimeout` for other connections.
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
        (database.prepare(`PRAGMA ${setting}`) as SqliteStatement).all();
      repository.locks.useAlone();
      for (const setting of ['journal_mode = WAL', 'synchronous = FULL'])
        await repository.locks.read(() => pragma(setting));
      await repository.migrate();
      return repository;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Creates missing tables. */
  async migrate(): Promise<void> {
    const sql = `
      CREATE TABLE IF NOT EXISTS ${this.conversations} (id TEXT PRIMARY KEY, version INTEGER NOT NULL, system TEXT);
      CREATE TABLE IF NOT EXISTS ${this.messages} (
        conversation TEXT NOT NULL, version INTEGER NOT NULL, turn TEXT, message TEXT NOT NULL, PRIMARY KEY (conversation, version)
      );
      CREATE TABLE IF NOT EXISTS ${this.writes} (
        conversation TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (conversation, id)
      ) WITHOUT ROWID;`;
    await this.locks.write(() => this.options.database.exec(sql));
  }

  /** Closes the database after the writes under way. */
  async close(): Promise<void> {
    await this.locks.idle();
    this.options.database.close();
  }

  protected async readLog(id: string, options: ReadOptions): Promise<EncodedLog> {
    const { limit = -1, beforeVersion = Number.MAX_SAFE_INTEGER } = options;
    // one statement, so that it reads one consistent state
    const sql = `SELECT head.version AS head, head.system, m.version, m.turn, m.message
       FROM ${this.conversations} head LEFT JOIN (
         SELECT version, turn, message FROM ${this.messages} WHERE conversation = ? AND version < ? ORDER BY version DESC LIMIT ?
       ) m WHERE head.id = ? ORDER BY m.version`;
    const select = (): readonly unknown[] =>
      this.prepareOnce(sql).all(id, beforeVersion, limit, id);
    return toLog(await this.locks.read(select, options));
  }

  protected async deleteLog(id: string): Promise<void> {
    await this.inTransaction({}, () => {
      for (const table of [this.messages, this.writes])
        this.prepareOnce(`DELETE FROM ${table} WHERE conversation = ?`).run(id);
      this.prepareOnce(`DELETE FROM ${this.conversations} WHERE id = ?`).run(id);
    });
  }

  protected async listIds(prefix: string, after: string, limit: number): Promise<string[]> {
    const sql = `SELECT id FROM ${this.conversations} WHERE id >= ? AND id > ? ORDER BY id LIMIT ?`;
    const rows = await this.locks.read(() => this.prepareOnce(sql).all(prefix, after, limit));
    return rows.map((row) => (row as { readonly id: string }).id);
  }

  protected writeLog(id: string, write: EncodedWrite): Promise<number> {
    const { texts, turn, writeId, expectedVersion, isReplacing } = write;
    return this.inTransaction(write, () => {
      const known = this.versionOf(this.writes, 'conversation = ? AND id = ?', id, writeId);
      if (known !== undefined) return known;
      const present = this.versionOf(this.conversations, 'id = ?', id) ?? 0;
      checkVersion(id, expectedVersion, present);
      if (isReplacing) this.deleteMessages(id);
      const insert = this.prepareOnce(
        `INSERT INTO ${this.messages} (conversation, version, turn, message) VALUES (?, ?, ?, ?)`,
      );
      texts.forEach((text, at) => insert.run(id, present + at + 1, turn, text));
      const version = present + Math.max(texts.length, 1);
      this.writeHead(id, version, write);
      return version;
    });
  }

  private versionOf(table: string, where: string, ...values: readonly string[]) {
    const select = this.prepareOnce(`SELECT version FROM ${table} WHERE ${where}`);
    const [row] = select.all(...values) as readonly { readonly version: number | string }[];
    return row && Number(row.version);
  }

  /** Deletes the messages, and the ids of writes whose messages were deleted before. */
  private deleteMessages(id: string): void {
    this.prepareOnce(
      `DELETE FROM ${this.writes} WHERE conversation = ? AND version < (SELECT min(version) FROM ${this.messages} WHERE conversation = ?)`,
    ).run(id, id);
    this.prepareOnce(`DELETE FROM ${this.messages} WHERE conversation = ?`).run(id);
  }

  private writeHead(id: string, version: number, { system, writeId, isReplacing }: EncodedWrite) {
    this.prepareOnce(
      `INSERT INTO ${this.conversations} (id, version, system) VALUES (?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET version = excluded.version,
         system = ${isReplacing ? 'excluded.system' : 'coalesce(excluded.system, system)'}`,
    ).run(id, version, system);
    const insert = `INSERT INTO ${this.writes} (conversation, id, version) VALUES (?, ?, ?)`;
    this.prepareOnce(insert).run(id, writeId, version);
  }

  /** A transaction that fails is rolled back. */
  protected isRefused(): boolean {
    return true;
  }

  private inTransaction<T>(wait: LockWait, work: () => T): Promise<T> {
    return this.locks.write(() => this.attemptTransaction(work), wait);
  }

  /** Locks for writing at the start: a read lock that is upgraded could find a newer version. */
  private attemptTransaction<T>(work: () => T): T {
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

  private prepareOnce(sql: string): SqliteStatement {
    const statement =
      this.statements.get(sql) ?? (this.options.database.prepare(sql) as SqliteStatement);
    this.statements.set(sql, statement);
    return statement;
  }
}
