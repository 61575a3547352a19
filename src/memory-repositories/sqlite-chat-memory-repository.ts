import { describe, type Message } from '../chat/message.js';
import { InvalidArgumentError, MemoryConflictError } from '../errors.js';
import {
  checkConversationId,
  checkCounts,
  checkListing,
  checkWrite,
  checkReplacement,
  type ChatMemoryRepository,
  type ConversationIdsOptions,
  type ConversationLog,
  type ReadOptions,
  type ReplaceOptions,
  type WriteOptions,
} from '../memory/chat-memory-repository.js';
import { behindPrefix, encodeMessages, fromJoin, tableName, type LogRow } from './sql.js';

/** The part of a synchronous SQLite client that is used; `libsql`, `better-sqlite3` and `node:sqlite` have it. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  /** Gives a statement with `run(…values)` and `all(…values)`. */
  prepare(sql: string): unknown;
  close(): unknown;
}

interface Statement {
  run(...values: readonly (string | number | null)[]): unknown;
  all(...values: readonly (string | number | null)[]): unknown;
}

/** Options of a {@link SqliteChatMemoryRepository}. */
export interface SqliteChatMemoryRepositoryOptions {
  /** An open database; `SqliteChatMemoryRepository.open(file)` makes one. It stays the caller's. */
  readonly database: SqliteDatabase;
  /** What the names of the two tables begin with. @default 'chat_memory' */
  readonly tablePrefix?: string | undefined;
}

/** Milliseconds to wait for other writers. */
const PATIENCE = 10_000;

/**
 * Keeps conversations in a SQLite database: a file or `:memory:`. Several processes may use one file. Call {@link migrate} once
 * before the first use.
 */
export class SqliteChatMemoryRepository implements ChatMemoryRepository {
  readonly capabilities = { durable: true, transactional: true, storesToolMessages: true } as const;
  private readonly conversations: string;
  private readonly messages: string;
  private readonly statements = new Map<string, Statement>();

  /** @throws {@link InvalidArgumentError} if an option cannot be used */
  constructor(private readonly options: SqliteChatMemoryRepositoryOptions) {
    const { database, tablePrefix = 'chat_memory' } = options ?? {};
    if (typeof database?.prepare !== 'function' || typeof database.exec !== 'function')
      throw new InvalidArgumentError(`SqliteChatMemoryRepository: database must be an open SQLite database, not ${describe(database)}`);
    this.conversations = tableName(tablePrefix, 'conversation', 'SqliteChatMemoryRepository: tablePrefix');
    this.messages = tableName(tablePrefix, 'message', 'SqliteChatMemoryRepository: tablePrefix');
  }

