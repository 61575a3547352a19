import assert from 'node:assert/strict';
import { runAdvisor } from '../../core/advisor/advisor-chain.js';
import type { Advisor, AdvisorChain } from '../../core/advisor/advisor.js';
import { ChatClientRequest } from '../../core/advisor/chat-client-request.js';
import { toolRunOf } from '../../core/advisor/run-tools.js';
import type { ChatEvent } from '../../core/chat/chat-event.js';
import { Position, type ChainRest } from '../../core/advisor/position.js';
import { AdvisorContext } from '../../core/chat/context.js';
import type { Message } from '../../core/chat/message.js';
import { cancelledError, onAbort } from '../../core/internal/cancellation.js';
import { Observable, type Subscriber } from '../../core/internal/rxjs.js';
import type { ToolRun } from '../../core/tool-execution/tool-run.js';
import { Recording } from './recording.js';
import {
  ANSWER,
  ENDING,
  echoTool,
  sampleRequest,
  SCENARIOS,
  USER,
  type Scenario,
} from './scenarios.js';

/** An advisor under test. */
export interface AdvisorContract {
  /** Title of the tests. @default the name of the advisor */
  readonly name?: string;
  /** Returns a new advisor; called for each run. */
  readonly create: () => Advisor;
  /** Adds to a request what the advisor needs, such as a conversation id. */
  readonly request?: (request: ChatClientRequest) => ChatClientRequest;
  /** Text at the end of the model's answer, such as one that a guard refuses. @default none */
  readonly answer?: string;
  /** Returns the effects of a run (memory, spans, log lines), the same for call and stream. */
  readonly observe?: () => unknown;
  /** The advisor may handle errors, such as retry and fallback. @default false */
  readonly handlesErrors?: boolean;
  /** The advisor may answer without the rest of the chain, such as a cache. @default false */
  readonly answersItself?: boolean;
  /** The advisor may replace the answer of the model, or the result of a tool. @default false */
  readonly changesAnswer?: boolean;
  /** The advisor asks for calls in streams, whose answers the chain streams. @default false */
  readonly callsInStreams?: boolean;
  /** The advisor keeps data of several runs, such as counts, in its fields. @default false */
  readonly writesFields?: boolean;
  /** Time limit of a run in milliseconds. @default 1_500 */
  readonly timeout?: number;
}

/** Checks a property of every advisor. */
export type Law = (contract: AdvisorContract) => Promise<void>;

/** Laws by test title. */
export type Laws = Readonly<Record<string, Law>>;

type Mode = ChatClientRequest['mode'];
const MODES: readonly Mode[] = ['call', 'stream'];

/** Calls back when the rest of the chain may emit its next event. */
type Pace = (emitNext: () => void) => void;

const SYNCHRONOUS: Pace = (emitNext) => emitNext();

/** Emits each event in a task of its own. */
export const ASYNCHRONOUS: Pace = (emitNext) => void setImmediate(emitNext);

/** A law of an answer in both modes. */
export function inBothModes(check: (trial: Trial) => Promise<void>): Law {
  return async (contract) => {
    for (const mode of MODES) await check(new Trial(contract, mode));
  };
}

/** A law of all scenarios in both modes, with a synchronous and an asynchronous chain. */
export function inEveryCase(
  check: (trial: Trial) => Promise<void>,
  scenarios: readonly Scenario[] = SCENARIOS,
): Law {
  return async (contract) => {
    for (const scenario of scenarios)
      for (const mode of MODES)
        for (const pace of [SYNCHRONOUS, ASYNCHRONOUS])
          await check(new Trial(contract, mode, scenario, pace));
  };
}

/** A law of all scenarios: a call has the same value as a stream. */
export function equalInBothModes(
  message: string,
  valueOf: (trial: Trial) => Promise<unknown>,
): Law {
  return async (contract) => {
    for (const scenario of SCENARIOS) {
      const call = await valueOf(new Trial(contract, 'call', scenario));
      const stream = await valueOf(new Trial(contract, 'stream', scenario));
      assert.deepEqual(stream, call, `${scenario.name}: call and stream ${message}`);
    }
  };
}

/** One subscription of the rest of the chain. */
export interface ChainRun {
  readonly request: ChatClientRequest;
  isOpen: boolean;
  /** True if all events were emitted. */
  isFinished: boolean;
  /** The events so far. */
  readonly events: ChatEvent[];
}

