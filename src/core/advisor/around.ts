import {
  checkCustomEvent,
  isDelta,
  type ChatEvent,
  type ResponseEvent,
} from '../chat/chat-event.js';
import { responseProblem, type ChatResponse } from '../chat/chat-response.js';
import type { AdvisorContext } from '../chat/context.js';
import { ChainError } from '../errors/errors.js';
import { cancelledError, isPromise } from '../internal/cancellation.js';
import { describe } from '../errors/describe.js';
import { Observable, type Subscriber } from '../internal/rxjs.js';
import type { AdvisorChain, AroundChain, Before, Next } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { toDeltas, ResponseSubscriber } from './event-subscribers.js';
import { ChatClientResponse } from './chat-client-response.js';
import type { AdvisorFunctions } from './define-advisor.js';
import { Position } from './position.js';

/** The functions of an advisor that need the complete answer. */
type AroundFunctions = Pick<
  AdvisorFunctions,
  'name' | 'around' | 'before' | 'after' | 'holdDeltas'
>;

/** Runs async functions around the rest of the chain, as events. */
export function runAround(
  functions: AroundFunctions,
  request: ChatClientRequest,
  chain: Omit<AdvisorChain, 'tools'>,
): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    // ends the run even if the functions await something that ignores the cancellation
    const cancel = (cause: unknown): void => subscriber.error(cancelledError(cause));
    const release = request.cancellation.onCancel(cancel);
    if (subscriber.closed) return release;
    const position = Position.of(chain, functions.name);
    const run = new AroundRun(functions, request, position, subscriber);
    const done = run.start(request);
    return () => {
      release();
      // functions that outlive a cancellation, such as a write, belong to the run until they end
      if (run.pending) request.run.track(done);
    };
  });
}

/** Runs `before`, then subscribes the rest of the chain with the request that it returned. */
export function subscribeAfter(
  name: string,
  before: Before,
  request: ChatClientRequest,
  subscriber: Subscriber<ChatEvent>,
  subscribeRest: (changed: ChatClientRequest) => void,
): void {
  const subscribe = (changed: ChatClientRequest | void): void => {
    if (!subscriber.closed) subscribeRest(checkChangedRequest(name, changed ?? request));
  };
  const changed = before(request);
  if (!isPromise(changed)) return subscribe(changed);
  changed.then(subscribe).catch((error: unknown) => subscriber.error(error));
}

/** @throws {@link ChainError} if `before` returned something else than a request */
function checkChangedRequest(name: string, changed: ChatClientRequest): ChatClientRequest {
  if (typeof changed?.withPrompt === 'function') return changed;
  throw new ChainError(
    `advisor "${name}": before must return a ChatClientRequest or nothing, not ${describe(changed)}`,
  );
}

class AroundRun {
  /** The latest answer. */
  private answer: ChatClientResponse | undefined;
  /** True until the functions have ended. */
  pending = true;

  constructor(
    private readonly functions: AroundFunctions,
    private readonly request: ChatClientRequest,
    private readonly position: Position,
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
      const response = await (around ? around(request, next, this.toChain()) : next(request));
      const answer = this.toAnswer('around', response, this.answer?.context ?? request.context);
      if (this.subscriber.closed) return; // `after` must not see the answer of a cancelled run
      const changed = after && (await after(answer, request));
      this.pending = false;
      this.finish(changed ? this.toAnswer('after', changed, answer.context) : answer);
    } catch (error) {
      this.pending = false;
      this.subscriber.error(error);
    }
  }

  private toChain(): AroundChain {
    const { position, subscriber } = this;
    const { next, advisors } = position;
    const emitAny = (event: ChatEvent): void => subscriber.next(event);
    const emit: AroundChain['emit'] = (event) => {
      checkCustomEvent(event, `advisor "${this.functions.name}": emit(…)`);
      subscriber.next(event);
    };
    const tools: AroundChain['tools'] = (request, onEvent = emitAny) =>
      position.tools(request, onEvent);
    return { next, advisors, tools, emit };
  }

  private callNext(
    request: ChatClientRequest,
    onEvent: ((event: ChatEvent) => void) | undefined,
  ): Promise<ChatClientResponse> {
    const answer = new Promise<ChatClientResponse>((resolve, reject) => {
      const pending = new PendingAnswer(this, onEvent, resolve, reject);
      if (!pending.closed) this.position.subscribe(request, pending);
    });
    answer.catch(() => undefined); // the advisor may await something else when it rejects
    return answer;
  }

  toResponse(response: ChatResponse, context: AdvisorContext): ChatClientResponse {
    return (this.answer = new ChatClientResponse(response, context, this.request.run));
  }

  /** True if the event is held back: the deltas of the answer follow when it is final. */
  holds(event: ChatEvent): boolean {
    return this.functions.holdDeltas === true && isDelta(event);
  }

  private toAnswer(
    source: 'around' | 'after',
    response: ChatResponse,
    context: AdvisorContext,
  ): ChatClientResponse {
    if (this.answer && response === this.answer) return this.answer; // checked by the position
    const problem = responseProblem(response);
    if (problem !== undefined)
      throw new ChainError(`advisor "${this.functions.name}": ${source} must return ${problem}`);
    return 'toEvent' in response
      ? (response as ChatClientResponse)
      : this.toResponse(response, context);
  }

  private finish(answer: ChatClientResponse): void {
    const { holdDeltas } = this.functions;
    if (
      this.request.mode === 'stream' &&
      (holdDeltas || !this.position.hasStreamed(answer.message))
    ) {
      const retraction = holdDeltas ? undefined : this.position.retraction();
      if (retraction) this.subscriber.next(retraction);
      for (const delta of toDeltas(answer)) this.subscriber.next(delta);
    }
    this.subscriber.next(answer.toEvent());
    this.subscriber.complete();
  }
}

/** One `next` call of an advisor; ends with the run, so that `finally` blocks of the advisor run. */
class PendingAnswer extends ResponseSubscriber {
  constructor(
    private readonly run: AroundRun,
    private readonly onEvent: ((event: ChatEvent) => void) | undefined,
    resolve: (response: ChatClientResponse) => void,
    reject: (error: unknown) => void,
  ) {
    const onResponse = ({ response, context }: ResponseEvent): void => {
      resolve(run.toResponse(response, context));
    };
    super(onResponse, reject, run.subscriber);
  }

  protected override _next(event: ChatEvent): void {
    try {
      this.onEvent?.(event);
    } catch (error) {
      return this.error(error);
    }
    if (!this.run.holds(event)) super._next(event);
  }
}
