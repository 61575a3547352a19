import type { ChatEvent } from '../chat/chat-event.js';
import type { ModelRun } from '../chat/chat-model.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { onRunCancel, cancelledError } from '../internal/cancellation.js';
import { Observable } from '../internal/rxjs.js';

/** The answer of a model in this process. */
export interface InProcessAnswer {
  /** Events in order; the last one is the response. */
  readonly events: readonly ChatEvent[];
  /** Emitted in place of the response. */
  readonly error?: unknown;
  /** Milliseconds before each event; 0 emits all of them within the subscription. */
  readonly delay: number;
}

/**
 * Emits an answer, until the run is cancelled.
 * @param makeAnswer called for each subscription, unless the run was cancelled before
 * @param onUnfinished called if a subscription ends before the response or the error
 */
export function answerEvents(
  run: ModelRun,
  makeAnswer: () => InProcessAnswer,
  onUnfinished: () => void = () => undefined,
): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    subscriber.add(onRunCancel(run, (cause) => subscriber.error(cancelledError(cause))));
    if (subscriber.closed) return;
    const { events, error, delay } = makeAnswer();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let emitted = 0;
    subscriber.add(() => {
      clearTimeout(timer);
      if (emitted < events.length) onUnfinished();
    });
    const emitNext = (): void => {
      const event = events[emitted++] as ChatEvent;
      const isLast = emitted === events.length;
      if (isLast && error !== undefined) return subscriber.error(error);
      subscriber.next(event);
      if (isLast) subscriber.complete();
      else if (delay > 0 && !subscriber.closed) timer = setTimeout(emitNext, delay);
    };
    if (delay > 0) timer = setTimeout(emitNext, delay);
    else while (!subscriber.closed) emitNext();
  });
}

/** The response at the end of an answer. */
export function responseOf(events: Observable<ChatEvent>): Promise<ChatResponse> {
  return new Promise((resolve, reject) => {
    events.subscribe({
      next: (event) => {
        if (event.type === 'response') resolve(event.response);
      },
      error: reject,
    });
  });
}
