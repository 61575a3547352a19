import { cancellationOf } from '../chat/cancellation.js';
import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel, ModelRun } from '../chat/chat-model.js';
import { mergeOptions, type ChatOptions } from '../chat/chat-options.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { describe } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { CancelledError, InvalidArgumentError } from '../errors.js';
import { Observable, type Subscriber } from '../rxjs.js';
import { offlineEvents, offlineResponse } from './offline-response.js';

/** Options of an {@link OfflineChatModel}. */
export interface OfflineChatModelOptions {
  /** Name that it gives itself in responses. @default 'offline' */
  readonly model?: string;
  /** Milliseconds before each piece of a stream and before the answer of a call, 0 or more. @default 0: synchronous */
  readonly delay?: number;
}

/**
 * A chat model without a network, for first steps, demonstrations and tests: deterministic, it calls the tools that fit the user's
 * words and answers with their results, see {@link offlineAnswer}. Usage is an estimate (four characters are a token). Keeps no
 * state of a request; may be shared.
 */
export class OfflineChatModel implements ChatModel {
  readonly defaultOptions: ChatOptions;
  private readonly delay: number;

  /** @throws {@link InvalidArgumentError} if the delay is out of range */
  constructor({ model = 'offline', delay = 0 }: OfflineChatModelOptions = {}) {
    if (!(delay >= 0 && Number.isFinite(delay)))
      throw new InvalidArgumentError(`OfflineChatModel: delay must be a number of milliseconds, 0 or more, not ${describe(delay)}`);
    this.defaultOptions = { model };
    this.delay = delay;
  }

  call(prompt: Prompt, run: ModelRun = {}): Promise<ChatResponse> {
    return new Promise((resolve, reject) => {
      this.play(prompt, run, (response) => offlineEvents(response).slice(-1)).subscribe({
        next: (event) => {
          if (event.type === 'response') resolve(event.response);
        },
        error: reject,
      });
    });
  }

  stream(prompt: Prompt, run: ModelRun = {}): Observable<ChatEvent> {
    return this.play(prompt, run, offlineEvents);
  }

  private play(prompt: Prompt, run: ModelRun, toEvents: (response: ChatResponse) => readonly ChatEvent[]): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const cancel = (cause: unknown): void => subscriber.error(new CancelledError('The offline answer was cancelled.', { cause }));
      subscriber.add(onCancel(run, cancel));
      if (subscriber.closed) return;
      const { tools, toolChoice, parallelToolCalls, responseFormat, model = 'offline' } = mergeOptions(this.defaultOptions, prompt.options);
      const { messages } = prompt;
      const offered = tools?.map((tool) => tool.definition) ?? [];
      emit(
        toEvents(offlineResponse({ messages, tools: offered, toolChoice, parallelToolCalls, responseFormat }, model)),
        this.delay,
        subscriber,
      );
    });
  }
}

function onCancel(run: ModelRun, callback: (reason: unknown) => void): () => void {
  if (run.onCancel) return run.onCancel(callback);
  return run.signal ? cancellationOf(run.signal).onCancel(callback) : () => undefined;
}

/** Emits events, each after a delay; all at once if there is none. */
function emit(events: readonly ChatEvent[], delay: number, subscriber: Subscriber<ChatEvent>): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let at = 0;
  const next = (): void => {
    const event = events[at++];
    if (event) subscriber.next(event);
    if (at >= events.length) subscriber.complete();
    else if (delay > 0 && !subscriber.closed) timer = setTimeout(next, delay);
  };
  subscriber.add(() => clearTimeout(timer));
  if (delay > 0) timer = setTimeout(next, delay);
  else while (!subscriber.closed) next();
}
