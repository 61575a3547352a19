import { ChatClientResponse } from '../advisor/chat-client-response.js';
import { onAbort } from '../chat/abort.js';
import type { ChatEvent } from '../chat/chat-event.js';
import { CancelledError, ChainError } from '../errors.js';
import { Observable, type Subscriber } from '../rxjs.js';
import { toRequest, type SpecState } from './spec-state.js';

/**
 * The events of a run. Cold: each subscription is a run of its own. Aborting the signal ends it with a
 * {@link CancelledError}, unsubscribing ends it in silence; both end the request and the tools.
 */
export function runEvents(state: SpecState, mode: 'call' | 'stream'): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    if (state.signal && !watch(state.signal, subscriber)) return;
    const controller = new AbortController();
    const request = toRequest(state, mode, controller.signal);
    let ended = false;
    let responses = 0;
    subscriber.add(() => {
      if (!ended) controller.abort();
    });
    state.chains
      .of(state)(request)
      .subscribe({
        next: (event) => {
          if (responses > 0)
            return subscriber.error(new ChainError(`the event "${event.type}" came after the response; an advisor must complete after it`));
          if (event.type === 'response') responses++;
          subscriber.next(event);
        },
        error: (error: unknown) => {
          ended = true;
          subscriber.error(error);
        },
        complete: () => {
          ended = true;
          if (responses > 0) subscriber.complete();
          else subscriber.error(new ChainError('the chain ended without a response event; an advisor has dropped it'));
        },
      });
  });
}

function watch(signal: AbortSignal, subscriber: Subscriber<ChatEvent>): boolean {
  const release = onAbort(signal, () =>
    subscriber.error(new CancelledError('The run was cancelled by its signal.', { cause: signal.reason })),
  );
  subscriber.add(release);
  return !signal.aborted;
}

/** Runs to the end and gives the complete answer. */
export function runToEnd(state: SpecState): Promise<ChatClientResponse> {
  return new Promise((resolve, reject) => {
    let response: ChatClientResponse | undefined;
    runEvents(state, 'call').subscribe({
      next: (event) => {
        if (event.type === 'response') response = new ChatClientResponse(event.response, event.context);
      },
      error: reject,
      complete: () => resolve(response as ChatClientResponse),
    });
  });
}
