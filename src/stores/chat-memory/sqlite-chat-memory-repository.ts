import { CHECKED_APART, checkOptions } from '../../core/internal/options.js';
import { quoteName } from '../databases/sql-name.js';
import {
  openSqlite,
  SQLITE_RULES,
  SqliteConnection,
  type SqliteDatabase,
  type SqliteOptions,
} from '../databases/sqlite.js';
import type { ReadOptions } from './chat-memory-repository.js';
import {
  CheckedChatMemoryRepository,
  DECODING_RULES,
  type DecodingOptions,
} from './checked-chat-memory-repository.js';
import { checkPlace, toLog, type EncodedLog, type EncodedWrite } from './encoded-write.js';

export type { SqliteDatabase };

/** Options of a {@link SqliteChatMemoryRepository}. The `signal` of a read or write ends its wait for locks. */
export interface SqliteChatMemoryRepositoryOptions extends DecodingOptions, SqliteOptions {
  /** Prefix of the names of the three tables. @default 'chat_memory' */
  readonly tablePrefix?: string | undefined;
}

const WHERE = 'SqliteChatMemoryRepository';

/**
 * Stores conversations in a SQLite database: a file or `:memory:`. Several processes may use one
 * file. Call {@link migrate} once before the first use.
 */
export class SqliteChatMemoryRepository extends CheckedChatMemoryRepository {
  private readonly conversations: string;
  private readonly messages: string;
  private readonly writes: string;
  private readonly turnIndex: string;
  private readonly sqlite: SqliteConnection;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: SqliteChatMemoryRepositoryOptions) {
    super(WHERE, options);
    checkOptions(WHERE, options, {
      ...DECODING_RULES,
      ...SQLITE_RULES,
      tablePrefix: CHECKED_APART,
    });
    this.sqlite = new SqliteConnection(options);
    const { tablePrefix = 'chat_memory' } = options;
    this.conversations = quoteName(WHERE, 'tablePrefix', tablePrefix, '_conversation');
    this.messages = quoteName(WHERE, 'tablePrefix', tablePrefix, '_message');
    this.writes = quoteName(WHERE, 'tablePrefix', tablePrefix, '_write');
    this.turnIndex = quoteName(WHERE, 'tablePrefix', tablePrefix, '_turn');
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
    return openSqlite(WHERE, file, async (database) => {
      const repository = new SqliteChatMemoryRepository({ ...options, database });
      await repository.sqlite.useAlone();
      await repository.migrate();
      return repository;
    });
  }

  /** Creates missing tables, and what an earlier version of the package has not created. */
  async migrate(): Promise<void> {
    await this.sqlite.migrate(`
      CREATE TABLE IF NOT EXISTS ${this.conversations} (id TEXT PRIMARY KEY, version INTEGER NOT NULL, system TEXT);
      CREATE TABLE IF NOT EXISTS ${this.messages} (
        conversation TEXT NOT NULL, version INTEGER NOT NULL, turn TEXT, message TEXT NOT NULL, PRIMARY KEY (conversation, version)
      );
      CREATE INDEX IF NOT EXISTS ${this.turnIndex} ON ${this.messages} (conversation, turn);
      CREATE TABLE IF NOT EXISTS ${this.writes} (
        conversation TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (conversation, id)
      ) WITHOUT ROWID;`);
  }

  /** Closes the database after the writes under way. */
  async close(): Promise<void> {
    await this.sqlite.close();
  }

  protected async readLog(id: string, options: ReadOptions): Promise<EncodedLog> {
    const { limit = -1, beforeVersion = Number.MAX_SAFE_INTEGER } = options;
    const sql = `SELECT head.version AS head, head.system, m.version, m.turn, m.message
       FROM ${this.conversations} head LEFT JOIN (
         SELECT version, turn, message FROM ${this.messages} WHERE conversation = ? AND version < ? ORDER BY version DESC LIMIT ?
       ) m WHERE head.id = ? ORDER BY m.version`;
    return toLog(await this.sqlite.read(sql, [id, beforeVersion, limit, id], options));
  }

  protected async deleteLog(id: string): Promise<void> {
    await this.sqlite.transaction(() => {
      for (const table of [this.messages, this.writes])
        this.sqlite.run(`DELETE FROM ${table} WHERE conversation = ?`, id);
      this.sqlite.run(`DELETE FROM ${this.conversations} WHERE id = ?`, id);
    });
  }

  protected async listIds(prefix: string, after: string, limit: number): Promise<string[]> {
    const sql = `SELECT id FROM ${this.conversations} WHERE id >= ? AND id > ? ORDER BY id LIMIT ?`;
    const rows = await this.sqlite.read(sql, [prefix, after, limit]);
    return rows.map((row) => (row as { readonly id: string }).id);
  }

  protected writeLog(id: string, write: EncodedWrite): Promise<number> {
    const { writeId, endId, isReplacing } = write;
    const work = (): number => {
      const isKnown = 'conversation = ? AND id IN (?, ?)';
      const known = this.versionOf(this.writes, isKnown, id, writeId, endId);
      if (known !== undefined) return known;
      const present = this.versionOf(this.conversations, 'id = ?', id) ?? 0;
      this.checkWrite(id, write, present);
      if (isReplacing) this.deleteMessages(id);
      else this.deleteSuperseded(id, write);
      const insert = `INSERT INTO ${this.messages} (conversation, version, turn, message) VALUES (?, ?, ?, ?)`;
      for (const [at, { turn, message }] of write.entries.entries())
        this.sqlite.run(insert, id, present + at + 1, turn, message);
      const version = present + Math.max(write.entries.length, 1);
      this.writeHead(id, version, write);
      return version;
    };
    return this.sqlite.transaction(work, write);
  }

  private checkWrite(id: string, write: EncodedWrite, present: number): void {
    const rowsWhere = (where: string, ...values: readonly unknown[]): readonly unknown[] =>
      this.sqlite.all(
        `SELECT turn FROM ${this.messages} WHERE conversation = ? AND ${where} LIMIT 1`,
        id,
        ...values,
      );
    const turnAt = (version: number): string | null | undefined => {
      const [row] = rowsWhere('version = ?', version) as readonly {
        readonly turn: string | null;
      }[];
      return row?.turn;
    };
    const hasOthers = (version: number): boolean =>
      rowsWhere('version > ? AND turn IS NOT ?', version, write.turn).length > 0;
    checkPlace(id, write, present, turnAt, hasOthers);
  }

  private deleteSuperseded(id: string, { turn, supersedesAfter }: EncodedWrite): void {
    if (supersedesAfter === undefined) return;
    this.sqlite.run(
      `DELETE FROM ${this.messages} WHERE conversation = ? AND turn = ? AND version > ?`,
      id,
      turn,
      supersedesAfter,
    );
  }

  private versionOf(table: string, where: string, ...values: readonly string[]) {
    const rows = this.sqlite.all(`SELECT version FROM ${table} WHERE ${where}`, ...values);
    const [row] = rows as readonly { readonly version: number | string }[];
    return row && Number(row.version);
  }

  /** Deletes the messages, and the ids of writes whose messages were deleted before. */
  private deleteMessages(id: string): void {
    this.sqlite.run(
      `DELETE FROM ${this.writes} WHERE conversation = ? AND version < (SELECT min(version) FROM ${this.messages} WHERE conversation = ?)`,
      id,
      id,
    );
    this.sqlite.run(`DELETE FROM ${this.messages} WHERE conversation = ?`, id);
  }

  private writeHead(id: string, version: number, { system, writeId, isReplacing }: EncodedWrite) {
    this.sqlite.run(
      `INSERT INTO ${this.conversations} (id, version, system) VALUES (?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET version = excluded.version,
         system = ${isReplacing ? 'excluded.system' : 'coalesce(excluded.system, system)'}`,
      id,
      version,
      system,
    );
    const insert = `INSERT INTO ${this.writes} (conversation, id, version) VALUES (?, ?, ?)`;
    this.sqlite.run(insert, id, writeId, version);
  }

  /** A transaction that fails is rolled back. */
  protected isRefused(): boolean {
    return true;
  }
}
