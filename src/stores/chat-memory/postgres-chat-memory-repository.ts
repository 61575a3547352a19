import { CHECKED_APART, checkOptions } from '../../core/internal/options.js';
import {
  isRefusedByPostgres,
  isUniqueViolation,
  POSTGRES_RULES,
  type PostgresClient,
  type PostgresOptions,
} from '../databases/postgres.js';
import { quoteName } from '../databases/sql-name.js';
import { type ReadOptions } from './chat-memory-repository.js';
import {
  CheckedChatMemoryRepository,
  DECODING_RULES,
  type DecodingOptions,
} from './checked-chat-memory-repository.js';
import { checkPlace, toLog, type EncodedLog, type EncodedWrite } from './encoded-write.js';

export type { PostgresClient };

/** Options of a {@link PostgresChatMemoryRepository}. */
export interface PostgresChatMemoryRepositoryOptions extends DecodingOptions, PostgresOptions {
  /** Prefix of the names of the three tables. @default 'chat_memory' */
  readonly tablePrefix?: string | undefined;
}

const WHERE = 'PostgresChatMemoryRepository';

/** A write that has not been made, or not now, and the place in the log that it was for. */
interface WriteState {
  readonly made: number | string | null;
  readonly present: number | string | null;
  /** Turn of the message after which the turn is superseded. */
  readonly place: string | null;
  /** True if messages of other turns come after the expected version. */
  readonly others: boolean;
}

/**
 * Stores conversations in a PostgreSQL database. Each operation is one statement, so that a pool
 * suffices. Call {@link migrate} once before the first use.
 */
