import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel } from '../chat/chat-model.js';
import { ChainError, InvalidArgumentError } from '../errors/errors.js';
import { describe } from '../errors/describe.js';
import { arrayOf, checkOption, FINITE, FUNCTION, rule, TEXT } from '../internal/options.js';
import { Observable } from '../internal/rxjs.js';
import { wrapsRest, type Advisor, type AdvisorChain } from './advisor.js';
import { runAround, subscribeAfter } from './around.js';
import { callModel } from './call-model.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { observeAdvisor } from './event-subscribers.js';
import { recordOrigin } from './invariants.js';
import { Position, type ChainRest } from './position.js';
import { checkPlaces, sortByOrder, TRAITS } from './hazards.js';

/**
 * Builds the chain once, as closures: each advisor holds the rest of it, the model is the end.
 *
 * Positions are immutable, so an advisor may call the rest any number of times, and every
 * subscription runs all of it.
 */
export function createAdvisorChain(advisors: readonly Advisor[], model: ChatModel): ChainRest {
  const ordered = Object.freeze(orderAdvisors(advisors));
  checkPlaces(ordered);
  const end: ChainRest = {
    source: 'the model',
    subscribe: callModel.bind(undefined, model, ordered),
  };
  return ordered.reduceRight((rest, advisor) => addAdvisor(advisor, rest, ordered), end);
}

function addAdvisor(advisor: Advisor, rest: ChainRest, advisors: readonly Advisor[]): ChainRest {
  if (!wrapsRest(advisor)) return rest;
  const before = advisor.before?.bind(advisor);
  const run: ChainRest['subscribe'] = before
    ? (request, subscriber) =>
        subscribeAfter(advisor.name, before, request, subscriber, (changed) => {
          recordOrigin(changed, { advisor, received: request });
          rest.subscribe(changed, subscriber);
        })
    : (request, subscriber) => {
        const position = new Position(rest, advisors, { advisor, received: request });
        // a foreign Observable may not end with its subscriber by itself
        subscriber.add(runAdvisor(advisor, request, position).subscribe(subscriber));
      };
  Object.defineProperty(run, 'name', { value: advisor.name }); // for stack traces
  const subscribe: ChainRest['subscribe'] = (request, subscriber) =>
    request.observation
      ? observeAdvisor(advisor, request, request.observation, run, subscriber)
      : run(request, subscriber);
  // events of the rest pass an advisor that only changes the request without a stop
  return { source: before ? rest.source : `advisor "${advisor.name}"`, subscribe };
}

/** Runs one advisor: its `advise`, or its `before` or `around` as events. */
export function runAdvisor(
  advisor: Advisor,
  request: ChatClientRequest,
  chain: AdvisorChain,
): Observable<ChatEvent> {
  const { name, before, around, holdDeltas } = advisor;
  if (before)
    return new Observable((subscriber) =>
      subscribeAfter(name, before.bind(advisor), request, subscriber, (changed) =>
        chain.next(changed).subscribe(subscriber),
      ),
    );
  if (around) return runAround({ name, around: around.bind(advisor), holdDeltas }, request, chain);
  const events = advisor.advise?.(request, chain);
  if (typeof events?.subscribe === 'function') return events;
  throw new ChainError(
    `advisor "${name}": advise must return an Observable, not ${describe(events)}`,
  );
}

/**
 * Sorts advisors and their parts by order; see `AdvisorOrder`.
 * @throws {@link ChainError} if two have one name, or more than one runs tools
 */
export function orderAdvisors(registered: readonly Advisor[]): readonly Advisor[] {
  const advisors = registered.flatMap((advisor) => [advisor, ...(advisor?.parts ?? [])]);
  for (const advisor of advisors) checkAdvisor(advisor, 'advisor chain');
  const loops = advisors
    .filter((advisor) => advisor.role === 'tool-loop')
    .map((advisor) => `"${advisor.name}" (order ${advisor.order})`);
  if (loops.length > 1)
    throw new ChainError(
      `a chain can have one tool loop, this one has ${loops.length}: ${loops.join(', ')}`,
    );
  const names = advisors.map((advisor) => advisor.name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new ChainError(`two advisors are named "${twice}"; give one of them another name`);
  return sortByOrder(advisors);
}

const ADVISOR = rule(
  'an object with name and order, such as new MessageChatMemoryAdvisor({ chatMemory })',
  (value) => typeof (value as Partial<Advisor> | null)?.name === 'string',
);

const KNOWN_TRAITS = arrayOf(...TRAITS);

/** The ways to take part in requests. */
const OF_THE_REST = ['before', 'advise', 'around'] as const;
const OTHERS = ['adviseToolCall', 'hazards', 'problems', 'inspect'] as const;

/** @throws {@link InvalidArgumentError} if a value is not an advisor; `where` begins the message */
export function checkAdvisor(advisor: Advisor, where: string): void {
  checkOption(where, 'an advisor', advisor, ADVISOR);
  checkOption(where, 'the name of an advisor', advisor.name, TEXT);
  const named = `${where}: advisor "${advisor.name}"`;
  checkOption(named, 'order', advisor.order, FINITE);
  if (advisor.traits !== undefined) checkOption(named, 'traits', advisor.traits, KNOWN_TRAITS);
  for (const method of [...OF_THE_REST, ...OTHERS] as const)
    if (advisor[method] !== undefined) checkOption(named, method, advisor[method], FUNCTION);
  const [method, another] = OF_THE_REST.filter((each) => advisor[each] !== undefined);
  if (another)
    throw new InvalidArgumentError(`${named} has both ${method} and ${another}; keep one of them`);
  if (!method && !advisor.adviseToolCall)
    throw new InvalidArgumentError(`${named} needs before, advise, around or adviseToolCall`);
}
