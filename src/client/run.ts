import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import { ChatClientResponse } from '../advisor/chat-client-response.js';
import { ResponseSubscriber } from '../advisor/event-subscribers.js';
import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import { CancelledError } from '../errors.js';
import { Cancellation, onAbort, type Backpressure } from '../internal/cancellation.js';
import { Observable, Subscriber } from '../internal/rxjs.js';
import { provideTools } from '../tool/tool-provider.js';
import { advisorsOf, toRequest, type RequestSettings } from './request-settings.js';

/**
 * The events of a run. Cold: each subscription is a run of its own. Both aborting the signal, which
 * ends it with a {@link CancelledError}, and unsubscribing end the model request and the tools.
 */
export function runEvents(
  settings: RequestSettings,
  mode: 'call' | 'stream',
  ready?: Backpressure,
): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    const { signal, tools, providers } = settings;
    if (signal) subscriber.add(onAbort(signal, () => subscriber.error(abortError(signal))));
    if (subscriber.closed) return;
    const cancellation = new Cancellation(ready);
    const run = new Run(subscriber, () => cancellation.cancel(signal?.reason));
    const chain = settings.chainOf(advisorsOf(settings));
    const request = toRequest(settings, mode, cancellation);
    const start = (changed: ChatClientRequest): void => {
      if (!run.closed) chain(changed).subscribe(run);
    };
    if (providers.length === 0) return start(request);
    provideTools(tools, providers, request, cancellation)
      .then((provided) => start(request.withTools(provided)))
      .catch((error: unknown) => run.error(error));
  });
}

function abortError({ reason }: AbortSignal): CancelledError {
  return new CancelledError('The run was cancelled by its signal.', { cause: reason as unknown });
}

/** Cancels what a run has started when it ends early. */
class Run extends Subscriber<ChatEvent> {
  constructor(
    subscriber: Subscriber<ChatEvent>,
    private readonly cancel: () => void,
  ) {
    super(subscriber);
    this.add(cancel);
  }

  protected override _complete(): void {
    this.remove(this.cancel);
    super._complete();
  }
}

/** Runs to the end and returns the complete answer. */
export async function runToEnd(settings: RequestSettings): Promise<ChatClientResponse> {
  const { response, context } = await new Promise<ResponseEvent>((resolve, reject) => {
    runEvents(settings, 'call').subscribe(new ResponseSubscriber(resolve, reject));
  });
  return new ChatClientResponse(response, context);
}
