import { CHECKED_APART, checkOptions } from '../../core/internal/options.js';
import {
  isRefusedByPostgres,
  POSTGRES_RULES,
  type PostgresClient,
  type PostgresOptions,
} from '../databases/postgres.js';
import { quoteName } from '../databases/sql-name.js';
import { CheckedKeyValueStore, type Counters } from './checked-key-value-store.js';

export type { PostgresClient };

/** Options of a {@link PostgresKeyValueStore}. */
export interface PostgresKeyValueStoreOptions extends PostgresOptions {
  /** Name of the table. @default 'key_value' */
  readonly table?: string | undefined;
}

const WHERE = 'PostgresKeyValueStore';
/** The clock of the database; it stands still during a statement, and an index can be searched for it. */
const NOW = 'statement_timestamp()';
const LIVING = `expires > ${NOW}`;
/** End of a lifetime of $3 milliseconds, unlimited if that is null. */
const END = `coalesce(${NOW} + $3::float8 * interval '1 millisecond', 'infinity')`;

/**
 * Keeps states in a PostgreSQL database. Each operation is one statement, so that a pool suffices,
 * also behind a pooler of transactions. Call {@link migrate} once before the first use. Each new
 * value or sum deletes up to two expired rows.
 */
export class PostgresKeyValueStore extends CheckedKeyValueStore {
  private readonly client: PostgresClient;
  private readonly table: string;
  private readonly index: string;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: PostgresKeyValueStoreOptions) {
    super();
    checkOptions(WHERE, options, { ...POSTGRES_RULES, table: CHECKED_APART });
    const { client, schema, table = 'key_value' } = options;
    const path = schema === undefined ? '' : `${quoteName(WHERE, 'schema', schema)}.`;
    this.client = client;
    this.table = path + quoteName(WHERE, 'table', table);
    this.index = quoteName(WHERE, 'table', table, '_expires');
  }

  /** Creates the missing table; any number of processes may call it concurrently. */
  async migrate(): Promise<void> {
    // IF NOT EXISTS alone fails where two sessions create a table concurrently. Roles that may not
    // create tables can call this once the table exists.
    await this.client.query(`DO $$ BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('advisor-chain key value', 0));
      IF to_regclass('${this.table}') IS NULL THEN
        CREATE TABLE ${this.table} (
          key text COLLATE "C" NOT NULL, kind text NOT NULL, value text NOT NULL, expires timestamptz NOT NULL,
          PRIMARY KEY (key, kind)
        );
        CREATE INDEX ${this.index} ON ${this.table} (expires);
      END IF;
    END $$`);
  }

  /** Deletes all that has expired, also if nothing more is written; returns the number of rows. */
  async deleteExpired(): Promise<number> {
    const { rows } = await this.client.query(
      `DELETE FROM ${this.table} WHERE expires <= ${NOW} RETURNING 1`,
    );
    return rows.length;
  }

  protected async readValue(key: string): Promise<string | undefined> {
    return this.firstValue(
      `SELECT value FROM ${this.table} WHERE key = $1 AND kind = 'value' AND ${LIVING}`,
      key,
    );
  }

  protected async writeValue(
    key: string,
    value: string,
    ttl: number,
    expected: string | null | undefined,
  ): Promise<boolean> {
    const values = [value, ttl === Infinity ? null : ttl];
    const sql =
      typeof expected === 'string'
        ? `UPDATE ${this.table} SET value = $2, expires = ${END}
           WHERE key = $1 AND kind = 'value' AND value = $4 AND ${LIVING} RETURNING key AS value`
        : `${this.cleaning} INSERT INTO ${this.table} AS old (key, kind, value, expires) VALUES ($1, 'value', $2, ${END})
           ON CONFLICT (key, kind) DO UPDATE SET value = $2, expires = ${END}
           ${expected === null ? `WHERE old.expires <= ${NOW}` : ''} RETURNING key AS value`;
    const condition = typeof expected === 'string' ? [expected] : [];
    return (await this.firstValue(sql, key, ...values, ...condition)) !== undefined;
  }

  protected async deleteValue(key: string, expected: string | undefined): Promise<boolean> {
    const deleted = await this.firstValue(
      `DELETE FROM ${this.table} WHERE key = $1 AND kind = 'value' AND ${LIVING}
       AND ($2::text IS NULL OR value = $2) RETURNING key AS value`,
      key,
      expected ?? null,
    );
    return deleted !== undefined;
  }

  protected async readCounters(key: string): Promise<Counters | undefined> {
    const text = await this.firstValue(
      `SELECT value FROM ${this.table} WHERE key = $1 AND kind = 'counters' AND ${LIVING}`,
      key,
    );
    return text === undefined ? undefined : (JSON.parse(text) as Counters);
  }

  protected async addCounters(key: string, amounts: Counters, ttl: number): Promise<Counters> {
    const old = 'old.value::jsonb';
    const sums = `SELECT jsonb_object_agg(name, coalesce((${old} ->> name)::float8, 0) + amount::float8)
      FROM jsonb_each_text($2::text::jsonb) AS given (name, amount)`;
    const sql = `${this.cleaning} INSERT INTO ${this.table} AS old (key, kind, value, expires) VALUES ($1, 'counters', $2, ${END})
      ON CONFLICT (key, kind) DO UPDATE SET
        value = CASE WHEN old.${LIVING} THEN (${old} || (${sums}))::text ELSE $2 END,
        expires = CASE WHEN old.${LIVING} THEN old.expires ELSE ${END} END
      RETURNING value`;
    const values = [JSON.stringify(amounts), ttl === Infinity ? null : ttl];
    return JSON.parse((await this.firstValue(sql, key, ...values)) ?? '{}') as Counters;
  }

  protected isRefused(error: unknown): boolean {
    return isRefusedByPostgres(error);
  }

  /** Deletes two expired rows of other keys, none that another session writes, so that it never waits. */
  private get cleaning(): string {
    return `WITH expired AS (DELETE FROM ${this.table} WHERE (key, kind) IN (
      SELECT key, kind FROM ${this.table} WHERE expires <= ${NOW} AND key <> $1 LIMIT 2 FOR UPDATE SKIP LOCKED))`;
  }

  private async firstValue(sql: string, ...values: unknown[]): Promise<string | undefined> {
    const { rows } = await this.client.query(sql, values);
    return (rows as readonly { readonly value: string }[])[0]?.value;
  }
}
