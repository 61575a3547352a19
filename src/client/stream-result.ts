import { ChatClientResponse } from '../advisor/chat-client-response.js';
import { ResponseSubscriber } from '../advisor/event-subscribers.js';
import type { ChatEvent, EventFilter, ResponseEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { Observable, Subscriber } from '../internal/rxjs.js';
import { ObservableIterator } from './async-iterator.js';
import type { RequestSettings } from './request-settings.js';
import { runEvents } from './run.js';

/** A request for a streamed answer. Cold: each subscription and iteration is a run of its own. */
export class StreamResult implements AsyncIterable<string> {
  constructor(private readonly settings: RequestSettings) {}

  /** The text deltas of all iterations of the turn. */
  content(): Observable<string> {
    return textDeltas(this.events());
  }

  /** The complete answer, once, at the end. */
  chatResponse(): Observable<ChatResponse> {
    return this.emitResponse(({ response }) => response);
  }

  /** The complete answer with the context of the advisors, once, at the end. */
  chatClientResponse(): Observable<ChatClientResponse> {
    return this.emitResponse((event) => new ChatClientResponse(event.response, event.context));
  }

  /** All events: deltas, iterations, tool calls and their results, and finally the response. */
  events(): Observable<ChatEvent> {
    return runEvents(this.settings, 'stream');
  }

  /** The text deltas, with backpressure; leaving the loop early cancels the run. */
  [Symbol.asyncIterator](): AsyncIterableIterator<string> {
    return new ObservableIterator((ready) => textDeltas(runEvents(this.settings, 'stream', ready)));
  }

  /** The text deltas as a web stream, with backpressure; cancelling it cancels the run. */
  toReadableStream(): ReadableStream<string> {
    const texts = this[Symbol.asyncIterator]();
    const pull = async (controller: ReadableStreamDefaultController<string>): Promise<void> => {
      const next = await texts.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    };
    const cancel = async (): Promise<void> => {
      await texts.return?.();
    };
    // without a buffer, nothing runs before the first read
    return new ReadableStream<string>({ pull, cancel }, { highWaterMark: 0 });
  }

  private emitResponse<T>(toValue: (event: ResponseEvent) => T): Observable<T> {
    return new Observable((subscriber) => {
      const emit = (event: ResponseEvent): void => {
        subscriber.next(toValue(event));
        subscriber.complete();
      };
      const fail = (error: unknown): void => subscriber.error(error);
      const events = new ResponseSubscriber('the chain', emit, fail);
      subscriber.add(events);
      this.events().subscribe(events);
    });
  }
}

function textDeltas(events: Observable<ChatEvent>): Observable<string> {
  return new Observable((subscriber) => {
    events.subscribe(new TextDeltaSubscriber(subscriber));
  });
}

class TextDeltaSubscriber extends Subscriber<ChatEvent> implements EventFilter {
  constructor(private readonly subscriber: Subscriber<string>) {
    super(subscriber);
  }

  accepts({ type }: ChatEvent): boolean {
    return type === 'text-delta';
  }

  protected override _next(event: ChatEvent): void {
    if (event.type === 'text-delta' && event.text !== '') this.subscriber.next(event.text);
  }
}
