import type { AdvisorChain } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { ResponseSubscriber } from '../../src/core/advisor/event-subscribers.js';
import type { ChatEvent, ResponseEvent } from '../../src/core/chat/chat-event.js';
import { cancelledError } from '../../src/core/internal/cancellation.js';
import { giveUp, isGivenUp } from '../../src/core/internal/give-up.js';
import type { Subscriber } from '../../src/core/internal/rxjs.js';
import type { SentMessage, SteeredTurn } from './steered-turn.js';

/**
 * The model call of one iteration. It starts again with the messages that have come in the meantime
 * if one of them interrupts, or if the answer would end the turn; the chain retracts what was shown.
 */
export class SteeredIteration {
  private attempt: ResponseSubscriber | undefined;
  private release: (() => void) | undefined;

  /** @param name of the advisor */
  constructor(
    private readonly name: string,
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
    const { turn, subscriber, isRecording } = this;
    if (subscriber.closed) return;
    if (isRecording) this.take((next) => this.startWith(next));
    else this.startWith(turn.takeNext());
  }

  private get isRecording(): boolean {
    return this.request.run.recorder.isRecording;
  }

  /** Takes the messages for the next model call in a step. */
  private take(use: (next: readonly SentMessage[]) => void): void {
    const { turn, request, subscriber } = this;
    turn
      .recordNext(request.run.recorder, request.iteration)
      .then((messages) => (subscriber.closed ? turn.keep(messages) : use(messages)))
      .catch((error: unknown) => subscriber.error(error));
  }

  private startWith(next: readonly SentMessage[]): void {
    const { turn } = this;
    const request = turn.addTo(this.request, next);
    const attempt: ResponseSubscriber = new ResponseSubscriber(
      (event) => this.onResponse(event),
      (error) => {
        if (this.attempt === attempt) this.onError(error);
      },
      this.subscriber,
    );
    this.attempt = attempt;
    this.release = turn.interruption.onCancel(() => this.interrupt());
    this.chain.next(request).subscribe(attempt);
  }

  /** An answer that is recorded stands: the message comes after it. */
  private interrupt(): void {
    if (!this.request.run.recorder.isReplaying) this.restart();
  }

  private restart(): void {
    const { attempt, name } = this;
    this.attempt = undefined;
    this.release?.();
    if (attempt) giveUp(attempt, name);
    // not within the event at which the application has sent the message
    queueMicrotask(() => this.start());
  }

  private onError(error: unknown): void {
    if (isGivenUp(error, this.name)) this.restart();
    else this.subscriber.error(error);
  }

  private onResponse(event: ResponseEvent): void {
    const { turn, subscriber, isRecording } = this;
    if (subscriber.closed) return;
    if (event.response.hasToolCalls()) return this.end(event);
    if (!isRecording) return turn.hasNext ? this.restart() : this.end(event);
    this.release?.();
    this.take((next) => (next.length > 0 ? this.startWith(next) : this.end(event)));
  }

  private end(event: ResponseEvent): void {
    const { turn, subscriber } = this;
    this.release?.();
    turn.confirm();
    subscriber.next(event);
    subscriber.complete();
  }
}
