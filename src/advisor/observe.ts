import { isDelta, type ChatEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { Observation, ObservedEvent } from '../chat/observation.js';
import { ChainError } from '../errors.js';
import { Observable, Subscriber } from '../rxjs.js';
import type { AdvisorHandler } from './advisor-chain.js';
import type { Advisor } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';

/** An advisor and what follows it, watched as a part of the part that its request is in. */
export function observeAdvisor(
  { name, order }: Advisor,
  request: ChatClientRequest,
  observation: Observation,
  handler: AdvisorHandler,
): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    const own = observation.begin({ type: 'advisor', name, order, options: request.prompt.options });
    const events = new ObservedEvents(own, subscriber);
    own.run(() => handler(request.withObservation(own)).subscribe(events));
  });
}

/** Passes events on. A part has ended before anybody who waits for it hears of its end, so that parts end from the inside out. */
export class ObservedEvents extends Subscriber<ChatEvent> {
  private response: ChatResponse | undefined;

  constructor(
    protected readonly observation: Observation,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    if (event.type === 'response') this.response = event.response;
    this.subscriber.next(event);
  }

  protected override _error(error: unknown): void {
    this.observation.end({ type: 'error', error });
    super._error(error);
  }

  protected override _complete(): void {
    const { response } = this;
    this.observation.end(response ? { type: 'response', response } : { type: 'error', error: new ChainError('no response event') });
    super._complete();
  }

  override unsubscribe(): void {
    super.unsubscribe();
    this.observation.end({ type: 'cancelled' });
  }
}

const CHUNK: ObservedEvent = { type: 'chunk' };

/** The events of a model, whose pieces are counted where they arrive. */
export class ObservedModelEvents extends ObservedEvents {
  protected override _next(event: ChatEvent): void {
    if (isDelta(event)) this.observation.note(CHUNK);
    super._next(event);
  }
}
