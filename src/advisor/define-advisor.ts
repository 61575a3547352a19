import type { ChatEvent, ToolResult } from '../chat/chat-event.js';
import { describe } from '../chat/message.js';
import { ChainError, InvalidArgumentError } from '../errors.js';
import { Observable, Subscriber } from '../rxjs.js';
import type { ToolCallHandler, ToolInvocation } from '../tool/tool.js';
import { checkAdvisor, type AdvisorHandler } from './advisor-chain.js';
import type { Advisor } from './advisor.js';
import { checkChangedRequest, runAround, type After, type Around, type Before } from './around.js';
import type { ChatClientRequest } from './chat-client-request.js';

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
  readonly before?: Before;
  /** After the rest of the chain, once, with the complete answer; returns the response to go on with, or nothing to leave it. */
  readonly after?: After;
  /** For every event on its way back, the response included; returns what to send on instead, or nothing to leave it. */
  readonly onEvent?: OnEvent;
  /** Around one tool call. */
  readonly aroundTool?: (call: ToolInvocation, next: ToolCallHandler) => Promise<ToolResult>;
}

type OnEvent = (event: ChatEvent, request: ChatClientRequest) => ChatEvent | readonly ChatEvent[] | void;

/**
 * Builds an advisor from plain functions.
 * @throws {@link InvalidArgumentError} if a part is missing or malformed
 */
export function defineAdvisor(functions: AdvisorFunctions): Advisor {
  if (typeof functions !== 'object' || functions === null)
    throw new InvalidArgumentError(`defineAdvisor: expected { name, order, … }, not ${describe(functions)}`);
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
    ...(advise && { advise }),
    ...(aroundTool && { adviseToolCall: aroundTool }),
  };
  checkAdvisor(advisor);
  return advisor;
}

function adviseBy(functions: AdvisorFunctions): Advisor['advise'] {
  const { name, around, before, after, onEvent } = functions;
  const rest = (next: AdvisorHandler): AdvisorHandler => (onEvent ? (request) => mapEvents(name, next(request), request, onEvent) : next);
  if (around || after) return (request, chain) => runAround(functions, request, rest(chain.next));
  if (before) return (request, chain) => runBefore(name, before, request, rest(chain.next));
  return onEvent && ((request, chain) => rest(chain.next)(request));
}

/** Unlike `around` it does not stand in the path of the events. */
function runBefore(name: string, before: Before, request: ChatClientRequest, next: AdvisorHandler): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    const goOn = (changed: ChatClientRequest | void): void => {
      if (!subscriber.closed) next(checkChangedRequest(name, changed ?? request)).subscribe(subscriber);
    };
    const changed = before(request);
    if (!isPromise(changed)) return goOn(changed);
    changed.then(goOn).catch((error: unknown) => subscriber.error(error));
    return undefined;
  });
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Partial<Promise<T>> | undefined)?.then === 'function';
}

function mapEvents(name: string, events: Observable<ChatEvent>, request: ChatClientRequest, onEvent: OnEvent): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    events.subscribe(new EventMapper(name, request, onEvent, subscriber));
  });
}

/** Ends together with its subscriber, also in the middle of a source that emits without a pause. */
class EventMapper extends Subscriber<ChatEvent> {
  constructor(
    private readonly name: string,
    private readonly request: ChatClientRequest,
    private readonly onEvent: OnEvent,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    try {
      const sent = this.onEvent(event, this.request) ?? event;
      if (isList(sent)) for (const one of sent) this.send(one);
      else this.send(sent);
    } catch (error) {
      this.subscriber.error(error);
    }
  }

  private send(event: ChatEvent): void {
    if (typeof event?.type !== 'string')
      throw new ChainError(`advisor "${this.name}": onEvent must return an event, an array of events or nothing, not ${describe(event)}`);
    this.subscriber.next(event);
  }
}

function isList(value: ChatEvent | readonly ChatEvent[]): value is readonly ChatEvent[] {
  return Array.isArray(value);
}
