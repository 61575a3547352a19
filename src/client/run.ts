import type { AdvisorHandler } from '../advisor/advisor-chain.js';
import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import { ChatClientResponse } from '../advisor/chat-client-response.js';
import { ResponseSubscriber } from '../advisor/response-subscriber.js';
import { onAbort } from '../chat/abort.js';
import { Cancellation, type Ready } from '../chat/cancellation.js';
import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import { hears, type Selective } from '../chat/hears.js';
import { CancelledError, ChainError } from '../errors.js';
import { Observable, Subscriber } from '../rxjs.js';
import { provideTools } from '../tool/provide-tools.js';
import { toRequest, type SpecState } from './spec-state.js';

/**
 * The events of a run. Cold: each subscription is a run of its own. Aborting the signal ends it with a
 * {@link CancelledError}, unsubscribing ends it in silence; both end the request and the tools.
 * @param ready lets a slow consumer hold the model back
 */
export function runEvents(state: SpecState, mode: 'call' | 'stream', ready?: Ready): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    if (state.signal && !watch(state.signal, subscriber)) return;
    const run = new Run(subscriber, state.signal, ready);
    const chain = state.chains.of(state);
    const request = toRequest(state, mode, run.cancellation);
    if (state.providers.length === 0) chain(request).subscribe(run);
    else void startWithProvided(state, request, chain, run);
  });
}

/** Starts a run when its providers have given their tools, unless it is over before. Never rejects. */
async function startWithProvided(state: SpecState, request: ChatClientRequest, chain: AdvisorHandler, run: Run): Promise<void> {
  try {
    const tools = await provideTools(state.tools, state.providers, request, run.cancellation);
    if (!run.closed) chain(request.withTools(tools)).subscribe(run);
  } catch (error) {
    run.error(error);
  }
}

/** Ends the run when the signal aborts; false if it has. */
function watch(signal: AbortSignal, subscriber: Subscriber<ChatEvent>): boolean {
  subscriber.add(
    onAbort(signal, () => subscriber.error(new CancelledError('The run was cancelled by its signal.', { cause: signal.reason }))),
  );
  return !signal.aborted;
}

/** Passes the events of a chain on, and holds it to its contract: one response, last. */
class Run extends Subscriber<ChatEvent> implements Selective {
  readonly cancellation: Cancellation;
  private answered = false;
  private completed = false;

  constructor(
    private readonly subscriber: Subscriber<ChatEvent>,
    signal: AbortSignal | undefined,
    ready: Ready | undefined,
  ) {
    super(subscriber);
    this.cancellation = new Cancellation(ready);
    this.add(() => {
      if (!this.completed) this.cancellation.cancel(signal?.reason);
    });
  }

  hears(event: ChatEvent): boolean {
    return this.answered || hears(this.subscriber, event);
  }

  protected override _next(event: ChatEvent): void {
    if (this.answered) return this.breach(`the event "${event.type}" came after the response; an advisor must complete after it`);
    this.answered = event.type === 'response';
    this.subscriber.next(event);
  }

  protected override _complete(): void {
    if (!this.answered) return this.breach('the chain ended without a response event; an advisor has dropped it');
    this.completed = true;
    super._complete();
  }

  private breach(message: string): void {
    this.subscriber.error(new ChainError(message));
  }
}

/** Runs to the end and gives the complete answer. */
export async function runToEnd(state: SpecState): Promise<ChatClientResponse> {
  const { response, context } = await new Promise<ResponseEvent>((resolve, reject) => {
    runEvents(state, 'call').subscribe(new ResponseSubscriber('the chain', resolve, reject));
  });
  return new ChatClientResponse(response, context);
}
