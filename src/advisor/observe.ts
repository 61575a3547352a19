import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { Observation, ObservedEvent, ObservedPart } from '../chat/observation.js';
import { ChainError } from '../errors.js';
import { Observable, Subscriber } from '../rxjs.js';
import type { AdvisorHandler } from './advisor-chain.js';
import type { Advisor } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';

/** An advisor and what follows it, watched as a part of the part that its request is in. */
export function observeAdvisor({ name, order }: Advisor, request: ChatClientRequest, handler: AdvisorHandler): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    const part = { type: 'advisor', name, order, options: request.prompt.options } as const;
    observe(request.observation, part, subscriber, (own) => handler(request.withObservation(own)));
  });
}

/** Watches what some work leads to. What the work reports belongs to the part, also where the work goes on later. */
export function observe(
  observation: Observation | undefined,
  part: ObservedPart,
  subscriber: Subscriber<ChatEvent>,
  work: (own: Observation) => Observable<ChatEvent>,
): void {
  const own = observation?.begin(part);
  own?.run(() => work(own).subscribe(new ObservedEvents(own, subscriber)));
}

const DELTAS: ReadonlySet<ChatEvent['type']> = new Set(['text-delta', 'reasoning-delta', 'tool-call-delta']);
const CHUNK: ObservedEvent = { type: 'chunk' };

/** Passes events on. A part has ended before anybody who waits for it hears of its end, so that parts end from the inside out. */
export class ObservedEvents extends Subscriber<ChatEvent> {
  private response: ChatResponse | undefined;

  constructor(
    private readonly observation: Observation,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    if (DELTAS.has(event.type)) this.observation.note(CHUNK);
    else if (event.type === 'response') this.response = event.response;
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
