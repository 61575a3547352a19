import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import { hears, type Selective } from '../chat/hears.js';
import { ChainError } from '../errors.js';
import { Subscriber } from '../rxjs.js';

/** Keeps the response of a run back until the run is complete, and passes the other events on. */
export class ResponseSubscriber extends Subscriber<ChatEvent> implements Selective {
  private last: ResponseEvent | undefined;

  /**
   * @param source what is listened to, for messages
   * @param listener hears the other events
   */
  constructor(
    private readonly source: string,
    private readonly resolve: (event: ResponseEvent) => void,
    private readonly reject: (error: unknown) => void,
    readonly listener?: Subscriber<ChatEvent>,
  ) {
    super();
    // before anything is emitted, so that a run that emits without a pause can be ended in its middle
    listener?.add(this);
  }

  /** What is done with the response is done where it is awaited. */
  hears(event: ChatEvent): boolean {
    return this.listener !== undefined && hears(this.listener, event);
  }

  protected override _next(event: ChatEvent): void {
    if (this.last) this._error(new ChainError(`${this.source} gave the event "${event.type}" after its response`));
    else if (event.type === 'response') this.last = event;
    else this.listener?.next(event);
  }

  protected override _error(error: unknown): void {
    this.unsubscribe();
    this.reject(error);
  }

  protected override _complete(): void {
    this.unsubscribe();
    if (this.last) this.resolve(this.last);
    else this.reject(new ChainError(`${this.source} ended without a response event`));
  }
}
