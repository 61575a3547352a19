/** Wakes the readers of this process when a run of this process is logged. */
export class LogWatch {
  private readonly listeners = new Map<string, Set<LogListener>>();

  /** Listens to a key, also between a read and a wait; `close` ends it. */
  listen(key: string): LogListener {
    const listeners = this.listeners.get(key) ?? new Set();
    this.listeners.set(key, listeners);
    const listener = new LogListener(() => {
      if (listeners.delete(listener) && listeners.size === 0) this.listeners.delete(key);
    });
    listeners.add(listener);
    return listener;
  }

  notify(key: string): void {
    for (const listener of this.listeners.get(key) ?? []) listener.wake();
  }
}

/** A reader that waits for entries. */
export class LogListener {
  private isWoken = false;
  private end: (() => void) | undefined;

  constructor(readonly close: () => void) {}

  readonly wake = (): void => {
    this.isWoken = true;
    this.end?.();
  };

  /** Resolves after some milliseconds, or when it is woken, also if it was before. */
  async wait(milliseconds: number): Promise<void> {
    if (this.isWoken) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.end = () => (clearTimeout(timer), resolve());
    });
  }
}
