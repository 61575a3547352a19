import { CHECKED_APART, checkOptions } from '../../core/internal/options.js';
import {
  POSTGRES_RULES,
  type PostgresClient,
  type PostgresOptions,
} from '../databases/postgres.js';
import { quoteName } from '../databases/sql-name.js';
import { CheckedTurnLog } from './checked-turn-log.js';
import type { BegunRun, LogBatch, LogPage, LogPosition, NewRun } from './turn-log.js';

export type { PostgresClient };

/** Options of a {@link PostgresTurnLog}. */
export interface PostgresTurnLogOptions extends PostgresOptions {
  /** Name of the table of runs; the table of their events has `_events` at its end. @default 'turn_log' */
  readonly table?: string | undefined;
}

const WHERE = 'PostgresTurnLog';
/** The clock of the database; it stands still during a statement, and an index can be searched for it. */
const NOW = 'statement_timestamp()';
const milliseconds = (sql: string): string => `(${sql})::float8 * interval '1 millisecond'`;
const LEASE_END = `${NOW} + ${milliseconds('$4')}`;

/**
 * Keeps the logs of turns in a PostgreSQL database. Each operation is one statement, so that a pool
 * suffices, also behind a pooler of transactions. Call {@link migrate} once before the first use.
 * Each run that begins deletes up to two expired logs.
 */
