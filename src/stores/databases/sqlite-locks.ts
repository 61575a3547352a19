import { backoffDelay, delay } from '../../core/internal/backoff.js';
import {
  cancelledError,
  cancellationOf,
  untilCancelled,
} from '../../core/internal/cancellation.js';
import { StoreBusyError } from '../../core/errors/errors.js';
import type { SqliteDatabase, SqliteStatement } from './sqlite.js';

/** Milliseconds between attempts; random, so that processes do not retry in step. */
const BACKOFF = { first: 2, max: 40, jitter: 0.5 };
/** Primary result code of SQLite; extended codes have higher bits, too. */
const SQLITE_BUSY = 5;

/** A wait that ends when the signal aborts; the signal is read only if there is a wait. */
export interface LockWait {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Repeats work while another connection holds a lock. SQLite itself does not wait: its busy timeout
 * blocks the event loop.
 */
export class SqliteLocks {
  /** Settles when the writes under way have ended; undefined without any. */
  private writes: Promise<unknown> | undefined;
  private hasBusyTimeout = true;

  /** @param timeout maximum time to wait, in milliseconds */
  constructor(
    private readonly database: SqliteDatabase,
    private readonly timeout: number,
  ) {}

  /** Sets the busy timeout of the connection once, if nothing else uses the connection. */
  useAlone(): void {
    this.database.exec('PRAGMA busy_timeout = 0');
    this.hasBusyTimeout = false;
  }

  /**
   * @param work synchronous; a failure changes nothing
   * @throws {@link StoreBusyError} after the timeout, {@link CancelledError} on abort
   */
  read<T>(work: () => T, wait: LockWait = {}): Promise<T> {
    return this.repeat(work, performance.now() + this.timeout, wait);
  }

  /** As {@link read}, in the order of the calls. */
  write<T>(work: () => T, wait: LockWait = {}): Promise<T> {
    const end = performance.now() + this.timeout;
    const earlier = this.writes;
    const done = earlier
      ? this.turnAfter(earlier, wait).then(() => this.repeat(work, end, wait))
      : this.repeat(work, end, wait);
    const settled = Promise.allSettled([earlier, done]).then(() => {
      if (this.writes === settled) this.writes = undefined;
    });
    this.writes = settled;
    return done;
  }

  /** Resolves when no write is under way. */
  async idle(): Promise<void> {
    while (this.writes) await this.writes;
  }

  private async turnAfter(earlier: Promise<unknown>, { signal }: LockWait): Promise<void> {
    await (signal ? untilCancelled(earlier, cancellationOf(signal)) : earlier);
    // each write syncs the disk: many in a row would block the event loop
    await new Promise((resolve) => setImmediate(resolve));
    if (signal?.aborted) throw cancelledError(signal.reason);
  }

  private async repeat<T>(work: () => T, end: number, wait: LockWait): Promise<T> {
    for (let retry = 0; ; retry++) {
      try {
        return this.attempt(work);
      } catch (cause) {
        if (!isBusy(cause)) throw cause;
        const left = end - performance.now();
        if (left <= 0) throw new StoreBusyError(this.timeout, { cause });
        await delay(Math.min(backoffDelay(retry, BACKOFF), left), { signal: wait.signal });
      }
    }
  }

  /** Runs work without the busy timeout that an application may have set for its own statements. */
  private attempt<T>(work: () => T): T {
    const timeout = this.hasBusyTimeout ? busyTimeoutOf(this.database) : 0;
    if (timeout === 0) return work();
    this.database.exec('PRAGMA busy_timeout = 0');
    try {
      return work();
    } finally {
      this.database.exec(`PRAGMA busy_timeout = ${timeout}`);
    }
  }
}

function busyTimeoutOf(database: SqliteDatabase): number {
  // not prepared once: SQLite reads the value when it prepares the statement
  const [row] = (database.prepare('PRAGMA busy_timeout') as SqliteStatement).all();
  return Number((row as { readonly timeout?: unknown } | undefined)?.timeout ?? 0);
}

/** Each client has its own form of the result code. */
function isBusy(error: unknown): boolean {
  const { code, rawCode, errcode } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const result = Number(errcode ?? rawCode ?? 0);
  return String(code).startsWith('SQLITE_BUSY') || (result & 0xff) === SQLITE_BUSY;
}
