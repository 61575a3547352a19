import { MemoryConflictError } from '../memory/memory-error.js';
import {
  checkPostgresClient,
  isRefusedByPostgres,
  isUniqueViolation,
  type PostgresClient,
  type PostgresOptions,
} from '../databases/postgres.js';
import { quoteName } from '../databases/sql-name.js';
import { type ReadOptions } from '../memory/chat-memory-repository.js';
import {
  CheckedChatMemoryRepository,
  type DecodingOptions,
  type EncodedLog,
  type EncodedWrite,
} from '../memory/checked-chat-memory-repository.js';
import { toLog } from './sql.js';

export type { PostgresClient };

/** Options of a {@link PostgresChatMemoryRepository}. */
export interface PostgresChatMemoryRepositoryOptions extends DecodingOptions, PostgresOptions {
  /** Prefix of the names of the three tables. @default 'chat_memory' */
  readonly tablePrefix?: string | undefined;
}

const WHERE = 'PostgresChatMemoryRepository';

/**
 * Stores conversations in a PostgreSQL database. Each operation is one statement, so that a pool
 * suffices. Call {@link migrate} once before the first use.
 */
export class PostgresChatMemoryRepository extends CheckedChatMemoryRepository {
  private readonly client: PostgresClient;
  private readonly conversations: string;
  private readonly messages: string;
  private readonly writes: string;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: PostgresChatMemoryRepositoryOptions) {
    super(WHERE, options);
    const { client, schema, tablePrefix = 'chat_memory' } = options ?? {};
    checkPostgresClient(WHERE, client);
    const path = schema === undefined ? '' : `${quoteName(WHERE, 'schema', schema)}.`;
    this.client = client;
    this.conversations = path + quoteName(WHERE, 'tablePrefix', tablePrefix, '_conversation');
    this.messages = path + quoteName(WHERE, 'tablePrefix', tablePrefix, '_message');
    this.writes = path + quoteName(WHERE, 'tablePrefix', tablePrefix, '_write');
  }

  /** Creates missing tables; any number of processes may call it concurrently. */
  async migrate(): Promise<void> {
    // Collation "C" orders by bytes. IF NOT EXISTS alone fails where two sessions create a table
    // concurrently. Roles that may not create tables can call this once the tables exist.
    await this.client.query(`DO $$ BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('advisor-chain chat memory', 0));
      IF to_regclass('${this.writes}') IS NULL THEN
        CREATE TABLE IF NOT EXISTS ${this.conversations} (id text COLLATE "C" PRIMARY KEY, version bigint NOT NULL, system text);
        CREATE TABLE IF NOT EXISTS ${this.messages} (
          conversation text COLLATE "C" NOT NULL REFERENCES ${this.conversations} (id) ON DELETE CASCADE,
          version bigint NOT NULL, turn text, message text NOT NULL,
          PRIMARY KEY (conversation, version)
        );
        CREATE TABLE ${this.writes} (
          conversation text COLLATE "C" NOT NULL REFERENCES ${this.conversations} (id) ON DELETE CASCADE,
          id text COLLATE "C" NOT NULL, version bigint NOT NULL,
          PRIMARY KEY (conversation, id)
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

  protected async writeLog(id: string, write: EncodedWrite): Promise<number> {
    const rows = await this.tryWrite(id, write).catch((error: unknown) => {
      // another statement has stored this write meanwhile
      if (isUniqueViolation(error)) return [];
      throw error;
    });
    const [row] = rows as readonly { readonly version: number | string }[];
    return row ? Number(row.version) : this.versionOfWrite(id, write);
  }

  /**
   * One statement locks the row of the conversation until it ends: writers wait for each other.
   * Returns no row if the conversation does not have the expected version.
   */
  private async tryWrite(id: string, write: EncodedWrite): Promise<readonly unknown[]> {
    const { texts, system: text, turn, writeId, expectedVersion, isReplacing } = write;
    const system = isReplacing ? '$3' : 'coalesce($3, head.system)';
    const isNew = 'NOT EXISTS (SELECT FROM known)';
    const { rows } = await this.client.query(
      `WITH known AS (SELECT version FROM ${this.writes} WHERE conversation = $1 AND id = $7), expected AS (
         UPDATE ${this.conversations} AS head SET version = head.version + $2::bigint, system = ${system}
         WHERE id = $1 AND head.version = $4::bigint AND $4 > 0 AND ${isNew}
         RETURNING version
       ), any_version AS (
         INSERT INTO ${this.conversations} AS head (id, version, system)
         SELECT $1, $2, $3 WHERE ($4 IS NULL OR $4 = 0) AND ${isNew}
         ON CONFLICT (id) DO UPDATE SET version = head.version + $2, system = ${system}
         WHERE $4 IS NULL
         RETURNING version
       ), head AS (SELECT version FROM expected UNION ALL SELECT version FROM any_version)${isReplacing ? this.deletions() : ''}, noted AS (
         INSERT INTO ${this.writes} (conversation, id, version) SELECT $1, $7, version FROM head
       ), added AS (
         INSERT INTO ${this.messages} (conversation, version, turn, message)
         SELECT $1, head.version - $2 + at, $5, text FROM head, unnest($6::text[]) WITH ORDINALITY AS given (text, at)
       ) SELECT version FROM head UNION ALL SELECT version FROM known`,
      [id, Math.max(texts.length, 1), text, expectedVersion ?? null, turn, texts, writeId],
    );
    return rows;
  }

  /** Parts of a statement: delete the messages, and ids of writes whose messages were deleted before. */
  private deletions(): string {
    const ofConversation = 'conversation = $1 AND EXISTS (SELECT FROM head)';
    return `, forgotten AS (
         DELETE FROM ${this.writes} WHERE ${ofConversation}
         AND version < (SELECT min(version) FROM ${this.messages} WHERE conversation = $1)
       ), gone AS (DELETE FROM ${this.messages} WHERE ${ofConversation})`;
  }

  private async versionOfWrite(id: string, write: EncodedWrite): Promise<number> {
    const { rows } = await this.client.query(
      `SELECT (SELECT version FROM ${this.writes} WHERE conversation = $1 AND id = $2) AS made,
              (SELECT version FROM ${this.conversations} WHERE id = $1) AS present`,
      [id, write.writeId],
    );
    const [{ made, present }] = rows as [
      Readonly<Record<'made' | 'present', number | string | null>>,
    ];
    if (made !== null) return Number(made);
    throw new MemoryConflictError(id, write.expectedVersion ?? 0, Number(present));
  }

  protected isRefused(error: unknown): boolean {
    return isRefusedByPostgres(error);
  }
}