export class PostgresTurnLog extends CheckedTurnLog {
  private readonly client: PostgresClient;
  private readonly runs: string;
  private readonly events: string;
  private readonly index: string;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: PostgresTurnLogOptions) {
    super();
    checkOptions(WHERE, options, { ...POSTGRES_RULES, table: CHECKED_APART });
    const { client, schema, table = 'turn_log' } = options;
    const path = schema === undefined ? '' : `${quoteName(WHERE, 'schema', schema)}.`;
    this.client = client;
    this.runs = path + quoteName(WHERE, 'table', table);
    this.events = path + quoteName(WHERE, 'table', table, '_events');
    this.index = quoteName(WHERE, 'table', table, '_expires');
  }

  /** Creates the missing tables; any number of processes may call it concurrently. */
  async migrate(): Promise<void> {
    // IF NOT EXISTS alone fails where two sessions create a table concurrently. Roles that may not
    // create tables can call this once the tables exist.
    await this.client.query(`DO $$ BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('advisor-chain turn log', 0));
      IF to_regclass('${this.runs}') IS NULL THEN
        CREATE TABLE ${this.runs} (
          key text COLLATE "C" PRIMARY KEY, generation bigint NOT NULL, previous bigint NOT NULL, writer text NOT NULL,
          turn_id text, state text NOT NULL, length integer NOT NULL, is_stopped boolean NOT NULL,
          lease_end timestamptz NOT NULL, expires timestamptz NOT NULL
        );
        CREATE INDEX ${this.index} ON ${this.runs} (expires);
        CREATE TABLE ${this.events} (
          key text COLLATE "C" NOT NULL, generation bigint NOT NULL, position integer NOT NULL, entry text NOT NULL,
          PRIMARY KEY (key, generation, position)
        );
      END IF;
    END $$`);
  }

  /** Deletes all logs that have expired, also if no run begins; returns their number. */
  async deleteExpired(): Promise<number> {
    const { rows } = await this.client.query(
      `WITH ${this.deleting(`SELECT key FROM ${this.runs} WHERE expires <= ${NOW}`)}
       SELECT key FROM expired`,
    );
    return rows.length;
  }

  protected async beginRun(key: string, { writer, turnId, lease, ttl }: NewRun): Promise<BegunRun> {
    const isLiving = `old.expires > ${NOW}`;
    const isRunning = `${isLiving} AND old.state = 'running'`;
    const isSameTurn = `coalesce(old.turn_id = $3::text, false)`;
    // a run that another writer has, or that is complete, is unchanged
    const isKept = `(${isRunning} AND old.writer <> $2 AND old.lease_end > ${NOW}
      OR ${isLiving} AND old.state = 'complete' AND ${isSameTurn})`;
    const isContinued = `(${isRunning} AND (old.writer = $2 OR ${isSameTurn}))`;
    const unlessKept = (name: string, value: string): string =>
      `${name} = CASE WHEN ${isKept} THEN old.${name} ELSE ${value} END`;
    const ifNew = (name: string, value: string): string =>
      `${name} = CASE WHEN ${isKept} OR ${isContinued} THEN old.${name} ELSE ${value} END`;
    const clock = `floor(extract(epoch FROM ${NOW}) * 1000)::bigint`;
    const end = `${NOW} + ${milliseconds('$4::float8 + $5::float8')}`;
    const [row] = await this.query<{ state: string; writer: string } & BegunRun>(
      `WITH ${this.deleting(`SELECT key FROM ${this.runs} WHERE expires <= ${NOW} AND key <> $1 LIMIT 2 FOR UPDATE SKIP LOCKED`)},
      run AS (
        INSERT INTO ${this.runs} AS old
          (key, generation, previous, writer, turn_id, state, length, is_stopped, lease_end, expires)
        VALUES ($1, ${clock}, 0, $2, $3, 'running', 0, false, ${LEASE_END}, ${end})
        ON CONFLICT (key) DO UPDATE SET
          ${ifNew('generation', `greatest(old.generation + 1, ${clock})`)},
          ${ifNew('previous', `CASE WHEN ${isLiving} THEN old.generation ELSE 0 END`)},
          ${ifNew('turn_id', '$3')}, ${ifNew('state', `'running'`)}, ${ifNew('length', '0')},
          ${ifNew('is_stopped', 'false')}, ${unlessKept('writer', '$2')},
          ${unlessKept('lease_end', LEASE_END)}, ${unlessKept('expires', end)}
        RETURNING *
      ), dropped AS (
        DELETE FROM ${this.events} AS event USING run
        WHERE event.key = $1 AND event.generation NOT IN (run.generation, run.previous)
      )
      SELECT generation::float8, length, state, writer FROM run`,
      key,
      writer,
      turnId ?? null,
      lease,
      ttl,
    );
    const { generation, length, state, writer: owner } = row as NonNullable<typeof row>;
    if (state === 'complete') return { state, generation, length };
    return { state: owner === writer ? 'begun' : 'running', generation, length };
  }

  protected async appendEntries(
    key: string,
    { generation, writer, after, entries, end, lease, ttl }: LogBatch,
  ): Promise<{ readonly isStopped: boolean } | undefined> {
    const count = 'cardinality($7::text[])';
    const life = end ? '$5::float8' : '$4::float8 + $5::float8';
    const [row] = await this.query<{ readonly isStopped: boolean }>(
      `WITH run AS (
        UPDATE ${this.runs} SET length = greatest(length, $6::int + ${count}), lease_end = ${LEASE_END},
          state = coalesce($8::text, state), expires = ${NOW} + ${milliseconds(life)}
        WHERE key = $1 AND generation = $3::bigint AND writer = $2 AND expires > ${NOW}
          AND (state = 'running' AND length >= $6::int OR length >= $6::int + ${count})
        RETURNING is_stopped
      ), added AS (
        INSERT INTO ${this.events} (key, generation, position, entry)
        SELECT $1, $3::bigint, $6::int + at, entry FROM run, unnest($7::text[]) WITH ORDINALITY AS new (entry, at)
        ON CONFLICT DO NOTHING
      )
      SELECT is_stopped AS "isStopped" FROM run`,
      key,
      writer,
      generation,
      lease,
      ttl,
      after,
      entries,
      end ?? null,
    );
    return row;
  }

  protected async readEntries(
    key: string,
    { generation, after, limit }: LogPosition,
  ): Promise<LogPage | undefined> {
    const isLatest = 'run.generation = wanted.generation';
    const [row] = await this.query<LogPage & { readonly turnId: string | null }>(
      `SELECT wanted.generation::float8, CASE WHEN ${isLatest} THEN turn_id END AS "turnId",
        CASE WHEN NOT ${isLatest} THEN 'Infinity'::float8 WHEN state <> 'running' THEN 0
          ELSE greatest(0, extract(epoch FROM ${NOW} - lease_end) * 1000)::float8 END AS silence,
        ARRAY(SELECT entry FROM ${this.events} AS event
          WHERE event.key = $1 AND event.generation = wanted.generation AND position > $3::int
          ORDER BY position LIMIT $4::int) AS entries
      FROM ${this.runs} AS run, LATERAL (SELECT coalesce($2::bigint, run.generation) AS generation) AS wanted
      WHERE key = $1 AND expires > ${NOW} AND wanted.generation IN (run.generation, run.previous)`,
      key,
      generation ?? null,
      after,
      limit,
    );
    return row && { ...row, turnId: row.turnId ?? undefined };
  }

  protected async stopRun(key: string, generation: number): Promise<boolean> {
    const rows = await this.query(
      `UPDATE ${this.runs} SET is_stopped = true
       WHERE key = $1 AND generation = $2::bigint AND state = 'running' AND expires > ${NOW} RETURNING key`,
      key,
      generation,
    );
    return rows.length > 0;
  }

  /** Deletes runs with their events. */
  private deleting(keys: string): string {
    return `expired AS (DELETE FROM ${this.runs} WHERE key IN (${keys}) RETURNING key),
      gone AS (DELETE FROM ${this.events} WHERE key IN (SELECT key FROM expired))`;
  }

  private async query<Row>(sql: string, ...values: unknown[]): Promise<readonly Row[]> {
    return (await this.client.query(sql, values)).rows as readonly Row[];
  }
}
