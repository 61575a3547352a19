import type { ChatEvent } from '../chat/chat-event.js';
import type { Backpressure } from '../internal/cancellation.js';
import { Subscriber } from '../internal/rxjs.js';

/** Keeps the events of a run that has no consumer yet; the first consumer receives all of them. */
export class EventBuffer extends Subscriber<ChatEvent> {
  /** Text of the unfinished iteration, as far as the consumer has received it. */
  partialText = '';
  private readonly events: ChatEvent[] = [];
  private consumer: Subscriber<ChatEvent> | undefined;
  private consumerReady: Backpressure | undefined;
  private end: ((consumer: Subscriber<ChatEvent>) => void) | undefined;

  /** Backpressure of the consumer; none while there is no consumer. */
  readonly ready: Backpressure = () => this.consumerReady?.();

  /** Passes on what was and will be received; the run ends when the consumer leaves. */
  handTo(consumer: Subscriber<ChatEvent>, ready?: Backpressure): void {
    this.consumerReady = ready;
    consumer.add(this);
    for (const event of this.events) this.pass(event, consumer); // also those that arrive meanwhile
    this.events.length = 0;
    this.consumer = consumer;
    this.end?.(consumer);
  }

  protected override _next(event: ChatEvent): void {
    if (this.consumer) this.pass(event, this.consumer);
    else this.events.push(event);
  }

  private pass(event: ChatEvent, consumer: Subscriber<ChatEvent>): void {
    if (event.type === 'text-delta') this.partialText += event.text;
    consumer.next(event);
    if (event.type === 'iteration' || event.type === 'retract') this.partialText = '';
  }

  protected override _error(error: unknown): void {
    this.finish((consumer) => consumer.error(error));
  }

  protected override _complete(): void {
    this.finish((consumer) => consumer.complete());
  }

  private finish(end: (consumer: Subscriber<ChatEvent>) => void): void {
    this.end = end;
    if (this.consumer) end(this.consumer);
  }
}
