import {
  isDelta,
  type ChatEvent,
  type CustomEvent,
  type ResponseEvent,
} from '../chat/chat-event.js';
import { responseProblem, type ChatResponse } from '../chat/chat-response.js';
import { forgedOwner } from '../chat/owned-events.js';
import { type AssistantMessage, textOf } from '../chat/message.js';
import { ChainError } from '../errors/errors.js';
import { cancelledError } from '../internal/cancellation.js';
import { Subscriber } from '../internal/rxjs.js';
import type { Observation, ObservedEvent } from '../observation/observation.js';
import type { Advisor } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';

/**
 * Holds the response of a run back until the run completes, and passes the other events on.
 * Rejects when it is unsubscribed before that, so that its caller does not wait for ever.
 */
export class ResponseSubscriber extends Subscriber<ChatEvent> {
  private held: ResponseEvent | undefined;
  private pending = true;

  /** @param listener receives the other events; when it ends, the run is unsubscribed */
  constructor(
    private readonly resolve: (event: ResponseEvent) => void,
    private readonly reject: (error: unknown) => void,
    private readonly listener?: Subscriber<ChatEvent>,
  ) {
    super();
    // linked before anything is emitted, so that a synchronous run can be cancelled midway
    listener?.add(this);
  }

  protected override _next(event: ChatEvent): void {
    if (event.type === 'response') this.held = event;
    else this.listener?.next(event);
  }

  protected override _error(error: unknown): void {
    this.pending = false;
    this.unsubscribe();
    this.reject(error);
  }

  protected override _complete(): void {
    this.pending = false;
    this.unsubscribe();
    this.resolve(this.held as ResponseEvent); // a chain completes after its response only
  }

  override unsubscribe(): void {
    super.unsubscribe();
    if (this.pending) this._error(cancelledError());
  }
}

/** Receives an answer: one valid response, as the last event. */
export abstract class CheckedAnswer extends Subscriber<ChatEvent> {
  /** The message of the response. */
  message: AssistantMessage | undefined;
  /** Number of the citations that were streamed in the iteration. */
  protected cited = 0;

  /** @param source the part of the chain that answers, for error messages */
  constructor(
    protected source: string,
    protected readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  /** True if the event may come now; if not, the run fails with the name of the source. */
  protected accepts(event: ChatEvent): boolean {
    if (this.message) return this.fail(`emitted the event "${event.type}" after its response`);
    if (event.type === 'custom') return this.isOwn(event);
    if (event.type !== 'response') return true;
    const problem = responseProblem(event.response);
    return problem === undefined || this.fail(`must emit ${problem}`);
  }

  private isOwn(event: CustomEvent): boolean {
    const owner = forgedOwner(event);
    if (owner === undefined) return true;
    return this.fail(`emitted the event "${event.name}", which only the ${owner} emits`);
  }

  protected override _complete(): void {
    if (this.message) super._complete();
    else this.fail('ended without a response event');
  }

  private fail(problem: string): false {
    this._error(new ChainError(`${this.source} ${problem}`)); // `error` is ignored during `complete`
    return false;
  }
}

/** The deltas of citations that an advisor has added to an answer that was streamed without them. */
export function citationDeltas({ citations }: ChatResponse, cited = 0): readonly ChatEvent[] {
  return citations.slice(cited).map((citation) => ({ type: 'citation', citation }));
}

/** The deltas of an answer that no model streamed. */
export function toDeltas(response: ChatResponse): readonly ChatEvent[] {
  const { message } = response;
  const { reasoning, toolCalls = [] } = message;
  const text = textOf(message);
  return [
    ...(reasoning ? [{ type: 'reasoning-delta', text: reasoning } as const] : []),
    ...(text ? [{ type: 'text-delta', text } as const] : []),
    ...citationDeltas(response),
    ...toolCalls.map(
      ({ id, name, arguments: json }, index) =>
        ({ type: 'tool-call-delta', index, id, name, arguments: json }) as const,
    ),
  ];
}

/** Observes an advisor, and the chain after it, as a part of the run. */
export function observeAdvisor(
  { name, order }: Advisor,
  request: ChatClientRequest,
  observation: Observation,
  run: (request: ChatClientRequest, subscriber: Subscriber<ChatEvent>) => void,
  subscriber: Subscriber<ChatEvent>,
): void {
  if (subscriber.closed) return;
  const { options } = request.prompt;
  const own = observation.begin({ type: 'advisor', name, order, options });
  const events = new ObservedSubscriber(own, subscriber, observation);
  own.run(() => {
    try {
      run(request.with({ observation: own }), events);
    } catch (error) {
      events.error(error);
    }
  });
}

/**
 * Reports the end of a part, and passes its events on in the context of the outer part, except for
 * deltas, of which there are thousands. A part ends before its consumer is notified, so that parts
 * end from the inside out.
 */
export class ObservedSubscriber extends Subscriber<ChatEvent> {
  private response: ChatResponse | undefined;

  constructor(
    protected readonly observation: Observation,
    private readonly subscriber: Subscriber<ChatEvent>,
    private readonly outer?: Observation,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    if (isDelta(event)) return this.subscriber.next(event);
    if (event.type === 'response') {
      this.response = event.response;
      this.observation.note({ type: 'response', response: event.response });
    }
    this.nextInOuter(event);
  }

  /** Apart from `_next`, where the function that has the event would cost each delta memory. */
  private nextInOuter(event: ChatEvent): void {
    this.runInOuter(() => this.subscriber.next(event));
  }

  protected override _error(error: unknown): void {
    this.observation.end({ type: 'error', error });
    this.runInOuter(() => super._error(error));
  }

  protected override _complete(): void {
    const { response } = this;
    if (response) this.observation.end({ type: 'response', response });
    else this.observation.end({ type: 'error', error: new ChainError('no response event') });
    this.runInOuter(() => super._complete());
  }

  override unsubscribe(): void {
    super.unsubscribe();
    this.observation.end({ type: 'cancelled' });
  }

  private runInOuter(work: () => void): void {
    if (this.outer) this.outer.run(work);
    else work();
  }
}

const CHUNK: ObservedEvent = { type: 'chunk' };

/** Reports each delta of a model when it arrives. */
export class ObservedModelSubscriber extends ObservedSubscriber {
  protected override _next(event: ChatEvent): void {
    if (isDelta(event)) this.observation.note(CHUNK);
    super._next(event);
  }
}
