import type { ChatEvent, ToolResult } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { ChainError } from '../errors/errors.js';
import { describe } from '../errors/describe.js';
import {
  BOOLEAN,
  CHECKED_APART,
  checkOption,
  checkOptions,
  FUNCTION,
  PLAIN_OBJECT,
} from '../internal/options.js';
import { Observable, Subscriber } from '../internal/rxjs.js';
import type { ToolCallHandler, ToolInvocation } from '../tool/tool.js';
import { checkAdvisor } from './advisor-chain.js';
import type { Advisor, AdvisorChain, AdvisorHandler, Before } from './advisor.js';
import { runAround, subscribeAfter } from './around.js';
import type { ChatClientRequest } from './chat-client-request.js';
import type { ChatClientResponse } from './chat-client-response.js';

/** An advisor as plain functions, each for `call` and `stream` alike. At least one is required. */
export interface AdvisorFunctions extends Pick<
  Advisor,
  | 'name'
  | 'order'
  | 'role'
  | 'traits'
  | 'hazards'
  | 'problems'
  | 'around'
  | 'holdDeltas'
  | 'inspect'
> {
  /** Runs before the rest of the chain; returns the next request, or nothing to keep it. */
  readonly before?: Before;
  /** Runs once after the rest of the chain; returns the next response, or nothing to keep it. */
  readonly after?: (
    response: ChatClientResponse,
    request: ChatClientRequest,
  ) => ChatResponse | void | Promise<ChatResponse | void>;
  /** Receives every event, also the response; returns its replacement, or nothing to keep it. */
  readonly onEvent?: (
    event: ChatEvent,
    request: ChatClientRequest,
  ) => ChatEvent | readonly ChatEvent[] | void;
  /** Wraps one tool call. */
  readonly aroundTool?: (call: ToolInvocation, next: ToolCallHandler) => Promise<ToolResult>;
}

const RULES = {
  name: CHECKED_APART,
  order: CHECKED_APART,
  role: CHECKED_APART,
  traits: CHECKED_APART,
  hazards: CHECKED_APART,
  problems: CHECKED_APART,
  around: FUNCTION,
  before: FUNCTION,
  after: FUNCTION,
  onEvent: FUNCTION,
  aroundTool: FUNCTION,
  holdDeltas: BOOLEAN,
  inspect: FUNCTION,
};

/**
 * Builds an advisor from plain functions.
 * @throws {@link InvalidArgumentError} if a field is missing or invalid
 */
export function defineAdvisor(functions: AdvisorFunctions): Advisor {
  checkOption('defineAdvisor', 'the argument', functions, PLAIN_OBJECT);
  checkOptions('defineAdvisor', functions, RULES);
  const { name, order, role, traits, hazards, problems, holdDeltas, aroundTool, inspect } =
    functions;
  const advisor: Advisor = {
    name,
    order,
    ...(role && { role }),
    ...(traits && { traits }),
    ...(hazards && { hazards }),
    ...(problems && { problems }),
    ...(holdDeltas && { holdDeltas }),
    ...ofTheRest(functions),
    ...(aroundTool && { adviseToolCall: aroundTool }),
    ...(inspect && { inspect }),
  };
  checkAdvisor(advisor, 'defineAdvisor');
  return advisor;
}

/** The method that takes part in requests; `before` alone is the cheapest. */
function ofTheRest(functions: AdvisorFunctions): Pick<Advisor, 'before' | 'advise'> {
  const { before, around, after, onEvent } = functions;
  if (before && !around && !after && !onEvent) return { before };
  const advise = toAdvise(functions);
  return advise ? { advise } : {};
}

function toAdvise(functions: AdvisorFunctions): Advisor['advise'] {
  const { name, around, before, after, onEvent } = functions;
  const mapped = (chain: Omit<AdvisorChain, 'tools'>): Omit<AdvisorChain, 'tools'> => {
    if (!onEvent) return chain;
    const next: AdvisorHandler = (request) => {
      const events = chain.next(request);
      return new Observable((subscriber) =>
        events.subscribe(new EventMapper(name, request, onEvent, subscriber)),
      );
    };
    return { advisors: chain.advisors, next };
  };
  if (around || after) return (request, chain) => runAround(functions, request, mapped(chain));
  if (before)
    return (request, chain) =>
      new Observable((subscriber) =>
        subscribeAfter(name, before, request, subscriber, (changed) =>
          mapped(chain).next(changed).subscribe(subscriber),
        ),
      );
  return onEvent && ((request, chain) => mapped(chain).next(request));
}

/** Closes with its subscriber, also in the middle of a source that emits synchronously. */
class EventMapper extends Subscriber<ChatEvent> {
  constructor(
    private readonly name: string,
    private readonly request: ChatClientRequest,
    private readonly onEvent: NonNullable<AdvisorFunctions['onEvent']>,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    try {
      const mapped = this.onEvent(event, this.request) ?? event;
      if (!Array.isArray(mapped)) return this.emit(mapped as ChatEvent);
      for (const each of mapped as readonly ChatEvent[]) this.emit(each);
    } catch (error) {
      this.subscriber.error(error);
    }
  }

  private emit(event: ChatEvent): void {
    if (typeof event?.type !== 'string')
      throw new ChainError(
        `advisor "${this.name}": onEvent must return an event, an array of events or nothing, not ${describe(event)}`,
      );
    this.subscriber.next(event);
  }
}
