/**
 * Health of a model for all runs that share it: a circuit breaker. After some failures in a row the
 * model is skipped for a while; then one run tries it again, and its success ends the skipping.
 */
export class ModelHealth {
  /** Failures in a row. */
  private failures = 0;
  private skippedUntil = 0;
  /** End of the pause that its server asked for: what other runs see of the model does not shorten it. */
  private pausedUntil = 0;

  /** @param cooldown milliseconds for which the model is skipped */
  constructor(
    private readonly maxFailures: number,
    private readonly cooldown: number,
  ) {}

  /** True if a run may ask the model now. After the cooldown that is one run until its end is known. */
  admit(): boolean {
    if (this.failures < this.maxFailures) return true;
    const now = performance.now();
    if (now < this.skippedUntil) return false;
    this.skippedUntil = now + this.cooldown; // should the trial be cancelled, the next one follows
    return true;
  }

  /** The state for an inspector: failures in a row, and milliseconds for which the model is skipped. */
  inspect(): { readonly failures: number; readonly skippedFor: number } {
    const { failures, maxFailures, skippedUntil } = this;
    const left = failures < maxFailures ? 0 : skippedUntil - performance.now();
    return { failures, skippedFor: Math.max(0, Math.round(left)) };
  }

  succeed(): void {
    const isSkipped = this.failures >= this.maxFailures;
    if (!isSkipped || performance.now() >= this.pausedUntil) this.failures = 0;
  }

  /** @param retryAfter milliseconds for which its server asks not to be called */
  fail(retryAfter = 0): void {
    this.failures++;
    const now = performance.now();
    this.pausedUntil = Math.max(this.pausedUntil, now + retryAfter);
    this.skippedUntil = Math.max(this.pausedUntil, now + this.cooldown);
  }
}
