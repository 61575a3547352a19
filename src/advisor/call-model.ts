import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel, ModelRun } from '../chat/chat-model.js';
import { mergeOptions, type ChatOptions } from '../chat/chat-options.js';
import { ContextKey, type AdvisorContext } from '../chat/context.js';
import type { Prompt } from '../chat/prompt.js';
import { ChainError } from '../errors.js';
import { Cancellation, cancelledError, type Cancellable } from '../internal/cancellation.js';
import { Observable, Subscriber, type TeardownLogic } from '../internal/rxjs.js';
import { describe } from '../internal/text.js';
import type { Observation } from '../observation/observation.js';
import type { Tool } from '../tool/tool.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { ObservedModelSubscriber } from './event-subscribers.js';

/**
 * Instructions about the format of the answer. Appended to the last user message at the end of the
 * chain, in each model call, so that neither memory nor another advisor sees them.
 */
export const OUTPUT_FORMAT = new ContextKey<string | undefined>('advisor-chain.output-format');

/** The end of the chain: calls the model; its answer gets the context of the request. */
export function callModel(model: ChatModel, request: ChatClientRequest): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    if (subscriber.closed || rejectIfCancelled(request, subscriber)) return undefined;
    const modelRequest = { model, prompt: toPrompt(request), request };
    return request.observation
      ? callModelObserved(modelRequest, request.observation, subscriber)
      : startModelCall(modelRequest, subscriber);
  });
}

interface ModelRequest {
  readonly model: ChatModel;
  readonly prompt: Prompt;
  readonly request: ChatClientRequest;
  readonly onRetry?: ModelRun['onRetry'];
}

function startModelCall(
  modelRequest: ModelRequest,
  subscriber: Subscriber<ChatEvent>,
): TeardownLogic {
  const { model, prompt, request, onRetry } = modelRequest;
  const { mode, cancellation, context } = request;
  if (mode === 'call') return callModelOnce(modelRequest, subscriber);
  const events = model.stream(prompt, toModelRun(cancellation, onRetry));
  return events.subscribe(new ModelEvents(context, subscriber));
}

function callModelObserved(
  { model, prompt, request }: ModelRequest,
  observation: Observation,
  subscriber: Subscriber<ChatEvent>,
): void {
  const { mode, iteration } = request;
  const { provider, defaultOptions } = model;
  const options = defaultOptions ? withDefaults(prompt.options, defaultOptions) : prompt.options;
  const own = observation.begin({ type: 'model-call', prompt, options, provider, mode, iteration });
  const onRetry = (error: unknown): void => own.note({ type: 'retry', error });
  const answer = new Observable<ChatEvent>((inner) =>
    startModelCall({ model, prompt, request, onRetry }, inner),
  );
  own.run(() => answer.subscribe(new ObservedModelSubscriber(own, subscriber, observation)));
}

/** Rejects in a microtask: rejecting synchronously makes `retry()` loop forever. */
function rejectIfCancelled(
  { cancellation }: ChatClientRequest,
  subscriber: Subscriber<ChatEvent>,
): boolean {
  let cancelled = false;
  cancellation.onCancel((cause) => {
    cancelled = true;
    queueMicrotask(() => subscriber.error(cancelledError(cause)));
  })();
  return cancelled;
}

/** A run with observed retries; like that of the cancellation, its signal is created lazily. */
function toModelRun(cancellation: Cancellable, onRetry: ModelRun['onRetry']): ModelRun {
  if (!onRetry) return cancellation;
  return {
    onRetry,
    onCancel: (callback) => cancellation.onCancel(callback),
    ready: cancellation.ready,
    get signal() {
      return cancellation.signal;
    },
  };
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

function callModelOnce(
  { model, prompt, request, onRetry }: ModelRequest,
  subscriber: Subscriber<ChatEvent>,
): () => void {
  const own = new Cancellation();
  const release = request.cancellation.onCancel((reason) => own.cancel(reason));
  let running = true;
  model.call(prompt, toModelRun(own, onRetry)).then(
    (response) => {
      running = false;
      if (typeof response?.hasToolCalls !== 'function')
        return subscriber.error(
          new ChainError(`the model must answer with a ChatResponse, not ${describe(response)}`),
        );
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
  const formatted =
    format === undefined ? prompt : prompt.augmentUserMessage((text) => `${text}\n${format}`);
  if (tools.length === 0) return formatted;
  return formatted.replaceOptions(withTools(formatted.options, tools));
}

/** Caches changed options, so that equal input gives the same object, by which models cache. */
function cached<By>(
  change: (options: ChatOptions, by: By) => ChatOptions,
): (options: ChatOptions, by: By) => ChatOptions {
  const latest = new WeakMap<ChatOptions, { readonly by: By; readonly changed: ChatOptions }>();
  return (options, by) => {
    const known = latest.get(options);
    if (known?.by === by) return known.changed;
    const changed = change(options, by);
    latest.set(options, { by, changed });
    return changed;
  };
}

const withTools = cached((options, tools: readonly Tool[]) => ({ ...options, tools }));
const withDefaults = cached((options, base: ChatOptions) => mergeOptions(base, options));
