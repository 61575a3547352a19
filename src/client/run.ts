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
    const run = new Run(subscriber, signal, ready);
    const chain = settings.chainOf(advisorsOf(settings));
    const request = toRequest(settings, mode, run.cancellation);
    const start = (changed: ChatClientRequest): void => {
      if (!run.closed) chain(changed).subscribe(run);
    };
    if (providers.length === 0) return start(request);
    provideTools(tools, providers, request, run.cancellation)
      .then((provided) => start(request.withTools(provided)))
      .catch((error: unknown) => run.error(error));
  });
}

function abortError({ reason }: AbortSignal): CancelledError {
  return new CancelledError('The run was cancelled by its signal.', { cause: reason as unknown });
}

/** Cancels what a run has started when it ends early. */
class Run extends Subscriber<ChatEvent> {
  readonly cancellation: Cancellation;
  private completed = false;

  constructor(
    subscriber: Subscriber<ChatEvent>,
    signal: AbortSignal | undefined,
    ready: Backpressure | undefined,
  ) {
    super(subscriber);
    this.cancellation = new Cancellation(ready);
    this.add(() => {
      if (!this.completed) this.cancellation.cancel(signal?.reason);
    });
  }

  protected override _complete(): void {
    this.completed = true;
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
