import { ChatClientResponse } from '../advisor/chat-client-response.js';
import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { Selective } from '../chat/hears.js';
import { filter, map, Observable, Subscriber } from '../rxjs.js';
import { iterate } from './iterate.js';
import { runEvents } from './run.js';
import type { SpecState } from './spec-state.js';

/** A request that is answered piece by piece. Everything here is cold: each subscription and each iteration is a run of its own. */
export class StreamResult implements AsyncIterable<string> {
  constructor(private readonly state: SpecState) {}

  /** The text as it comes, of all iterations of the turn. */
  content(): Observable<string> {
    return textsOf(this.events());
  }

  /** The complete answer, once, at the end. */
  chatResponse(): Observable<ChatResponse> {
    return this.response().pipe(map((event) => event.response));
  }

  /** The complete answer with the context of the advisors, once, at the end. */
  chatClientResponse(): Observable<ChatClientResponse> {
    return this.response().pipe(map((event) => new ChatClientResponse(event.response, event.context)));
  }

  /** Everything that happens: deltas, iterations, tool calls and their results, and at last the response. */
  events(): Observable<ChatEvent> {
    return runEvents(this.state, 'stream');
  }

  /** The text as it comes, no faster than it is asked for; leaving the loop early cancels the run. */
  [Symbol.asyncIterator](): AsyncIterableIterator<string> {
    return iterate((ready) => textsOf(runEvents(this.state, 'stream', ready)));
  }

  /** The text as it comes, as a web stream, no faster than it is read; cancelling it cancels the run. */
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
    // nothing is pulled, and so nothing runs, before somebody reads
    return new ReadableStream<string>({ pull, cancel }, { highWaterMark: 0 });
  }

  private response(): Observable<ResponseEvent> {
    return this.events().pipe(filter((event) => event.type === 'response')) as Observable<ResponseEvent>;
  }
}

function textsOf(events: Observable<ChatEvent>): Observable<string> {
  return new Observable((subscriber) => {
    events.subscribe(new Texts(subscriber));
  });
}

/** One step for each event, where `filter` and `map` would be two: a stream has thousands. */
class Texts extends Subscriber<ChatEvent> implements Selective {
  constructor(private readonly subscriber: Subscriber<string>) {
    super(subscriber);
  }

  hears({ type }: ChatEvent): boolean {
    return type === 'text-delta';
  }

  protected override _next(event: ChatEvent): void {
    if (event.type === 'text-delta' && event.text !== '') this.subscriber.next(event.text);
  }
}
