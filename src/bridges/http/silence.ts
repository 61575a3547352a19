/** Reports that nothing was written for a time: one timer, whatever the number of writes. */
export class Silence {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private since = performance.now();

  /** @param limit milliseconds; 0 for never */
  constructor(
    private readonly limit: number,
    private readonly onSilence: () => void,
  ) {}

  /** Begins a new silence, after a write. */
  end(): void {
    if (this.limit > 0) this.since = performance.now();
  }

  /** Begins to watch, while a reader waits for the next write. */
  watch(): void {
    if (this.limit > 0 && this.timer === undefined) this.wait();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private wait(): void {
    const left = Math.max(this.limit - (performance.now() - this.since), 1);
    this.timer = setTimeout(() => this.check(), left);
  }

  private check(): void {
    this.timer = undefined;
    // a timer may fire within the last millisecond
    if (performance.now() - this.since < this.limit - 1) return this.wait();
    this.end();
    this.onSilence();
  }
}
