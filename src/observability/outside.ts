import type { Context } from '@opentelemetry/api';
import type { ChatEvent } from '../chat/chat-event.js';
import { hears } from '../chat/hears.js';
import { Subscriber } from '../rxjs.js';
import type { OpenTelemetry } from './open-telemetry.js';

/** Hands events to the caller where the caller is: what it begins when it hears of them is no part of the turn. */
export class Outside extends Subscriber<ChatEvent> {
  private readonly caller: Context;

  constructor(
    private readonly api: OpenTelemetry,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
    this.caller = api.context.active();
  }

  protected override _next(event: ChatEvent): void {
    const { subscriber } = this;
    if (hears(subscriber, event)) this.api.context.with(this.caller, deliver, undefined, subscriber, event);
    else subscriber.next(event);
  }

  protected override _error(error: unknown): void {
    this.api.context.with(this.caller, () => super._error(error));
  }

  protected override _complete(): void {
    this.api.context.with(this.caller, () => super._complete());
  }
}

/** One function for all events: a stream has thousands. */
function deliver(subscriber: Subscriber<ChatEvent>, event: ChatEvent): void {
  subscriber.next(event);
}
