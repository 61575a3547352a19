import { cancelledError, onAbort } from './cancellation.js';

/**
 * Work that several callers wait for. Each stops waiting when its own signal aborts; the work is
 * abandoned when the last one stops, and no later caller may wait for it.
 */
export class SharedWork<T> {
  private readonly controller = new AbortController();
  private readonly result: Promise<T>;
  private waiting = 0;
  private settled = false;

  /**
   * @param start begins the work, which should end when its signal aborts
   * @param onAbandoned called once, before the signal aborts
   */
  constructor(
    start: (signal: AbortSignal) => Promise<T>,
    private readonly onAbandoned: () => void,
  ) {
    this.result = start(this.controller.signal).finally(() => (this.settled = true));
    this.result.catch(() => undefined); // reported to the callers that wait for it
  }

  /** @throws the rejection of the work, or {@link CancelledError} when the signal aborts */
  wait(signal: AbortSignal | undefined): Promise<T> {
    this.waiting++;
    if (!signal) return this.result;
    return new Promise((resolve, reject) => {
      const release = onAbort(signal, () => {
        reject(cancelledError(signal.reason));
        // at once: a run that begins in the same task must not wait for abandoned work
        if (--this.waiting === 0 && !this.settled) this.abandon();
      });
      this.result.then(resolve, reject).finally(release);
    });
  }

  /** Resolves when the work has ended, also if it has failed or was abandoned. */
  async end(): Promise<void> {
    await this.result.catch(() => undefined);
  }

  private abandon(): void {
    this.settled = true;
    this.onAbandoned();
    this.controller.abort(cancelledError());
  }
}