/** An advisor before a {@link Position} whose rest emits the events of a scenario. */
export class Trial implements AdvisorChain {
  /** The subscriptions of the rest of the chain so far. */
  readonly runs: ChainRun[] = [];
  /** The signals of the tool calls that run. */
  readonly runningTools = new Set<AbortSignal>();
  readonly advisors: readonly Advisor[];
  readonly timeout: number;
  private position = this.newPosition();

  constructor(
    readonly contract: AdvisorContract,
    readonly mode: Mode,
    private readonly scenario = ANSWER,
    readonly pace = ASYNCHRONOUS,
    private readonly advisor = contract.create(),
  ) {
    this.advisors = [advisor];
    this.timeout = contract.timeout ?? 1_500;
  }

  /** Prefix of error messages. */
  get title(): string {
    return `${this.mode}, ${this.scenario.name}`;
  }

  /** The same trial again, by default of a new advisor. */
  again(advisor?: Advisor, pace = this.pace): Trial {
    return new Trial(this.contract, this.mode, this.scenario, pace, advisor);
  }

  request(user = 'anna', messages?: readonly Message[]): ChatClientRequest {
    const sample = sampleRequest(this.mode, user, echoTool(this.runningTools), messages);
    const request = sample.withContext(ENDING, this.contract.answer ?? '');
    return this.contract.request?.(request) ?? request;
  }

  /** The events of the advisor, with a position for each run. */
  events(request = this.request()): Observable<ChatEvent> {
    const events = runAdvisor(this.advisor, request, this);
    return new Observable((subscriber) => {
      this.position = this.newPosition();
      subscriber.add(events.subscribe(subscriber));
    });
  }

  /** Runs the advisor to its end. */
  run(events = this.events()): Promise<Recording> {
    return new Recording(events).outcome(this.timeout);
  }

  tools(request: ChatClientRequest): ToolRun {
    return toolRunOf(request, this.advisors);
  }

  readonly next = (request: ChatClientRequest): Observable<ChatEvent> =>
    new Observable((subscriber) => this.position.subscribe(request, subscriber));

  private newPosition(): Position {
    const source = 'the rest of the chain';
    const subscribe: ChainRest['subscribe'] = (...rest) => this.subscribeRest(...rest);
    return new Position({ source, subscribe }, this.advisors);
  }

  private subscribeRest(request: ChatClientRequest, subscriber: Subscriber<ChatEvent>): void {
    const { scenario } = this;
    const attempt = this.runs.length;
    const run: ChainRun = { request, isOpen: true, isFinished: false, events: [] };
    this.runs.push(run);
    subscriber.add(() => (run.isOpen = false));
    subscriber.add(onAbort(request.signal, () => subscriber.error(cancelledError())));
    const { context, mode } = request;
    const all = scenario.eventsFor(context.get(USER), request, attempt);
    const events = all.filter((event) => mode === 'stream' || !isDelta(event));
    const pace = scenario.startsSlowly && attempt === 0 ? slowly(this.pace) : this.pace;
    const emitFrom = (index: number): void => {
      const event = events[index];
      if (subscriber.closed) return;
      if (event) {
        run.events.push(event);
        const isResponse = event.type === 'response';
        subscriber.next(isResponse ? { ...event, context: context.merge(event.context) } : event);
        return pace(() => emitFrom(index + 1));
      }
      run.isFinished = true;
      if ('error' in scenario && attempt < (scenario.failures ?? Infinity))
        subscriber.error(scenario.error);
      else subscriber.complete();
    };
    pace(() => emitFrom(0));
  }
}

/** A pace four times as slow; a synchronous one stays synchronous. */
function slowly(pace: Pace): Pace {
  return (emitNext) => pace(() => pace(() => pace(() => pace(emitNext))));
}

/** Returns true for an event of streams only. */
export function isDelta(event: ChatEvent): boolean {
  const { type } = event;
  return type.endsWith('-delta') || type === 'citation' || type === 'retract';
}

/** Events or requests as data, without modes, signals and the values of contexts (times, ids). */
export function comparable(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, item: unknown) => {
    if (item instanceof AdvisorContext) return [...item.entries()].map(([name]) => name).toSorted();
    if (!(item instanceof ChatClientRequest)) return item;
    const { prompt, tools, toolContext, context, iteration } = item;
    const { messages, options } = prompt;
    const definitions = tools.map(({ definition }) => definition);
    return { messages, options, definitions, toolContext, context, iteration };
  });
  return JSON.parse(text) as unknown;
}
