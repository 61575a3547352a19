import { delay } from '../../src/core/internal/backoff.js';
import {
  Cancellation,
  cancelledError,
  type Cancellable,
} from '../../src/core/internal/cancellation.js';
import { ConversationLockError } from '../../src/core/errors/errors.js';

/** A turn with the lock of its conversation, or waiting for it, until something stops it. */
export class LockedTurn {
  private readonly stopping = new Cancellation();
  private readonly unlisten: () => void;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private reason: unknown;

  constructor(
    readonly conversationId: string,
    run: Pick<Cancellable, 'onCancel'>,
  ) {
    this.unlisten = run.onCancel((cause) => this.stop(cancelledError(cause)));
  }

  /** True if it was stopped: running work finishes on its own. */
  get isEnding(): boolean {
    return this.stopping.cancelled;
  }

  /** Stops it after a time, unless {@link stopWaiting} comes first. */
  limitWait(timeout: number): void {
    if (timeout === Infinity) return; // setTimeout takes it for 1 ms
    const problem = `The conversation was busy with another turn for ${timeout} ms (option waitTimeout)`;
    this.timer = setTimeout(() => {
      this.stop(new ConversationLockError(problem, this.conversationId, 'busy'));
    }, timeout);
  }

  stopWaiting(): void {
    clearTimeout(this.timer);
  }

  /** Ends it as cancelled, because a newer turn takes its place. */
  interrupt(): void {
    const problem = 'A newer turn of the conversation has interrupted this one';
    const cause = new ConversationLockError(problem, this.conversationId, 'interrupted');
    this.stop(cancelledError(cause));
  }

  lose(reason: string): void {
    const problem = `The lock of the conversation was lost: ${reason}`;
    this.stop(new ConversationLockError(problem, this.conversationId, 'lost'));
  }

  /** @throws the reason why it was stopped, at once; otherwise the rejection of the work */
  until<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const release = this.stopping.onCancel(() => reject(this.reason as Error));
      work.then(resolve, reject).finally(release);
    });
  }

  /** Waits a number of milliseconds, or until it is stopped. */
  pause(milliseconds: number): Promise<void> {
    return this.until(delay(milliseconds, this.stopping));
  }

  /** Ends what watches it. */
  end(): void {
    this.stopWaiting();
    this.unlisten();
  }

  /** @throws the reason why it was stopped, if it was */
  check(): void {
    if (this.isEnding) throw this.reason;
  }

  stop(reason: unknown): void {
    if (this.isEnding) return;
    this.reason = reason;
    this.stopping.cancel(reason);
  }
}
