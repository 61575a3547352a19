import type { ChatEvent } from '../../core/chat/chat-event.js';
import { ObservableIterator } from '../../core/client/async-iterator.js';
import type { StreamResult } from '../../core/client/stream-result.js';
import { describe } from '../../core/errors/describe.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { hasMethods } from '../../core/internal/options.js';
import { Observable } from '../../core/internal/rxjs.js';

/** An Observable of events, of any copy of RxJS. */
export interface ObservableEvents {
  subscribe(observer: {
    readonly next: (event: ChatEvent) => void;
    readonly error: (error: unknown) => void;
    readonly complete: () => void;
  }): { unsubscribe(): void };
}

/** Reads the events of a run from the first one on, with their ids. */
export interface EventReader extends AsyncIterator<ChatEvent> {
  /** True if the client has events of the run. */
  readonly isResumed: boolean;
  /** Id of the event or the end that came last; undefined for a failure that is not of the run. */
  readonly id: string | undefined;
  /** Number of the frames of it that the client has; `Infinity` for all. */
  readonly seen: number;
}

/** Events with ids, after which a client resumes, such as the events of a log of turns. */
export interface ResumableEvents extends AsyncIterable<ChatEvent> {
  /** All events, since the frames of an event depend on those before it. */
  reader(): EventReader;
}

/**
 * A source of events: `client.prompt(…).stream()`, or the events of a run, also after operators of
 * RxJS, or of a log of turns.
 */
export type EventSource =
  StreamResult | ObservableEvents | AsyncIterable<ChatEvent> | ResumableEvents;

/** The reader of a source whose events have ids. */
export function readerOf(source: EventSource): EventReader | undefined {
  return hasMethods(source, ['reader']) ? (source as ResumableEvents).reader() : undefined;
}

/**
 * Iterates over the events of a source; `return` of the iterator leaves it.
 * @param where begins the message of the error
 */
export function eventsOf(source: EventSource, where = 'toResponse'): AsyncIterator<ChatEvent> {
  if (isStreamResult(source)) return iterate(source.events());
  if (isIterable(source)) return iterate(source);
  if (hasMethods(source, ['subscribe'])) return iterateObservable(source as ObservableEvents);
  throw new InvalidArgumentError(
    `${where}: stream must be client.prompt(…).stream(), or an Observable or async iterable of its events, not ${describe(source)}`,
  );
}

/** As {@link eventsOf}, of a stream its content, which follows its own options. */
export function textsOf(source: EventSource): AsyncIterator<ChatEvent> {
  return isStreamResult(source) ? asDeltas(source[Symbol.asyncIterator]()) : eventsOf(source);
}

function isStreamResult(source: EventSource): source is StreamResult {
  return hasMethods(source, ['events', 'content']);
}

function isIterable(source: EventSource): source is AsyncIterable<ChatEvent> {
  return (
    typeof (source as Partial<AsyncIterable<ChatEvent>> | null)?.[Symbol.asyncIterator] ===
    'function'
  );
}

function iterate(events: AsyncIterable<ChatEvent>): AsyncIterator<ChatEvent> {
  return events[Symbol.asyncIterator]();
}

function iterateObservable(events: ObservableEvents): AsyncIterator<ChatEvent> {
  return new ObservableIterator(
    () =>
      new Observable<ChatEvent>((subscriber) => {
        const subscription = events.subscribe({
          next: (event) => subscriber.next(event),
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        });
        return () => subscription.unsubscribe();
      }),
  );
}

function asDeltas(texts: AsyncIterator<string>): AsyncIterator<ChatEvent> {
  return {
    next: async () => {
      const next = await texts.next();
      if (next.done) return { done: true, value: undefined };
      return { value: { type: 'text-delta', text: next.value } };
    },
    return: async () => {
      await texts.return?.();
      return { done: true, value: undefined };
    },
  };
}
