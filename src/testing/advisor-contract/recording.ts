import assert from 'node:assert/strict';
import type { ChatEvent } from '../../core/chat/chat-event.js';
import { Subscriber, type Observable } from '../../core/internal/rxjs.js';

/** The events of one subscription of an advisor, and its end. */
export class Recording extends Subscriber<ChatEvent> {
  readonly events: ChatEvent[] = [];
  /** `none` until the end, and if it was unsubscribed. */
  end: 'complete' | 'error' | 'none' = 'none';
  failure: unknown;

  /** @param onEvent called after each event; may unsubscribe the recording */
  constructor(
    source: Observable<ChatEvent>,
    private readonly onEvent: (recording: Recording) => void = () => undefined,
  ) {
    super();
    this.add(source.subscribe(this));
  }

  /** Waits for the end, and fails if it does not come in time. */
  async outcome(timeout: number): Promise<this> {
    const message = `the run did not end within ${timeout} ms`;
    const timer = setTimeout(() => this.error(new assert.AssertionError({ message })), timeout);
    await new Promise<void>((resolve) => this.add(resolve));
    clearTimeout(timer);
    if (this.failure instanceof assert.AssertionError) throw this.failure;
    return this;
  }

  protected override _next(event: ChatEvent): void {
    this.events.push(event);
    this.onEvent(this);
  }

  protected override _error(error: unknown): void {
    this.end = 'error';
    this.failure = error;
    this.unsubscribe();
  }

  protected override _complete(): void {
    this.end = 'complete';
    this.unsubscribe();
  }
}

/** A promise that resolves when it is opened. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Waits until all work that is ready has run. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
}
