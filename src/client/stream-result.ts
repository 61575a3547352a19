import { ChatClientResponse } from '../advisor/chat-client-response.js';
import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { OfferedTool } from '../chat/tool-definition.js';
import type { Backpressure } from '../internal/cancellation.js';
import { Observable, Subscriber } from '../internal/rxjs.js';
import { ObservableIterator } from './async-iterator.js';
import type { RequestSettings } from './request-settings.js';
import { runEvents } from './run.js';

/** A request for a streamed answer. Cold: each subscription and iteration is a run of its own. */
export class StreamResult<T extends OfferedTool = OfferedTool> implements AsyncIterable<string> {
  constructor(private readonly settings: RequestSettings) {}

  /** The text deltas of all iterations of the turn. */
  content(): Observable<string> {
    return this.values(toText);
  }

  /** The complete answer, once, at the end. */
  chatResponse(): Observable<ChatResponse> {
    return this.values((event) => (event.type === 'response' ? event.response : undefined));
  }

  /** The complete answer with the context of the advisors, once, at the end. */
  chatClientResponse(): Observable<ChatClientResponse<T>> {
    return this.values((event) =>
      event.type === 'response'
        ? new ChatClientResponse(event.response, event.context, event.run)
        : undefined,
    );
  }

  /** All events: deltas, iterations, tool calls and their results, and finally the response. */
  events(): Observable<ChatEvent<T>> {
    return runEvents(this.settings, 'stream') as Observable<ChatEvent<T>>;
  }

  /** The text deltas, with backpressure; leaving the loop early cancels the run. */
  [Symbol.asyncIterator](): AsyncIterableIterator<string> {
    return new ObservableIterator((ready) => this.values(toText, ready));
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

  private values<T>(toValue: ToValue<T>, ready?: Backpressure): Observable<T> {
    return new Observable((subscriber) => {
      runEvents(this.settings, 'stream', ready).subscribe(new ValueMapper(toValue, subscriber));
    });
  }
}

/** The value that a view of a run has for an event, if it has one. */
type ToValue<T> = (event: ChatEvent) => T | undefined;

function toText(event: ChatEvent): string | undefined {
  return (event.type === 'text-delta' && event.text) || undefined;
}

class ValueMapper<T> extends Subscriber<ChatEvent> {
  constructor(
    private readonly toValue: ToValue<T>,
    private readonly subscriber: Subscriber<T>,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    const value = this.toValue(event);
    if (value !== undefined) this.subscriber.next(value);
  }
}