export class PostgresChatMemoryRepository extends CheckedChatMemoryRepository {
  private readonly client: PostgresClient;
  private readonly conversations: string;
  private readonly messages: string;
  private readonly writes: string;
  private readonly turnIndex: string;
  private readonly path: string;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: PostgresChatMemoryRepositoryOptions) {
    super(WHERE, options);
    checkOptions(WHERE, options, {
      ...DECODING_RULES,
      ...POSTGRES_RULES,
      tablePrefix: CHECKED_APART,
    });
    const { client, schema, tablePrefix = 'chat_memory' } = options;
    const path = schema === undefined ? '' : `${quoteName(WHERE, 'schema', schema)}.`;
    this.client = client;
    this.path = path;
    this.conversations = path + quoteName(WHERE, 'tablePrefix', tablePrefix, '_conversation');
    this.messages = path + quoteName(WHERE, 'tablePrefix', tablePrefix, '_message');
    this.writes = path + quoteName(WHERE, 'tablePrefix', tablePrefix, '_write');
    this.turnIndex = quoteName(WHERE, 'tablePrefix', tablePrefix, '_turn');
  }

  /**
   * Creates missing tables, and what an earlier version of the package has not created; any number of
   * processes may call it concurrently.
   */
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
      IF to_regclass('${this.path}${this.turnIndex}') IS NULL THEN
        CREATE INDEX IF NOT EXISTS ${this.turnIndex} ON ${this.messages} (conversation, turn);
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
    for (;;) {
      const rows = await this.tryWrite(id, write).catch((error: unknown) => {
        // another statement has stored this write meanwhile
        if (isUniqueViolation(error)) return [];
        throw error;
      });
      const [row] = rows as readonly { readonly version: number | string }[];
      const version = row ? Number(row.version) : await this.versionOfWrite(id, write);
      if (version !== undefined) return version;
    }
  }

  /**
   * One statement locks the row of the conversation until it ends: writers wait for each other.
   * Returns no row if the write does not fit to the conversation, or if it supersedes and another one
   * was faster: a statement does not see what was written while it waited.
   */
  private async tryWrite(id: string, write: EncodedWrite): Promise<readonly unknown[]> {
    const { entries, turn, writeId, expectedVersion, supersedesAfter, isReplacing } = write;
    const isSuperseding = supersedesAfter !== undefined;
    const system = isReplacing ? '$3' : 'coalesce($3, head.system)';
    const head = isSuperseding ? this.headAsSeen(system) : this.headAsExpected(system);
    const deletions = isReplacing ? this.deletions() : '';
    const superseded = `, superseded AS (DELETE FROM ${this.messages} WHERE conversation = $1 AND turn = $9 AND version > $10 AND EXISTS (SELECT FROM head))`;
    const { rows } = await this.client.query(
      `WITH known AS (
         SELECT version FROM ${this.writes} WHERE conversation = $1 AND id IN ($7, $8) ORDER BY id = $7 DESC LIMIT 1
       ), ${head}${deletions}${isSuperseding ? superseded : ''}, noted AS (
         INSERT INTO ${this.writes} (conversation, id, version) SELECT $1, $7, version FROM head
       ), added AS (
         INSERT INTO ${this.messages} (conversation, version, turn, message)
         SELECT $1, head.version - $2 + at, turn, text FROM head, unnest($5::text[], $6::text[]) WITH ORDINALITY AS given (turn, text, at)
       ) SELECT version FROM head UNION ALL SELECT version FROM known`,
      [
        id,
        Math.max(entries.length, 1),
        write.system,
        expectedVersion ?? null,
        entries.map((entry) => entry.turn),
        entries.map(({ message }) => message),
        writeId,
        write.endId,
        ...(isSuperseding ? [turn, supersedesAfter] : []),
      ],
    );
    return rows;
  }

  /** Parts of a statement: the new version of the conversation, if it has the expected one. */
  private headAsExpected(system: string): string {
    const isNew = 'NOT EXISTS (SELECT FROM known)';
    return `expected AS (
         UPDATE ${this.conversations} AS head SET version = head.version + $2::bigint, system = ${system}
         WHERE id = $1 AND head.version = $4::bigint AND $4 > 0 AND ${isNew}
         RETURNING version
       ), any_version AS (
         INSERT INTO ${this.conversations} AS head (id, version, system)
         SELECT $1, $2, $3 WHERE ($4 IS NULL OR $4 = 0) AND ${isNew}
         ON CONFLICT (id) DO UPDATE SET version = head.version + $2, system = ${system}
         WHERE $4 IS NULL
         RETURNING version
       ), head AS (SELECT version FROM expected UNION ALL SELECT version FROM any_version)`;
  }

  /** The same of a statement that removes messages of its turn: if it has seen all messages. */
  private headAsSeen(system: string): string {
    const ofConversation = `FROM ${this.messages} WHERE conversation = $1`;
    return `seen AS (SELECT version FROM ${this.conversations} WHERE id = $1), head AS (
         INSERT INTO ${this.conversations} AS head (id, version, system)
         SELECT $1, $2::bigint, $3 WHERE NOT EXISTS (SELECT FROM known)
         AND ($10::bigint = 0 OR EXISTS (SELECT ${ofConversation} AND version = $10 AND turn = $9))
         AND ($4::bigint IS NULL OR coalesce((SELECT version FROM seen), 0) = $4
           OR (SELECT version FROM seen) > $4
           AND NOT EXISTS (SELECT ${ofConversation} AND version > $4 AND turn IS DISTINCT FROM $9))
         ON CONFLICT (id) DO UPDATE SET version = head.version + $2, system = ${system}
         WHERE head.version = (SELECT version FROM seen)
         RETURNING version
       )`;
  }

  /** Parts of a statement: delete the messages, and ids of writes whose messages were deleted before. */
  private deletions(): string {
    const ofConversation = 'conversation = $1 AND EXISTS (SELECT FROM head)';
    return `, forgotten AS (
         DELETE FROM ${this.writes} WHERE ${ofConversation}
         AND version < (SELECT min(version) FROM ${this.messages} WHERE conversation = $1)
       ), gone AS (DELETE FROM ${this.messages} WHERE ${ofConversation})`;
  }

  /** Returns undefined if another writer was faster, and the write fits to the conversation now. */
  private async versionOfWrite(id: string, write: EncodedWrite): Promise<number | undefined> {
    const { turn, writeId, endId, expectedVersion, supersedesAfter } = write;
    const ofConversation = `FROM ${this.messages} WHERE conversation = $1`;
    const { rows } = await this.client.query(
      `SELECT (SELECT version FROM ${this.writes} WHERE conversation = $1 AND id IN ($2, $3) ORDER BY id = $2 DESC LIMIT 1) AS made,
              (SELECT version FROM ${this.conversations} WHERE id = $1) AS present,
              (SELECT turn ${ofConversation} AND version = $4) AS place,
              EXISTS (SELECT ${ofConversation} AND version > $5 AND turn IS DISTINCT FROM $6) AS others`,
      [id, writeId, endId, supersedesAfter ?? 0, expectedVersion ?? 0, turn],
    );
    const [{ made, present, place, others }] = rows as [WriteState];
    if (made !== null) return Number(made);
    checkPlace(
      id,
      write,
      Number(present),
      () => place,
      () => others,
    );
    return undefined;
  }

  protected isRefused(error: unknown): boolean {
    return isRefusedByPostgres(error);
  }
}
