import type { ChatEvent } from '../../src/index.js';

/** A run whose events a test writes. */
export class PushedEvents implements AsyncIterable<ChatEvent> {
  private static readonly all = new Set<PushedEvents>();
  private readonly waiting: (() => Promise<IteratorResult<ChatEvent>>)[] = [];
  private wake: (() => void) | undefined;
  /** True once the run was cancelled. */
  isCancelled = false;

  constructor() {
    PushedEvents.all.add(this);
  }

  /** Ends what tests have left under way: its log would be renewed for ever. */
  static endAll(): void {
    for (const each of PushedEvents.all) each.end();
    PushedEvents.all.clear();
  }

  push(...events: readonly ChatEvent[]): void {
    for (const value of events) this.add(() => Promise.resolve({ value }));
  }

  texts(...texts: readonly string[]): void {
    this.push(...texts.map((text) => ({ type: 'text-delta', text }) as const));
  }

  end(): void {
    this.add(() => Promise.resolve({ done: true, value: undefined }));
  }

  fail(error: unknown): void {
    this.add(() => Promise.reject(error as Error));
  }

  [Symbol.asyncIterator](): AsyncIterator<ChatEvent> {
    return {
      next: async () => {
        while (this.waiting.length === 0 && !this.isCancelled)
          await new Promise<void>((resolve) => (this.wake = resolve));
        const next = this.waiting.shift();
        return next ? next() : { done: true, value: undefined };
      },
      return: () => {
        this.isCancelled = true;
        this.wake?.();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  private add(next: () => Promise<IteratorResult<ChatEvent>>): void {
    this.waiting.push(next);
    this.wake?.();
  }
}
