import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { describe } from '../chat/message.js';
import { CancelledError, ChainError } from '../errors.js';
import { Observable, type Subscriber } from '../rxjs.js';
import type { AdvisorHandler } from './advisor-chain.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { ChatClientResponse } from './chat-client-response.js';

/** The rest of the chain as a function: resolves with its complete answer, while its deltas flow on. */
export type Next = (request: ChatClientRequest) => Promise<ChatClientResponse>;

/** One function around the rest of the chain, for both modes. */
export type Around = (request: ChatClientRequest, next: Next) => ChatResponse | Promise<ChatResponse>;

/** Runs an {@link Around} as a link of the chain. */
export function runAround(name: string, around: Around, request: ChatClientRequest, next: AdvisorHandler): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    const run = new AroundRun(name, request, next, subscriber);
    void run.start(around);
    return () => run.stop();
  });
}

const DELTAS: ReadonlySet<ChatEvent['type']> = new Set(['text-delta', 'reasoning-delta', 'tool-call-delta']);

class AroundRun {
  private readonly open = new Set<() => void>();
  private last: ChatClientResponse | undefined;
  private iteration: number;
  private streamed = false;

  constructor(
    private readonly name: string,
    private readonly request: ChatClientRequest,
    private readonly handler: AdvisorHandler,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    this.iteration = request.iteration;
  }

  /** Never rejects: whatever happens goes to the subscriber. */
  async start(around: Around): Promise<void> {
    try {
      const response = await around(this.request, (request) => this.next(request));
      if (typeof response?.hasToolCalls !== 'function') {
        throw new ChainError(`advisor "${this.name}": it must return a ChatResponse, not ${describe(response)}`);
      }
      this.finish(
        response instanceof ChatClientResponse ? response : new ChatClientResponse(response, (this.last ?? this.request).context),
      );
    } catch (error) {
      this.subscriber.error(error);
    }
  }

  /** Ends what is under way; a waiting `next` rejects, so that `finally` blocks of the advisor run. */
  stop(): void {
    for (const end of this.open) end();
  }

  private next(request: ChatClientRequest): Promise<ChatClientResponse> {
    this.retract();
    const answer = new Promise<ChatClientResponse>((resolve, reject) => {
      if (this.subscriber.closed) return reject(cancelled());
      let response: ChatClientResponse | undefined;
      const end = (settle: () => void): void => {
        this.open.delete(stop);
        settle();
      };
      const subscription = this.handler(request).subscribe({
        next: (event) => {
          if (event.type === 'response') response = new ChatClientResponse(event.response, event.context);
          else this.forward(event);
        },
        error: (error: unknown) => end(() => reject(error)),
        complete: () => end(() => (response ? resolve((this.last = response)) : reject(noResponse(this.name)))),
      });
      const stop = (): void => {
        subscription.unsubscribe();
        reject(cancelled());
      };
      if (!subscription.closed) this.open.add(stop);
      return undefined;
    });
    // whoever awaits it sees the rejection; an advisor that awaits something else meanwhile must not take the process down
    answer.catch(() => undefined);
    return answer;
  }

  private forward(event: ChatEvent): void {
    if (event.type === 'iteration') this.iteration = event.index + 1;
    if (DELTAS.has(event.type)) this.streamed = true;
    else if (event.type === 'iteration' || event.type === 'retract') this.streamed = false;
    this.subscriber.next(event);
  }

  /** What was streamed of this iteration is void, since it is tried again or its answer was replaced. */
  private retract(): void {
    if (this.streamed) this.subscriber.next({ type: 'retract', iteration: this.iteration });
    this.streamed = false;
  }

  private finish(response: ChatClientResponse): void {
    if (this.request.mode === 'stream' && response.text !== this.last?.text) {
      this.retract();
      if (response.text) this.subscriber.next({ type: 'text-delta', text: response.text });
    }
    this.subscriber.next(response.toEvent());
    this.subscriber.complete();
  }
}

function cancelled(): CancelledError {
  return new CancelledError('The run was cancelled.');
}

function noResponse(name: string): ChainError {
  return new ChainError(`what follows the advisor "${name}" ended without a response event`);
}
