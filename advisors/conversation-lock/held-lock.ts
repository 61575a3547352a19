import type { RunRecord } from '../../src/core/chat/run-record.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { cancelledError } from '../../src/core/internal/cancellation.js';
import type { Lease } from '../../src/stores/key-value/lease.js';
import type { LockedTurn } from './locked-turn.js';

/** Milliseconds to wait at most until the store has deleted a lock. */
const RELEASE_TIMEOUT = 1_000;

/** The lock of a conversation, held by a turn. */
export class HeldLock {
  private released: Promise<void> | undefined;

  /** @param onReleased called when the next turn may start */
  constructor(
    readonly turn: LockedTurn,
    private readonly lease: Lease,
    private readonly onReleased: () => void,
  ) {}

  /** Runs the rest of the turn, then releases the lock; stops it when the lock is lost or interrupted. */
  async run<T>(work: () => Promise<T>, run: RunRecord, lifetime: number): Promise<T> {
    try {
      const result = await this.turn.until(work());
      await this.release();
      return result;
    } catch (error) {
      if (this.turn.isEnding || hasCode(error, 'cancelled')) this.releaseAfter(run, lifetime);
      else await this.release();
      throw error;
    }
  }

  /** @throws the reason why the turn was stopped: it has lost the lock, among others */
  async verify(): Promise<void> {
    if (!(await this.lease.verify())) this.turn.lose('another turn may have it');
    this.turn.check();
  }

  /** Releases it when tools and writes of the turn have ended, at the latest after a time. */
  private releaseAfter(run: RunRecord, milliseconds: number): void {
    this.turn.stop(cancelledError());
    const timer = setTimeout(() => void this.release(), milliseconds);
    run.trackLast(() => {
      clearTimeout(timer);
      return this.release();
    });
  }

  private release(): Promise<void> {
    return (this.released ??= this.end());
  }

  private async end(): Promise<void> {
    this.turn.end();
    await endSoon(this.lease.release());
    this.onReleased();
  }
}

/** Resolves when a lease has ended, or the store takes too long: the lease ends by itself, but others wait. */
export function endSoon(ending: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(finish, RELEASE_TIMEOUT);
    ending.then(finish, finish);
  });
}
