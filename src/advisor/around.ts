import { isDelta, type ChatEvent, type ResponseEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { AdvisorContext } from '../chat/context.js';
import type { AssistantMessage } from '../chat/message.js';
import { ChainError } from '../errors.js';
import { cancelledError } from '../internal/cancellation.js';
import { describe } from '../internal/text.js';
import { Observable, type Subscriber } from '../internal/rxjs.js';
import type { AdvisorChain, Around, Next } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { ChatClientResponse } from './chat-client-response.js';
import { ResponseSubscriber } from './event-subscribers.js';

/** Runs before the rest of the chain; returns the next request, or nothing to keep it. */
export type Before = (
  request: ChatClientRequest,
) => ChatClientRequest | void | Promise<ChatClientRequest | void>;

/** Runs after the rest of the chain; returns the next response, or nothing to keep it. */
export type After = (
  response: ChatClientResponse,
  request: ChatClientRequest,
) => ChatResponse | void | Promise<ChatResponse | void>;

/** The functions of one advisor that need the complete answer. */
export interface AroundFunctions {
  readonly name: string;
  readonly around?: Around;
  readonly before?: Before;
  readonly after?: After;
}

/** Runs async functions around the rest of the chain, as events. */
export function runAround(
  functions: AroundFunctions,
  request: ChatClientRequest,
  chain: AdvisorChain,
): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    // ends the run even if the functions await something that ignores the cancellation
    const cancel = (cause: unknown): void => subscriber.error(cancelledError(cause));
    subscriber.add(request.cancellation.onCancel(cancel));
    if (!subscriber.closed)
      void new AroundRun(functions, request.mode, chain, subscriber).start(request);
  });
}

/** @throws {@link ChainError} if `before` returned something else than a request */
export function checkChangedRequest(name: string, changed: ChatClientRequest): ChatClientRequest {
  if (typeof changed?.withPrompt === 'function') return changed;
  throw new ChainError(
    `advisor "${name}": before must return a ChatClientRequest or nothing, not ${describe(changed)}`,
  );
}

class AroundRun {
  /** Only one attempt streams at a time; deltas of concurrent attempts are dropped. */
  streamingAttempt: Attempt | undefined;
  /** The context of the latest answer. */
  context: AdvisorContext | undefined;

  constructor(
    readonly functions: AroundFunctions,
    private readonly mode: ChatClientRequest['mode'],
    private readonly chain: AdvisorChain,
    readonly subscriber: Subscriber<ChatEvent>,
  ) {}

  /** Never rejects: errors go to the subscriber. */
  async start(original: ChatClientRequest): Promise<void> {
    const { name, before, around, after } = this.functions;
    const next: Next = (changed, onEvent) => this.callNext(changed, onEvent);
    try {
      const request = before
        ? checkChangedRequest(name, (await before(original)) ?? original)
        : original;
      if (this.subscriber.closed) return;
      const response = await (around ? around(request, next, this.chain) : next(request));
      const answer = this.toAnswer('around', response, this.context ?? request.context);
      if (this.subscriber.closed) return; // `after` must not see the answer of a cancelled run
      const changed = await after?.(answer, request);
      this.finish(changed ? this.toAnswer('after', changed, answer.context) : answer);
    } catch (error) {
      this.subscriber.error(error);
    }
  }

  private callNext(
    request: ChatClientRequest,
    onEvent: ((event: ChatEvent) => void) | undefined,
  ): Promise<ChatClientResponse> {
    const answer = new Promise<ChatClientResponse>((resolve, reject) => {
      const events = this.chain.next(request);
      const attempt = new Attempt(this, request, onEvent, resolve, reject);
      this.startStreaming(attempt);
      if (!attempt.closed) events.subscribe(attempt);
    });
    answer.catch(() => undefined); // the advisor may await something else when it rejects
    return answer;
  }

  private startStreaming(attempt: Attempt): void {
    const previous = this.streamingAttempt;
    if (previous && !previous.closed) return;
    if (previous) this.retract(previous, previous.request.iteration);
    this.streamingAttempt = attempt;
  }

  /** Voids the deltas from an iteration on: it is tried again, or its answer was replaced. */
  private retract(attempt: Attempt, iteration: number): void {
    if (attempt.streamed) this.subscriber.next({ type: 'retract', iteration });
  }

  private toAnswer(
    source: 'around' | 'after',
    response: ChatResponse,
    context: AdvisorContext,
  ): ChatClientResponse {
    if (typeof response?.hasToolCalls !== 'function')
      throw new ChainError(
        `advisor "${this.functions.name}": ${source} must return a ChatResponse, not ${describe(response)}`,
      );
    return 'toEvent' in response
      ? (response as ChatClientResponse)
      : new ChatClientResponse(response, context);
  }

  private finish(answer: ChatClientResponse): void {
    const attempt = this.streamingAttempt;
    if (this.mode === 'stream' && !attempt?.hasStreamed(answer.message)) {
      if (attempt) this.retract(attempt, attempt.iteration);
      for (const delta of toDeltas(answer.message)) this.subscriber.next(delta);
    }
    this.subscriber.next(answer.toEvent());
    this.subscriber.complete();
  }
}

/** One `next` call of an advisor; ends with the run, so that `finally` blocks of the advisor run. */
class Attempt extends ResponseSubscriber {
  /** True if deltas were emitted that are not retracted. */
  streamed = false;
  /** The iteration that is streaming. */
  iteration: number;

  constructor(
    private readonly run: AroundRun,
    readonly request: ChatClientRequest,
    private readonly onEvent: ((event: ChatEvent) => void) | undefined,
    resolve: (response: ChatClientResponse) => void,
    reject: (error: unknown) => void,
  ) {
    const onResponse = ({ response, context }: ResponseEvent): void => {
      run.context = context;
      resolve(new ChatClientResponse(response, context));
    };
    const source = `the chain after the advisor "${run.functions.name}"`;
    super(source, onResponse, reject, run.subscriber);
    this.iteration = request.iteration;
  }

  /** True if the emitted deltas add up to this message. */
  hasStreamed(message: AssistantMessage): boolean {
    const streamed = this.request.mode === 'stream' ? this.held?.response.message : undefined;
    return (
      streamed?.text === message.text &&
      streamed.reasoning === message.reasoning &&
      streamed.toolCalls === message.toolCalls
    );
  }

  protected override _next(event: ChatEvent): void {
    try {
      this.onEvent?.(event);
    } catch (error) {
      return this.error(error);
    }
    if (this.run.streamingAttempt === this) this.trackDeltas(event);
    else if (isDelta(event) || event.type === 'iteration' || event.type === 'retract') return;
    super._next(event);
  }

  private trackDeltas(event: ChatEvent): void {
    if (isDelta(event)) this.streamed = true;
    else if (event.type === 'iteration') this.iteration = event.index + 1;
    else if (event.type === 'retract') {
      this.iteration = event.iteration;
      this.streamed &&= event.iteration > this.request.iteration;
    }
  }
}

/** The deltas of a message that no model streamed. */
function toDeltas({ reasoning, text, toolCalls }: AssistantMessage): readonly ChatEvent[] {
  return [
    ...(reasoning ? [{ type: 'reasoning-delta', text: reasoning } as const] : []),
    ...(text ? [{ type: 'text-delta', text } as const] : []),
    ...toolCalls.map(
      ({ id, name, arguments: json }, index) =>
        ({ type: 'tool-call-delta', index, id, name, arguments: json }) as const,
    ),
  ];
}
