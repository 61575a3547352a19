import { hasCode } from '../../core/errors/advisor-chain-error.js';
import { notify } from '../../core/internal/notify.js';

/** Maximum number of turns that are stored before the next attempt. */
const MAX_SKIPPED = 64;
/** Maximum number of conversations whose failures are known; the oldest is forgotten. */
const MAX_CONVERSATIONS = 10_000;

interface Failures {
  readonly count: number;
  /** Number of turns without an attempt. */
  readonly skipped: number;
}

/**
 * Starts summaries beside the turns: one of a conversation at a time. After n failures in a row, the
 * next 2 ** n turns of the conversation start none, so that an outage of the model costs little.
 */
export class SummaryAttempts {
  private readonly running = new Set<string>();
  private readonly failures = new Map<string, Failures>();

  constructor(private readonly onError: (error: unknown, conversationId: string) => void) {}

  /**
   * Starts an attempt for a turn that was stored.
   * @returns resolves when the attempt has ended, and never rejects; undefined if none was started
   */
  start(conversationId: string, attempt: () => Promise<void>): Promise<void> | undefined {
    if (this.running.has(conversationId) || this.skips(conversationId)) return undefined;
    this.running.add(conversationId);
    return attempt()
      .catch((error: unknown) => this.fail(conversationId, error))
      .finally(() => this.running.delete(conversationId));
  }

  /** The model answers again: the next failure is the first one. */
  succeed(conversationId: string): void {
    this.failures.delete(conversationId);
  }

  private skips(conversationId: string): boolean {
    const { count, skipped } = this.failures.get(conversationId) ?? { count: 0, skipped: 0 };
    if (count === 0 || skipped === Math.min(2 ** count, MAX_SKIPPED)) return false;
    this.failures.set(conversationId, { count, skipped: skipped + 1 });
    return true;
  }

  private fail(conversationId: string, error: unknown): void {
    // the model has not failed if its run was cancelled
    if (!hasCode(error, 'cancelled')) this.countFailure(conversationId);
    notify(() => this.onError(error, conversationId));
  }

  private countFailure(conversationId: string): void {
    const count = (this.failures.get(conversationId)?.count ?? 0) + 1;
    this.failures.delete(conversationId);
    this.failures.set(conversationId, { count, skipped: 0 });
    const [oldest] = this.failures.keys();
    if (this.failures.size > MAX_CONVERSATIONS) this.failures.delete(oldest as string);
  }
}
