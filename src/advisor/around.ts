import { DELTA_TYPES, isDelta, type ChatEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { AdvisorContext } from '../chat/context.js';
import { describe, type AssistantMessage } from '../chat/message.js';
import { CancelledError, ChainError } from '../errors.js';
import { Observable, Subscriber, Subscription } from '../rxjs.js';
import type { AdvisorHandler } from './advisor-chain.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { ChatClientResponse } from './chat-client-response.js';

/** The rest of the chain as a function: resolves with its complete answer, while its deltas flow on. */
export type Next = (request: ChatClientRequest) => Promise<ChatClientResponse>;

/** One function around the rest of the chain, for both modes. */
export type Around = (request: ChatClientRequest, next: Next) => ChatResponse | Promise<ChatResponse>;

/** Before the rest of the chain: the request to go on with, or nothing to leave it. */
export type Before = (request: ChatClientRequest) => ChatClientRequest | void | Promise<ChatClientRequest | void>;

/** After the rest of the chain: the response to go on with, or nothing to leave it. */
export type After = (response: ChatClientResponse, request: ChatClientRequest) => ChatResponse | void | Promise<ChatResponse | void>;

/** The functions of one advisor that need the complete answer. */
export interface AroundFunctions {
  readonly name: string;
  readonly around?: Around;
  readonly before?: Before;
  readonly after?: After;
}

/** Runs functions as a link of the chain. */
export function runAround(functions: AroundFunctions, request: ChatClientRequest, next: AdvisorHandler): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    // also where the functions wait for something that knows no signal
    subscriber.add(request.cancellation.onCancel((cause) => subscriber.error(cancelled(cause))));
    if (!subscriber.closed) void new AroundRun(functions, request.mode, next, subscriber).start(request);
  });
}

/** @throws {@link ChainError} if what `before` returned is not a request */
export function checkChangedRequest(name: string, changed: ChatClientRequest): ChatClientRequest {
  if (typeof changed?.withPrompt === 'function') return changed;
  throw new ChainError(`advisor "${name}": before must return a ChatClientRequest or nothing, not ${describe(changed)}`);
}

class AroundRun {
  /** Every `next` that is under way. */
  private readonly attempts = new Subscription();
  /** The attempt whose deltas flow on; what is said by others beside it would be mixed up with it. */
  private voice: Attempt | undefined;
  private context: AdvisorContext | undefined;

  constructor(
    private readonly functions: AroundFunctions,
    private readonly mode: ChatClientRequest['mode'],
    private readonly rest: AdvisorHandler,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    subscriber.add(this.attempts);
  }

  /** Never rejects: whatever happens goes to the subscriber. */
  async start(original: ChatClientRequest): Promise<void> {
    const { name, before, around, after } = this.functions;
    try {
      const request = before ? checkChangedRequest(name, (await before(original)) ?? original) : original;
      if (this.subscriber.closed) return;
      const response = await (around ? around(request, (changed) => this.next(changed)) : this.next(request));
      const answer = this.toAnswer('around', response, this.context ?? request.context);
      // nobody waits any more: what `after` does for an answer must not be done for half of one
      if (this.subscriber.closed) return;
      const changed = await after?.(answer, request);
      this.finish(changed ? this.toAnswer('after', changed, answer.context) : answer);
    } catch (error) {
      this.subscriber.error(error);
    }
  }

  private next(request: ChatClientRequest): Promise<ChatClientResponse> {
    const answer = new Promise<ChatClientResponse>((resolve, reject) => {
      const events = this.rest(request);
      const attempt = new Attempt(this, request, { resolve, reject });
      // when the run is over, so is the attempt: a waiting `next` rejects, so that `finally` blocks of the advisor run
      this.attempts.add(attempt);
      this.listenTo(attempt);
      if (!attempt.closed) events.subscribe(attempt);
    });
    const remember = ({ context }: ChatClientResponse): void => {
      this.context = context;
    };
    // whoever awaits it sees the rejection; an advisor that awaits something else meanwhile must not take the process down
    answer.then(remember, () => undefined);
    return answer;
  }

  private listenTo(attempt: Attempt): void {
    if (this.voice && !this.voice.closed) return;
    if (this.voice) this.retract(this.voice, this.voice.request.iteration);
    this.voice = attempt;
  }