  /**
   * Opens a database with `libsql`, ready to use: tables made, write-ahead log, every commit synced, ten seconds of patience with
   * other writers.
   * @param file a path, or `:memory:`
   * @throws {@link InvalidArgumentError} if `libsql` is not installed, and what SQLite throws if the file cannot be used or stays locked
   */
  static async open(file: string, options: Omit<SqliteChatMemoryRepositoryOptions, 'database'> = {}): Promise<SqliteChatMemoryRepository> {
    const { default: Database } = await import('libsql').catch((cause: unknown) => {
      throw new InvalidArgumentError('SqliteChatMemoryRepository.open needs the package libsql: npm install libsql@^0.5', { cause });
    });
    const database: SqliteDatabase = new Database(file);
    try {
      const repository = new SqliteChatMemoryRepository({ ...options, database });
      const pragma = (setting: string): unknown => (database.prepare(`PRAGMA ${setting}`) as Statement).all();
      pragma(`busy_timeout = ${PATIENCE}`);
      await patiently(() => pragma('journal_mode = WAL'));
      pragma('synchronous = FULL');
      await repository.migrate();
      return repository;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Makes the tables where they are not there yet. */
  async migrate(): Promise<void> {
    this.options.database.exec(`
      CREATE TABLE IF NOT EXISTS ${this.conversations} (id TEXT PRIMARY KEY, version INTEGER NOT NULL, system TEXT);
      CREATE TABLE IF NOT EXISTS ${this.messages} (
        conversation TEXT NOT NULL, version INTEGER NOT NULL, turn TEXT, message TEXT NOT NULL, PRIMARY KEY (conversation, version)
      );`);
  }

  /** Closes the database. */
  async close(): Promise<void> {
    this.options.database.close();
  }

  async append(conversationId: string, messages: readonly Message[], options: WriteOptions = {}): Promise<number> {
    checkConversationId(conversationId, 'append');
    return this.write(conversationId, messages, options, false);
  }

  async read(conversationId: string, { limit, beforeVersion }: ReadOptions = {}): Promise<ConversationLog> {
    checkConversationId(conversationId, 'read');
    checkCounts({ limit, beforeVersion }, 'read');
    // one statement, so that what it sees is of one moment
    const rows = this.all(
      `SELECT head.version AS head, head.system, m.version, m.turn, m.message
       FROM ${this.conversations} head LEFT JOIN (
         SELECT version, turn, message FROM ${this.messages} WHERE conversation = ? AND version < ? ORDER BY version DESC LIMIT ?
       ) m WHERE head.id = ? ORDER BY m.version`,
      conversationId,
      beforeVersion ?? Number.MAX_SAFE_INTEGER,
      limit ?? -1,
      conversationId,
    ) as readonly LogRow[];
    return fromJoin(rows);
  }

  async replace(conversationId: string, messages: readonly Message[], options: ReplaceOptions): Promise<number> {
    checkConversationId(conversationId, 'replace');
    checkReplacement(options);
    return this.write(conversationId, messages, options, true);
  }

  async delete(conversationId: string): Promise<void> {
    checkConversationId(conversationId, 'delete');
    this.transaction(() => {
      this.run(`DELETE FROM ${this.messages} WHERE conversation = ?`, conversationId);
      this.run(`DELETE FROM ${this.conversations} WHERE id = ?`, conversationId);
    });
  }

  async conversationIds({ prefix = '', after = '', limit = 100 }: ConversationIdsOptions = {}): Promise<readonly string[]> {
    checkListing({ prefix, after, limit }, 'conversationIds');
    const end = behindPrefix(prefix);
    const rows = this.all(
      `SELECT id FROM ${this.conversations} WHERE id >= ? AND id > ? ${end === undefined ? '' : 'AND id < ?'} ORDER BY id LIMIT ?`,
      prefix,
      after,
      ...(end === undefined ? [] : [end]),
      limit,
    ) as readonly { readonly id: string }[];
    return rows.map(({ id }) => id);
  }

  private write(id: string, messages: readonly Message[], options: WriteOptions, isReplacing: boolean): number {
    checkWrite(options, isReplacing ? 'replace' : 'append');
    const { expectedVersion, turnId } = options;
    const { texts, system } = encodeMessages(messages);
    return this.transaction(() => {
      const [head] = this.all(`SELECT version, system FROM ${this.conversations} WHERE id = ?`, id) as readonly Head[];
      const present = head?.version ?? 0;
      if (expectedVersion !== undefined && expectedVersion !== present) throw new MemoryConflictError(id, expectedVersion, present);
      if (texts.length === 0 && !isReplacing) return present;
      if (isReplacing) this.run(`DELETE FROM ${this.messages} WHERE conversation = ?`, id);
      const insert = `INSERT INTO ${this.messages} (conversation, version, turn, message) VALUES (?, ?, ?, ?)`;
      texts.forEach((text, at) => this.run(insert, id, present + at + 1, turnId ?? null, text));
      const version = present + Math.max(texts.length, isReplacing ? 1 : 0);
      this.run(
        `INSERT INTO ${this.conversations} (id, version, system) VALUES (?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET version = excluded.version, system = excluded.system`,
        id,
        version,
        system ?? (isReplacing ? null : (head?.system ?? null)),
      );
      return version;
    });
  }

  /** Takes the lock for writing at once: taken later, another writer could come in between. */
  private transaction<T>(work: () => T): T {
    const { database } = this.options;
    database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  private rollBack(): void {
    try {
      this.options.database.exec('ROLLBACK');
    } catch {
      // after some errors (a full disk) SQLite has rolled back by itself; the first error is the one that matters
    }
  }

  private all(sql: string, ...values: readonly (string | number | null)[]): unknown {
    return this.statement(sql).all(...values);
  }

  private run(sql: string, ...values: readonly (string | number | null)[]): void {
    this.statement(sql).run(...values);
  }

  private statement(sql: string): Statement {
    let statement = this.statements.get(sql);
    if (!statement) this.statements.set(sql, (statement = this.options.database.prepare(sql) as Statement));
    return statement;
  }
}

/** With those who make a file one with a write-ahead log at the same time, SQLite itself has no patience: each holds what the others want. */
async function patiently(work: () => unknown): Promise<void> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      const isBusy = String((error as { readonly code?: unknown } | undefined)?.code).startsWith('SQLITE_BUSY');
      if (!isBusy || performance.now() > end) throw error;
    }
    // not all at once again
    await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 20));
  }
}

interface Head {
  readonly version: number;
  readonly system: string | null;
}
