import type { ChatEvent, ToolResult } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import { Observable } from '../rxjs.js';
import type { ToolCallHandler, ToolInvocation } from '../tool/tool.js';
import { checkAdvisor, type AdvisorHandler } from './advisor-chain.js';
import type { Advisor } from './advisor.js';
import { runAround, type Around } from './around.js';
import type { ChatClientRequest } from './chat-client-request.js';
import type { ChatClientResponse } from './chat-client-response.js';

/** An advisor as plain functions. All are optional, one is needed; each serves `call` and `stream`. */
export interface AdvisorFunctions {
  readonly name: string;
  /** Where in the chain; see `AdvisorOrder`. */
  readonly order: number;
  readonly role?: Advisor['role'];
  /**
   * Around the rest of the chain. May return without calling `next`, or await it once or many times; deltas flow on meanwhile,
   * and what it returns is the response.
   */
  readonly around?: Around;
  /** Before the rest of the chain; returns the request to go on with, or nothing to leave it. */
  readonly before?: (request: ChatClientRequest) => ChatClientRequest | void | Promise<ChatClientRequest | void>;
  /** After the rest of the chain, once, with the complete answer; returns the response to go on with, or nothing to leave it. */
  readonly after?: (response: ChatClientResponse, request: ChatClientRequest) => ChatResponse | void | Promise<ChatResponse | void>;
  /** For every event on its way back, the response included; returns what to send on instead, or nothing to leave it. */
  readonly onEvent?: (event: ChatEvent, request: ChatClientRequest) => ChatEvent | readonly ChatEvent[] | void;
  /** Around one tool call. */
  readonly aroundTool?: (call: ToolInvocation, next: ToolCallHandler) => Promise<ToolResult>;
}

/**
 * Builds an advisor from plain functions.
 * @throws {@link InvalidArgumentError} if a part is missing or malformed
 */
export function defineAdvisor(functions: AdvisorFunctions): Advisor {
  for (const part of ['around', 'before', 'after', 'onEvent', 'aroundTool'] as const) {
    const value: unknown = functions[part];
    if (value !== undefined && typeof value !== 'function')
      throw new InvalidArgumentError(`defineAdvisor: ${part} must be a function, not ${describe(value)}`);
  }
  const { name, order, role, aroundTool } = functions;
  const advise = adviseBy(functions);
  const advisor: Advisor = {
    name,
    order,
    ...(role && { role }),
    ...(advise && { advise: (request, chain) => advise(request, chain.next) }),
    ...(aroundTool && { adviseToolCall: aroundTool }),
  };
  checkAdvisor(advisor);
  return advisor;
}

type Advise = (request: ChatClientRequest, next: AdvisorHandler) => Observable<ChatEvent>;

function adviseBy(functions: AdvisorFunctions): Advise | undefined {
  const { name, around, before, after, onEvent } = functions;
  const inner: Advise | undefined = onEvent && ((request, next) => mapEvents(next(request), (event) => onEvent(event, request)));
  if (!around && !after) return before ? beforeThen(before, inner ?? ((request, next) => next(request))) : inner;
  const whole: Around = async (request, next) => {
    const changed = (await before?.(request)) ?? request;
    const response = around ? await around(changed, next) : await next(changed);
    return (await after?.(response as ChatClientResponse, changed)) ?? response;
  };
  return (request, next) => runAround(name, whole, request, inner ? (changed) => inner(changed, next) : next);
}

function beforeThen(before: NonNullable<AdvisorFunctions['before']>, then: Advise): Advise {
  return (request, next) => {
    const changed = before(request);
    // most are synchronous, and then nothing stands between the advisor's neighbours
    return changed instanceof Promise ? later(changed.then((value) => then(value ?? request, next))) : then(changed ?? request, next);
  };
}

function later(events: Promise<Observable<ChatEvent>>): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    events.then(
      (ready) => subscriber.closed || ready.subscribe(subscriber),
      (error: unknown) => subscriber.error(error),
    );
  });
}

function mapEvents(
  events: Observable<ChatEvent>,
  change: (event: ChatEvent) => ChatEvent | readonly ChatEvent[] | void,
): Observable<ChatEvent> {
  return new Observable((subscriber) =>
    events.subscribe({
      next: (event) => {
        let changed: ChatEvent | readonly ChatEvent[] | void;
        try {
          changed = change(event);
        } catch (error) {
          return subscriber.error(error);
        }
        if (changed === undefined) subscriber.next(event);
        else if (Array.isArray(changed)) for (const one of changed as readonly ChatEvent[]) subscriber.next(one);
        else subscriber.next(changed as ChatEvent);
      },
      error: (error: unknown) => subscriber.error(error),
      complete: () => subscriber.complete(),
    }),
  );
}
