import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel } from '../chat/chat-model.js';
import { describe } from '../chat/message.js';
import { ChainError, InvalidArgumentError } from '../errors.js';
import { Observable } from '../rxjs.js';
import type { Advisor, AdvisorChain } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { askModel } from './ask-model.js';
import { observeAdvisor } from './observe.js';

/** One position of a chain: what happens to a request from there on. */
export type AdvisorHandler = (request: ChatClientRequest) => Observable<ChatEvent>;

/**
 * Builds the chain once, as closures: each advisor holds the rest of the chain, the model is its end.
 *
 * A position is never used up, so an advisor may go on to the rest as often as it likes, and every subscription runs all of it.
 */
export function createAdvisorChain(advisors: readonly Advisor[], model: ChatModel): AdvisorHandler {
  const ordered = Object.freeze(orderAdvisors(advisors));
  return ordered.reduceRight<AdvisorHandler>(
    (next, advisor) => (advisor.advise ? adviseWith(advisor as AroundAdvisor, { next, advisors: ordered }) : next),
    (request) => {
      checkRequest(request);
      return askModel(model, request);
    },
  );
}

type AroundAdvisor = Advisor & Required<Pick<Advisor, 'advise'>>;

function adviseWith(advisor: AroundAdvisor, chain: AdvisorChain): AdvisorHandler {
  // the advisor runs at subscription, so that each subscription is a run of its own
  const handler: AdvisorHandler = (request) => {
    checkRequest(request);
    return new Observable((subscriber) => {
      const events = advisor.advise(request, chain);
      if (typeof events?.subscribe !== 'function') {
        throw new ChainError(`advisor "${advisor.name}": advise must return an Observable, not ${describe(events)}`);
      }
      // ours is the subscriber itself; an Observable of another library is ended through what it returns
      return events.subscribe(subscriber);
    });
  };
  return (request) => (request?.observation ? observeAdvisor(advisor, request, request.observation, handler) : handler(request));
}

function checkRequest(request: ChatClientRequest): void {
  if (typeof request?.withPrompt !== 'function')
    throw new InvalidArgumentError(`next(…): expected a ChatClientRequest, not ${describe(request)}`);
}

/**
 * The advisors as they run: by order, those of one order as they were registered.
 * @throws {@link ChainError} if two have one name, or more than one runs tools
 */
export function orderAdvisors(advisors: readonly Advisor[]): readonly Advisor[] {
  advisors.forEach((advisor) => checkAdvisor(advisor));
  const loops = advisors.filter((advisor) => advisor.role === 'tool-loop').map((advisor) => `"${advisor.name}" (order ${advisor.order})`);
  if (loops.length > 1) throw new ChainError(`a chain can have one tool loop, this one has ${loops.length}: ${loops.join(', ')}`);
  const names = advisors.map((advisor) => advisor.name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new ChainError(`two advisors are named "${twice}"; give one of them another name`);
  return [...advisors].sort((a, b) => a.order - b.order);
}

/**
 * @param where what the value was given to, for messages
 * @throws {@link InvalidArgumentError} if a value is not an advisor
 */
export function checkAdvisor(advisor: Advisor, where = ''): void {
  if (typeof advisor !== 'object' || advisor === null)
    throw new InvalidArgumentError(`${where}an advisor is an object with name and order, not ${describe(advisor)}`);
  const { name, order } = advisor;
  if (typeof name !== 'string' || name.trim() === '')
    throw new InvalidArgumentError(`${where}an advisor needs a name, a non-blank string, not ${describe(name)}`);
  if (!Number.isFinite(order))
    throw new InvalidArgumentError(`${where}advisor "${name}": order must be a finite number, not ${describe(order)}`);
  for (const method of ['advise', 'adviseToolCall'] as const) {
    const value: unknown = advisor[method];
    if (value !== undefined && typeof value !== 'function')
      throw new InvalidArgumentError(`${where}advisor "${name}": ${method} must be a function, not ${describe(value)}`);
  }
  if (!advisor.advise && !advisor.adviseToolCall)
    throw new InvalidArgumentError(`${where}advisor "${name}" does nothing: it needs advise or adviseToolCall`);
}
