import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import { ChatClientResponse } from '../advisor/chat-client-response.js';
import { ResponseSubscriber } from '../advisor/event-subscribers.js';
import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import { CancelledError, ChainError } from '../errors.js';
import { Cancellation, onAbort, type Backpressure } from '../internal/cancellation.js';
import { Observable, Subscriber } from '../internal/rxjs.js';
import { provideTools } from '../tool/resolve-tools.js';
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

/** Passes the events of a chain on and enforces its contract: exactly one response, last. */
class Run extends Subscriber<ChatEvent> {
  readonly cancellation: Cancellation;
  private hasResponse = false;
  private completed = false;

  constructor(
    private readonly subscriber: Subscriber<ChatEvent>,
    signal: AbortSignal | undefined,
    ready: Backpressure | undefined,
  ) {
    super(subscriber);
    this.cancellation = new Cancellation(ready);
    this.add(() => {
      if (!this.completed) this.cancellation.cancel(signal?.reason);
    });
  }

  protected override _next(event: ChatEvent): void {
    if (this.hasResponse)
      return this.fail(
        `the event "${event.type}" came after the response; an advisor must complete after it`,
      );
    this.hasResponse = event.type === 'response';
    this.subscriber.next(event);
  }

  protected override _complete(): void {
    if (!this.hasResponse)
      return this.fail('the chain ended without a response event; an advisor has dropped it');
    this.completed = true;
    super._complete();
  }

  private fail(message: string): void {
    this.subscriber.error(new ChainError(message));
  }
}

/** Runs to the end and returns the complete answer. */
export async function runToEnd(settings: RequestSettings): Promise<ChatClientResponse> {
  const { response, context } = await new Promise<ResponseEvent>((resolve, reject) => {
    runEvents(settings, 'call').subscribe(new ResponseSubscriber('the chain', resolve, reject));
  });
  return new ChatClientResponse(response, context);
}
