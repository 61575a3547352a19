import { StoreBusyError } from '../../core/errors/errors.js';
import { backoffDelay, delay } from '../../core/internal/backoff.js';
import type { PostgresClient } from '../databases/postgres.js';

/** Result of a statement that takes the lock: whether no other write came first. */
export interface Outcome {
  readonly won: boolean;
}

const BACKOFF = { first: 2, max: 100, jitter: 0.5 };
/** Milliseconds for which a write tries to be the next one of its namespace. */
const TIMEOUT = 10_000;

/**
 * The order of the writes and deletions of each namespace: a table with the number of its writes. A
 * statement waits for a lock after it took its snapshot, so it could change rows of a write that ended
 * meanwhile and miss others of the same write. So it changes nothing unless the number is still the one
 * of its snapshot, and is attempted again.
 */
export class PostgresNamespaces {
  /** @param table a quoted name */
  constructor(
    private readonly client: PostgresClient,
    readonly table: string,
  ) {}

  /** Takes the lock of namespace `$1` with the number `$2`, and returns a row if no other write came first. */
  get lock(): string {
    return `UPDATE ${this.table} SET version = version + 1 WHERE namespace = $1 AND version = $2::bigint RETURNING 1`;
  }

  /** The same, and forgets the namespace. */
  get lockAndForget(): string {
    return `DELETE FROM ${this.table} WHERE namespace = $1 AND version = $2::bigint RETURNING 1`;
  }

  /**
   * Attempts a statement until no other write of its namespace comes first.
   * @throws {@link StoreBusyError} after 10 seconds, {@link CancelledError} on abort
   */
  async inOrder<Result extends Outcome>(
    attempt: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const end = performance.now() + TIMEOUT;
    for (let retry = 0; ; retry++) {
      const result = await attempt();
      if (result.won) return result;
      if (performance.now() > end) throw new StoreBusyError(TIMEOUT);
      await delay(backoffDelay(retry, BACKOFF), { signal });
    }
  }

  /** The number of writes of a namespace, as text; undefined if it is unknown, and so has no documents. */
  async versionOf(namespace: string): Promise<string | undefined> {
    const { rows } = await this.client.query(
      `SELECT version::text AS version FROM ${this.table} WHERE namespace = $1`,
      [namespace],
    );
    return (rows as readonly { readonly version: string }[])[0]?.version;
  }

  /** The same; a new namespace begins with 0. */
  async versionOrNew(namespace: string): Promise<string> {
    const version = await this.versionOf(namespace);
    if (version !== undefined) return version;
    await this.client.query(
      `INSERT INTO ${this.table} (namespace, version) VALUES ($1, 0) ON CONFLICT DO NOTHING`,
      [namespace],
    );
    return '0';
  }
}