  hear(attempt: Attempt, event: ChatEvent): void {
    if (attempt === this.voice) attempt.track(event);
    else if (SPEECH.has(event.type)) return;
    this.subscriber.next(event);
  }

  noResponse(): ChainError {
    return new ChainError(`what follows the advisor "${this.functions.name}" ended without a response event`);
  }

  /** What was streamed from an iteration on is void, since it is tried again or its answer was replaced. */
  private retract(attempt: Attempt, iteration: number): void {
    if (attempt.streamed) this.subscriber.next({ type: 'retract', iteration });
  }

  private toAnswer(part: string, response: ChatResponse, context: AdvisorContext): ChatClientResponse {
    if (typeof response?.hasToolCalls !== 'function') {
      throw new ChainError(`advisor "${this.functions.name}": ${part} must return a ChatResponse, not ${describe(response)}`);
    }
    return 'toEvent' in response ? (response as ChatClientResponse) : new ChatClientResponse(response, context);
  }

  private finish(answer: ChatClientResponse): void {
    if (this.mode === 'stream' && !this.voice?.hasSaid(answer.message)) {
      if (this.voice) this.retract(this.voice, this.voice.iteration);
      for (const delta of deltasOf(answer.message)) this.subscriber.next(delta);
    }
    this.subscriber.next(answer.toEvent());
    this.subscriber.complete();
  }
}

/** What makes sense only together with the deltas around it. */
const SPEECH: ReadonlySet<ChatEvent['type']> = new Set([...DELTA_TYPES, 'iteration', 'retract']);

interface Waiting {
  readonly resolve: (response: ChatClientResponse) => void;
  readonly reject: (error: unknown) => void;
}

/** One `next` of an advisor. */
class Attempt extends Subscriber<ChatEvent> {
  /** Whether deltas flowed on that nobody has retracted. */
  streamed = false;
  /** The iteration whose deltas are flowing. */
  iteration: number;
  private response: ChatClientResponse | undefined;
  private waiting: Waiting | undefined;

  constructor(
    private readonly run: AroundRun,
    readonly request: ChatClientRequest,
    waiting: Waiting,
  ) {
    super();
    this.iteration = request.iteration;
    this.waiting = waiting;
    this.add(() => this.waiting?.reject(cancelled()));
  }

  track(event: ChatEvent): void {
    if (isDelta(event)) this.streamed = true;
    else if (event.type === 'iteration') this.iteration = event.index + 1;
    else if (event.type === 'retract') {
      this.iteration = event.iteration;
      this.streamed &&= event.iteration > this.request.iteration;
    }
  }

  /** Whether the deltas that flowed on add up to this message. */
  hasSaid(message: AssistantMessage): boolean {
    const said = this.request.mode === 'stream' ? this.response?.message : undefined;
    return said?.text === message.text && said.reasoning === message.reasoning && said.toolCalls === message.toolCalls;
  }

  protected override _next(event: ChatEvent): void {
    if (event.type === 'response') this.response = new ChatClientResponse(event.response, event.context);
    else this.run.hear(this, event);
  }

  protected override _error(error: unknown): void {
    this.settle(({ reject }) => reject(error));
  }

  protected override _complete(): void {
    const { response } = this;
    this.settle(({ resolve, reject }) => (response ? resolve(response) : reject(this.run.noResponse())));
  }

  private settle(how: (waiting: Waiting) => void): void {
    if (this.waiting) how(this.waiting);
    this.waiting = undefined;
    this.unsubscribe();
  }
}

/** A message that no model streamed, as deltas. */
function deltasOf({ reasoning, text, toolCalls }: AssistantMessage): ChatEvent[] {
  return [
    ...(reasoning ? [{ type: 'reasoning-delta', text: reasoning } as const] : []),
    ...(text ? [{ type: 'text-delta', text } as const] : []),
    ...toolCalls.map(
      (call, index) => ({ type: 'tool-call-delta', index, id: call.id, name: call.name, arguments: call.arguments }) as const,
    ),
  ];
}

function cancelled(cause?: unknown): CancelledError {
  return new CancelledError('The run was cancelled.', cause === undefined ? {} : { cause });
}
