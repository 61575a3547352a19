import { isDelta, type ChatEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { Observation, ObservedEvent } from '../chat/observation.js';
import { ChainError } from '../errors.js';
import { Observable, Subscriber } from '../rxjs.js';
import type { AdvisorHandler } from './advisor-chain.js';
import type { Advisor } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { ResponseSubscriber } from './response-subscriber.js';

/** An advisor and what follows it, watched as a part of the part that its request is in. */
export function observeAdvisor(
  { name, order }: Advisor,
  request: ChatClientRequest,
  observation: Observation,
  handler: AdvisorHandler,
): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    if (subscriber.closed) return;
    const own = observation.begin({ type: 'advisor', name, order, options: request.prompt.options });
    const events = new ObservedEvents(own, subscriber, observation);
    own.run(() => handler(request.withObservation(own)).subscribe(events));
  });
}

/**
 * Passes events on. What is done with them belongs to those who hear them, so they are handed on in the surroundings of the outer part; but
 * not each piece of an answer, of which there are thousands. A part has ended before anybody who waits for it hears of its end, so that parts end from the inside out.
 */
export class ObservedEvents extends Subscriber<ChatEvent> {
  private response: ChatResponse | undefined;
  private readonly outer: Observation | undefined;

  constructor(
    protected readonly observation: Observation,
    private readonly subscriber: Subscriber<ChatEvent>,
    outer?: Observation,
  ) {
    super(subscriber);
    this.outer = isPassing(subscriber) ? undefined : outer;
  }

  protected override _next(event: ChatEvent): void {
    if (event.type === 'response') this.hear(event.response);
    if (!this.outer || isDelta(event)) this.subscriber.next(event);
    else this.nextOutside(event);
  }

  /** A method of its own: where a function is made of what a method was given, each call of that method takes memory for it. */
  private nextOutside(event: ChatEvent): void {
    this.outside(() => this.subscriber.next(event));
  }

  protected override _error(error: unknown): void {
    this.observation.end({ type: 'error', error });
    this.outside(() => super._error(error));
  }

  protected override _complete(): void {
    const { response } = this;
    this.observation.end(response ? { type: 'response', response } : { type: 'error', error: new ChainError('no response event') });
    this.outside(() => super._complete());
  }

  override unsubscribe(): void {
    super.unsubscribe();
    this.observation.end({ type: 'cancelled' });
  }

  private hear(response: ChatResponse): void {
    this.response = response;
    this.observation.note({ type: 'response', response });
  }

  private outside(work: () => void): void {
    if (this.outer) this.outer.run(work);
    else work();
  }
}

/** Whether what is done with an event is done elsewhere: where somebody awaits it, or in surroundings that are entered further on. */
function isPassing(subscriber: Subscriber<ChatEvent> | undefined): boolean {
  if (subscriber instanceof ResponseSubscriber) return !subscriber.listener || isPassing(subscriber.listener);
  return subscriber instanceof ObservedEvents;
}

const CHUNK: ObservedEvent = { type: 'chunk' };

/** The events of a model, whose pieces are counted where they arrive. */
export class ObservedModelEvents extends ObservedEvents {
  protected override _next(event: ChatEvent): void {
    if (isDelta(event)) this.observation.note(CHUNK);
    super._next(event);
  }
}
