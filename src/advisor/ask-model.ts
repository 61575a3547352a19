import { Cancellation, type Cancellable } from '../chat/cancellation.js';
import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel, ModelRun } from '../chat/chat-model.js';
import { mergeOptions, type ChatOptions } from '../chat/chat-options.js';
import { ContextKey, type AdvisorContext } from '../chat/context.js';
import type { Observation } from '../chat/observation.js';
import type { Prompt } from '../chat/prompt.js';
import { describe } from '../chat/message.js';
import { CancelledError, ChainError } from '../errors.js';
import { Observable, Subscriber, type Subscription, type TeardownLogic } from '../rxjs.js';
import type { Tool } from '../tool/tool.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { ObservedModelEvents } from './observe.js';

/**
 * Text that tells the model the form of its answer; the end of the chain adds it to the last user message of each model call,
 * so it never reaches memory or another advisor.
 */
export const OUTPUT_FORMAT = new ContextKey<string | undefined>('advisor-chain.output-format');

/** The end of the chain: the model is asked, and its answer takes the context of the request along. */
export function askModel(model: ChatModel, request: ChatClientRequest): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    if (subscriber.closed || refuse(request, subscriber)) return undefined;
    const question = { model, prompt: toPrompt(request), request };
    return request.observation ? askWatched(question, request.observation, subscriber) : ask(question, subscriber);
  });
}

/** What the model is asked, and for which request. */
interface Question {
  readonly model: ChatModel;
  readonly prompt: Prompt;
  readonly request: ChatClientRequest;
  /** Told when the model tries again by itself. */
  readonly onRetry?: ModelRun['onRetry'];
}

function ask(question: Question, subscriber: Subscriber<ChatEvent>): TeardownLogic {
  return (question.request.mode === 'stream' ? stream : call)(question, subscriber);
}

function askWatched(question: Question, observation: Observation, subscriber: Subscriber<ChatEvent>): void {
  const { model, prompt, request } = question;
  const { mode, iteration } = request;
  const options = optionsOf(model, prompt);
  const own = observation.begin({ type: 'model-call', prompt, options, provider: model.provider, mode, iteration });
  const onRetry = (error: unknown): void => own.note({ type: 'retry', error });
  const answer = new Observable<ChatEvent>((inner) => ask({ model, prompt, request, onRetry }, inner));
  own.run(() => answer.subscribe(new ObservedModelEvents(own, subscriber, observation)));
}

/** Options of a model with those of a prompt on top, made once for options that many prompts share. */
const mergedOptions = new WeakMap<ChatOptions, { readonly base: ChatOptions; readonly merged: ChatOptions }>();

function optionsOf({ defaultOptions: base }: ChatModel, { options }: Prompt): ChatOptions {
  if (!base) return options;
  const known = mergedOptions.get(options);
  if (known?.base === base) return known.merged;
  const merged = mergeOptions(base, options);
  mergedOptions.set(options, { base, merged });
  return merged;
}

/**
 * Asks nothing for a request that was cancelled before. Says so only when the chain had the time to end: to an operator that
 * tries again, a cancellation is an error like others, and it would try again and again within the cancellation.
 */
function refuse({ cancellation }: ChatClientRequest, subscriber: Subscriber<ChatEvent>): boolean {
  let cancelled = false;
  cancellation.onCancel((cause) => {
    cancelled = true;
    const error = new CancelledError('The run was cancelled.', cause === undefined ? {} : { cause });
    queueMicrotask(() => subscriber.error(error));
  })();
  return cancelled;
}

function stream({ model, prompt, request, onRetry }: Question, subscriber: Subscriber<ChatEvent>): Subscription {
  const { cancellation, context } = request;
  const run = onRetry ? new WatchedRun(cancellation, onRetry) : cancellation;
  return model.stream(prompt, run).subscribe(new ModelEvents(context, subscriber));
}

/** A run that is told of retries; its signal is made only if somebody asks for it. */
class WatchedRun implements ModelRun {
  constructor(
    private readonly cancellation: Cancellable,
    readonly onRetry: ModelRun['onRetry'],
  ) {}

  onCancel(callback: (reason: unknown) => void): () => void {
    return this.cancellation.onCancel(callback);
  }

  get ready(): Cancellable['ready'] {
    return this.cancellation.ready;
  }

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }
}

class ModelEvents extends Subscriber<ChatEvent> {
  constructor(
    private readonly context: AdvisorContext,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    this.subscriber.next(event.type === 'response' ? { ...event, context: this.context } : event);
  }
}

function call({ model, prompt, request, onRetry }: Question, subscriber: Subscriber<ChatEvent>): () => void {
  const own = new Cancellation();
  const release = request.cancellation.onCancel((reason) => own.cancel(reason));
  let running = true;
  model.call(prompt, onRetry ? new WatchedRun(own, onRetry) : own).then(
    (response) => {
      running = false;
      if (typeof response?.hasToolCalls !== 'function') {
        return subscriber.error(new ChainError(`the model must answer with a ChatResponse, not ${describe(response)}`));
      }
      subscriber.next({ type: 'response', response, context: request.context });
      return subscriber.complete();
    },
    (error: unknown) => {
      running = false;
      subscriber.error(error);
    },
  );
  return () => {
    release();
    if (running) own.cancel();
  };
}

function toPrompt({ prompt, offeredTools: tools, context }: ChatClientRequest): Prompt {
  const format = context.get(OUTPUT_FORMAT);
  const formatted = format === undefined ? prompt : prompt.augmentUserMessage((text) => `${text}\n${format}`);
  return tools.length > 0 ? formatted.replaceOptions(withTools(formatted.options, tools)) : formatted;
}

const optionsWithTools = new WeakMap<ChatOptions, ChatOptions>();

/** Gives the same object for the same options and tools, so that a model can keep what it derives from them. */
function withTools(options: ChatOptions, tools: readonly Tool[]): ChatOptions {
  const known = optionsWithTools.get(options);
  if (known?.tools === tools) return known;
  const changed = { ...options, tools };
  optionsWithTools.set(options, changed);
  return changed;
}
