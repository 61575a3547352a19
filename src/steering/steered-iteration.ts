import type { AdvisorChain } from '../advisor/advisor.js';
import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import { ResponseSubscriber } from '../advisor/event-subscribers.js';
import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import { cancelledError } from '../internal/cancellation.js';
import type { Subscriber } from '../internal/rxjs.js';
import type { SteeredTurn } from './steered-turn.js';

/**
 * The model call of one iteration. It starts again with the messages that have come in the meantime
 * if one of them interrupts, or if the answer would end the turn; the chain retracts what was shown.
 */
export class SteeredIteration {
  private attempt: ResponseSubscriber | undefined;
  private release: (() => void) | undefined;

  constructor(
    private readonly turn: SteeredTurn,
    private readonly request: ChatClientRequest,
    private readonly chain: Pick<AdvisorChain, 'next'>,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    const { cancellation } = request;
    subscriber.add(cancellation.onCancel((cause) => subscriber.error(cancelledError(cause))));
    subscriber.add(() => this.release?.());
  }

  start(): void {
    const { turn, subscriber } = this;
    if (subscriber.closed) return;
    const request = turn.addTo(this.request);
    const attempt: ResponseSubscriber = new ResponseSubscriber(
      (event) => this.onResponse(event),
      (error) => {
        if (this.attempt === attempt) subscriber.error(error);
      },
      subscriber,
    );
    this.attempt = attempt;
    this.release = turn.interruption.onCancel(() => this.restart());
    this.chain.next(request).subscribe(attempt);
  }

  private restart(): void {
    const { attempt } = this;
    this.attempt = undefined;
    this.release?.();
    attempt?.unsubscribe();
    // not within the event at which the application has sent the message
    queueMicrotask(() => this.start());
  }

  private onResponse(event: ResponseEvent): void {
    const { turn, subscriber } = this;
    if (subscriber.closed) return;
    if (!event.response.hasToolCalls() && turn.hasNext) return this.restart();
    this.release?.();
    turn.confirm();
    subscriber.next(event);
    subscriber.complete();
  }
}
