import assert from 'node:assert/strict';
import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { AdvisorContext } from '../chat/context.js';
import { describe } from '../chat/message.js';
import { Subscriber, type Observable } from '../rxjs.js';
import type { Advisor } from '../advisor/advisor.js';
import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import type { Stage } from './contract-scene.js';

/** How a run went. */
export interface Outcome {
  readonly events: readonly ChatEvent[];
  /** How it ended; it did not if it was unsubscribed. */
  readonly end: 'complete' | 'error' | 'none';
  readonly failure: unknown;
}

/** One subscription of an advisor, event by event. */
export class Recording extends Subscriber<ChatEvent> implements Outcome {
  readonly events: ChatEvent[] = [];
  end: Outcome['end'] = 'none';
  failure: unknown;

  /** @param onEvent hears what has come so far, the newest event last; may unsubscribe */
  constructor(
    source: Observable<ChatEvent>,
    private readonly onEvent: (recording: Recording) => void = () => undefined,
  ) {
    super();
    this.add(source.subscribe(this));
  }

  /** Waits for the end; what does not end in time is ended. */
  async outcome(timeout: number): Promise<Outcome> {
    const timer = setTimeout(() => this.error(new assert.AssertionError({ message: `the run did not end within ${timeout} ms` })), timeout);
    await new Promise<void>((resolve) => this.add(resolve));
    clearTimeout(timer);
    if (this.failure instanceof assert.AssertionError) throw this.failure;
    return this;
  }

  protected override _next(event: ChatEvent): void {
    this.events.push(event);
    this.onEvent(this);
  }

  protected override _error(error: unknown): void {
    this.end = 'error';
    this.failure = error;
    this.unsubscribe();
  }

  protected override _complete(): void {
    this.end = 'complete';
    this.unsubscribe();
  }
}

/** The events of an advisor in front of a stage. */
export function advise(advisor: Advisor, request: ChatClientRequest, stage: Stage): Observable<ChatEvent> {
  const events = advisor.advise?.(request, stage);
  assert.ok(typeof events?.subscribe === 'function', `advise must return an Observable, not ${describe(events)}`);
  return events;
}

/** Gives everything that is ready to run the time to do so. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
}

/** The final event of a run that succeeded. */
export function responseOf({ events, end, failure }: Outcome): ResponseEvent {
  if (end === 'error') throw failure;
  const last = events.at(-1);
  assert.ok(last?.type === 'response', `the last event is ${last ? `"${last.type}"` : 'missing'}, not the response`);
  return last;
}

/** A final event as data that can be compared. */
export function answerData({ response, context }: ResponseEvent): unknown {
  return { response: responseData(response), context: contextData(context) };
}

/** A request as data that can be compared; the mode is left out. */
export function requestData({ prompt, tools, toolContext, context, iteration }: ChatClientRequest): unknown {
  const { messages, options } = prompt;
  return { messages, options, tools: tools.map((tool) => tool.definition), toolContext, context: contextData(context), iteration };
}

/** An event as data that can be compared. */
export function eventData(event: ChatEvent): unknown {
  if (event.type === 'response') return { type: event.type, ...(answerData(event) as object) };
  return event.type === 'iteration' ? { ...event, response: responseData(event.response) } : event;
}

function responseData({ generations, usage, id, model, rateLimit, metadata }: ChatResponse): unknown {
  return { generations, usage, id, model, rateLimit, metadata };
}

/** The names alone: values may be of one run, such as times and ids. */
function contextData(context: AdvisorContext): unknown {
  return [...context.entries()].map(([name]) => name).toSorted();
}
