import { lastValueFrom, toArray } from 'rxjs';
import type { Advisor } from '../../src/core/advisor/advisor.js';
import {
  ChatClientRequest,
  type ChatClientRequestFields,
} from '../../src/core/advisor/chat-client-request.js';
import type { ChatEvent, ResponseEvent } from '../../src/core/chat/chat-event.js';
import type { ChatModel } from '../../src/core/chat/chat-model.js';
import { Prompt } from '../../src/core/chat/prompt.js';
import type { Observable } from '../../src/core/internal/rxjs.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { createAdvisorChain } from './observers.js';

/** The outcome of a subscription. */
export interface Result {
  readonly events: readonly ChatEvent[];
  readonly errors: readonly unknown[];
  readonly completed: boolean;
}

/** A request for "Hi." */
export function requestFor(
  mode: 'call' | 'stream' = 'call',
  fields: Partial<ChatClientRequestFields> = {},
): ChatClientRequest {
  return new ChatClientRequest({ prompt: new Prompt('Hi.'), mode, ...fields });
}

/** Runs a source to its end. */
export function collect(source: Observable<ChatEvent>): Promise<Result> {
  return new Promise((resolve) => {
    const events: ChatEvent[] = [];
    const errors: unknown[] = [];
    source.subscribe({
      next: (event) => events.push(event),
      error: (error: unknown) => {
        errors.push(error);
        // a second notification would arrive before the next task
        setImmediate(() => resolve({ events, errors, completed: false }));
      },
      complete: () => resolve({ events, errors, completed: true }),
    });
  });
}

/** All values of an Observable; rejects with its error. */
export function valuesOf<T>(source: Observable<T>): Promise<T[]> {
  return lastValueFrom(source.pipe(toArray()));
}

/** Runs a chain to its end. */
export function run(
  advisors: readonly Advisor[],
  model: ChatModel = hello(),
  request = requestFor(),
): Promise<Result> {
  return collect(createAdvisorChain(advisors, model)(request));
}

/** A model that always answers "Hello there.". */
export function hello(): ScriptedChatModel {
  return new ScriptedChatModel(() => 'Hello there.');
}

/** The final event of a run that must have succeeded. */
export function responseOf({ events, errors }: Result): ResponseEvent {
  if (errors.length > 0) throw errors[0];
  return events.at(-1) as ResponseEvent;
}

/** The types of events, in order. */
export function typesOf({ events }: Pick<Result, 'events'>): readonly string[] {
  return withoutStarts(events).map((event) => event.type);
}

/** Events without `iteration-start`, which every model call begins with. */
export function withoutStarts(events: readonly ChatEvent[]): readonly ChatEvent[] {
  return events.filter(({ type }) => type !== 'iteration-start');
}

/** The text of the last iteration, as shown by a consumer that handles `retract`. */
export function shownText(events: readonly ChatEvent[]): string {
  let text = '';
  for (const event of events) {
    if (event.type === 'text-delta') text += event.text;
    else if (event.type === 'retract' || event.type === 'iteration') text = '';
  }
  return text;
}
