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
import { behindPrefix, encodeMessages, fromJoin, identifier, tableName, type LogRow } from './sql.js';

/** The part of a PostgreSQL client that is used; a `Pool` or `Client` of `pg`, and `PGlite`, have it. */
export interface PostgresClient {
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Options of a {@link PostgresChatMemoryRepository}. */
export interface PostgresChatMemoryRepositoryOptions {
  /** A pool or a connected client; it stays the caller's. */
  readonly client: PostgresClient;
  /** The schema of the tables, which must exist. @default the first of the search path */
  readonly schema?: string | undefined;
  /** What the names of the two tables begin with. @default 'chat_memory' */
  readonly tablePrefix?: string | undefined;
}

/**
 * Keeps conversations in a PostgreSQL database. Each operation is one statement, so a pool will do. Call {@link migrate} once before
 * the first use.
 */
export class PostgresChatMemoryRepository implements ChatMemoryRepository {
  readonly capabilities = { durable: true, transactional: true, storesToolMessages: true } as const;
  private readonly client: PostgresClient;
  private readonly conversations: string;
  private readonly messages: string;

  /** @throws {@link InvalidArgumentError} if an option cannot be used */
  constructor(options: PostgresChatMemoryRepositoryOptions) {
    const { client, schema, tablePrefix = 'chat_memory' } = options ?? {};
    if (typeof client?.query !== 'function')
      throw new InvalidArgumentError(
        `PostgresChatMemoryRepository: client must have a method query, as a Pool of pg has, not ${describe(client)}`,
      );
    const place = schema === undefined ? '' : `${identifier(schema, 'PostgresChatMemoryRepository: schema')}.`;
    this.client = client;
    this.conversations = `${place}${tableName(tablePrefix, 'conversation', 'PostgresChatMemoryRepository: tablePrefix')}`;
    this.messages = `${place}${tableName(tablePrefix, 'message', 'PostgresChatMemoryRepository: tablePrefix')}`;
  }

  /** Makes the tables where they are not there yet; any number of processes may do so at once. */
  async migrate(): Promise<void> {
    // "C" orders by bytes; the lock is needed since IF NOT EXISTS alone fails where two sessions make a table at the same time. A role
    // that may not make tables can call this too, once they are there.
    await this.client.query(`DO $$ BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('advisor-chain chat memory', 0));
      IF to_regclass('${this.messages}') IS NULL THEN
        CREATE TABLE IF NOT EXISTS ${this.conversations} (id text COLLATE "C" PRIMARY KEY, version bigint NOT NULL, system text);
        CREATE TABLE ${this.messages} (
          conversation text COLLATE "C" NOT NULL, version bigint NOT NULL, turn text, message text NOT NULL,
          PRIMARY KEY (conversation, version)
        );
      END IF;
      IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = '${this.messages}'::regclass AND contype = 'f') THEN
        DELETE FROM ${this.messages} m WHERE NOT EXISTS (SELECT FROM ${this.conversations} c WHERE c.id = m.conversation);
        ALTER TABLE ${this.messages} ADD FOREIGN KEY (conversation) REFERENCES ${this.conversations} (id) ON DELETE CASCADE;
      END IF;
    END $$`);
  }

  async append(conversationId: string, messages: readonly Message[], options: WriteOptions = {}): Promise<number> {
    checkConversationId(conversationId, 'append');
    checkWrite(options, 'append');
    if (messages.length === 0) return this.versionOf(conversationId, options.expectedVersion);
    return this.write(conversationId, messages, options, false);
  }

  async read(conversationId: string, { limit, beforeVersion }: ReadOptions = {}): Promise<ConversationLog> {
    checkConversationId(conversationId, 'read');
    checkCounts({ limit, beforeVersion }, 'read');
    const { rows } = await this.client.query(
      `SELECT head.version AS head, head.system, m.version, m.turn, m.message
       FROM ${this.conversations} head LEFT JOIN LATERAL (
         SELECT version, turn, message FROM ${this.messages}
         WHERE conversation = head.id AND version < $2 ORDER BY version DESC LIMIT $3
       ) m ON true WHERE head.id = $1 ORDER BY m.version`,
      [conversationId, beforeVersion ?? Number.MAX_SAFE_INTEGER, limit ?? null],
    );
    return fromJoin(rows as readonly LogRow[]);
  }

  async replace(conversationId: string, messages: readonly Message[], options: ReplaceOptions): Promise<number> {
    checkConversationId(conversationId, 'replace');
    checkReplacement(options);
    checkWrite(options, 'replace');
    return this.write(conversationId, messages, options, true);
  }

  async delete(conversationId: string): Promise<void> {
    checkConversationId(conversationId, 'delete');
    // the messages go with it by their foreign key, also those that were written while this waited: a second part of the statement
    // would not see them
    await this.client.query(`DELETE FROM ${this.conversations} WHERE id = $1`, [conversationId]);
  }

  async conversationIds({ prefix = '', after = '', limit = 100 }: ConversationIdsOptions = {}): Promise<readonly string[]> {
    checkListing({ prefix, after, limit }, 'conversationIds');
    const { rows } = await this.client.query(
      `SELECT id FROM ${this.conversations} WHERE id >= $1 AND id > $2 AND ($3::text IS NULL OR id < $3) ORDER BY id LIMIT $4`,
      [prefix, after, behindPrefix(prefix) ?? null, limit],
    );
    return (rows as readonly { readonly id: string }[]).map(({ id }) => id);
  }

  /** One statement: the row of the conversation is locked until it ends, so writers come one after another, each whole. */
  private async write(id: string, messages: readonly Message[], options: WriteOptions, isReplacing: boolean): Promise<number> {
    const { expectedVersion, turnId } = options;
    const { texts, system: text } = encodeMessages(messages);
    const system = isReplacing ? '$3' : 'coalesce($3, head.system)';
    const { rows } = await this.client.query(
      `WITH known AS (
         UPDATE ${this.conversations} AS head SET version = head.version + $2::bigint, system = ${system}
         WHERE id = $1 AND head.version = $4::bigint AND $4 > 0
         RETURNING version
       ), any_version AS (
         INSERT INTO ${this.conversations} AS head (id, version, system)
         SELECT $1, $2, $3 WHERE $4 IS NULL OR $4 = 0
         ON CONFLICT (id) DO UPDATE SET version = head.version + $2, system = ${system}
         WHERE $4 IS NULL
         RETURNING version
       ), head AS (SELECT version FROM known UNION ALL SELECT version FROM any_version)${isReplacing ? `, gone AS (DELETE FROM ${this.messages} WHERE conversation = $1 AND EXISTS (SELECT FROM head))` : ''}, added AS (
         INSERT INTO ${this.messages} (conversation, version, turn, message)
         SELECT $1, head.version - $2 + at, $5, text FROM head, unnest($6::text[]) WITH ORDINALITY AS given (text, at)
       ) SELECT version FROM head`,
      [id, Math.max(texts.length, 1), text, expectedVersion ?? null, turnId ?? null, texts],
    );
    const [row] = rows as readonly { readonly version: string | number }[];
    if (row) return Number(row.version);
    throw new MemoryConflictError(id, expectedVersion ?? 0, await this.versionOf(id));
  }

  private async versionOf(id: string, expected?: number): Promise<number> {
    const { rows } = await this.client.query(`SELECT version FROM ${this.conversations} WHERE id = $1`, [id]);
    const version = Number((rows as readonly { readonly version: string | number }[])[0]?.version ?? 0);
    if (expected !== undefined && expected !== version) throw new MemoryConflictError(id, expected, version);
    return version;
  }
}
