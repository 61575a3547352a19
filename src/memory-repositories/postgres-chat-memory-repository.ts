import { MemoryConflictError } from '../memory/memory-error.js';
import { checkOption, withMethods } from '../internal/options.js';
import {
  CheckedChatMemoryRepository,
  type EncodedLog,
  type EncodedWrite,
  type ReadOptions,
} from '../memory/chat-memory-repository.js';
import { quoteName, toLog } from './sql.js';

/** The required part of a PostgreSQL client: a `Pool` or `Client` of `pg`, or `PGlite`. */
export interface PostgresClient {
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Options of a {@link PostgresChatMemoryRepository}. */
export interface PostgresChatMemoryRepositoryOptions {
  /** A pool or a connected client; the caller closes it. */
  readonly client: PostgresClient;
  /** Existing schema for the tables. @default the first of the search path */
  readonly schema?: string | undefined;
  /** Prefix of the names of the two tables. @default 'chat_memory' */
  readonly tablePrefix?: string | undefined;
}

const WHERE = 'PostgresChatMemoryRepository';
const CLIENT = withMethods('a client with a method query, such as a Pool of pg', 'query');

/**
 * Stores conversations in a PostgreSQL database. Each operation is one statement, so that a pool
 * suffices. Call {@link migrate} once before the first use.
 */
export class PostgresChatMemoryRepository extends CheckedChatMemoryRepository {
  private readonly client: PostgresClient;
  private readonly conversations: string;
  private readonly messages: string;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: PostgresChatMemoryRepositoryOptions) {
    super();
    const { client, schema, tablePrefix = 'chat_memory' } = options ?? {};
    checkOption(WHERE, 'client', client, CLIENT);
    const path = schema === undefined ? '' : `${quoteName(WHERE, 'schema', schema)}.`;
    this.client = client;
    this.conversations = path + quoteName(WHERE, 'tablePrefix', tablePrefix, '_conversation');
    this.messages = path + quoteName(WHERE, 'tablePrefix', tablePrefix, '_message');
  }

  /** Creates missing tables; any number of processes may call it concurrently. */
  async migrate(): Promise<void> {
    // Collation "C" orders by bytes. IF NOT EXISTS alone fails where two sessions create a table
    // concurrently. Roles that may not create tables can call this once the tables exist.
    await this.client.query(`DO $$ BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('advisor-chain chat memory', 0));
      IF to_regclass('${this.messages}') IS NULL THEN
        CREATE TABLE IF NOT EXISTS ${this.conversations} (id text COLLATE "C" PRIMARY KEY, version bigint NOT NULL, system text);
        CREATE TABLE ${this.messages} (
          conversation text COLLATE "C" NOT NULL REFERENCES ${this.conversations} (id) ON DELETE CASCADE,
          version bigint NOT NULL, turn text, message text NOT NULL,
          PRIMARY KEY (conversation, version)
        );
      END IF;
    END $$`);
  }

  protected async readLog(id: string, options: ReadOptions): Promise<EncodedLog> {
    const { limit, beforeVersion } = options;
    const { rows } = await this.client.query(
      `SELECT head.version AS head, head.system, m.version, m.turn, m.message
       FROM ${this.conversations} head LEFT JOIN LATERAL (
         SELECT version, turn, message FROM ${this.messages}
         WHERE conversation = head.id AND version < $2 ORDER BY version DESC LIMIT $3
       ) m ON true WHERE head.id = $1 ORDER BY m.version`,
      [id, beforeVersion ?? Number.MAX_SAFE_INTEGER, limit ?? null],
    );
    return toLog(rows);
  }

  protected async deleteLog(id: string): Promise<void> {
    // The foreign key deletes the messages too, also those written while this statement waited for
    // the lock; a second part of the statement would not see them.
    await this.client.query(`DELETE FROM ${this.conversations} WHERE id = $1`, [id]);
  }

  protected async listIds(prefix: string, after: string, limit: number): Promise<string[]> {
    const { rows } = await this.client.query(
      `SELECT id FROM ${this.conversations} WHERE id >= $1 AND id > $2 ORDER BY id LIMIT $3`,
      [prefix, after, limit],
    );
    return rows.map((row) => (row as { readonly id: string }).id);
  }

  /** One statement locks the row of the conversation until it ends: writers wait for each other. */
  protected async writeLog(id: string, write: EncodedWrite): Promise<number> {
    const { texts, system: text, turn, expectedVersion, isReplacing } = write;
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
      [id, Math.max(texts.length, 1), text, expectedVersion ?? null, turn, texts],
    );
    const [row] = rows as readonly { readonly version: number | string }[];
    if (row) return Number(row.version);
    const { version } = await this.readLog(id, { limit: 0 });
    throw new MemoryConflictError(id, expectedVersion ?? 0, Number(version));
  }
}
