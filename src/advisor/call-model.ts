import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel, ModelRun } from '../chat/chat-model.js';
import { mergeOptions, type ChatOptions } from '../chat/chat-options.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { ContextKey, type AdvisorContext } from '../chat/context.js';
import type { Prompt } from '../chat/prompt.js';
import { ChainError } from '../errors.js';
import { Cancellation, cancelledError, type Cancellable } from '../internal/cancellation.js';
import { memoize } from '../internal/memoize.js';
import { Observable, Subscriber } from '../internal/rxjs.js';
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
    if (subscriber.closed || rejectIfCancelled(request, subscriber)) return;
    const modelCall = { model, prompt: toPrompt(request), request };
    if (request.observation) startObserved(modelCall, request.observation, subscriber);
    else start(modelCall, subscriber);
  });
}

interface ModelCall {
  readonly model: ChatModel;
  readonly prompt: Prompt;
  readonly request: ChatClientRequest;
  readonly onRetry?: ModelRun['onRetry'];
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

function startObserved(
  modelCall: ModelCall,
  observation: Observation,
  subscriber: Subscriber<ChatEvent>,
): void {
  const { model, prompt, request } = modelCall;
  const { mode, iteration } = request;
  const { provider, defaultOptions } = model;
  const options = defaultOptions ? withDefaults(prompt.options)(defaultOptions) : prompt.options;
  const own = observation.begin({ type: 'model-call', prompt, options, provider, mode, iteration });
  const onRetry = (error: unknown): void => own.note({ type: 'retry', error });
  const events = new Observable<ChatEvent>((inner) => start({ ...modelCall, onRetry }, inner));
  own.run(() => events.subscribe(new ObservedModelSubscriber(own, subscriber, observation)));
}

/** The run of one model call, which its subscriber can cancel alone. */
class ModelCancellation extends Cancellation implements ModelRun {
  constructor(
    { ready }: Cancellable,
    readonly onRetry: ModelRun['onRetry'],
  ) {
    super(ready);
  }
}

function start(
  { model, prompt, request, onRetry }: ModelCall,
  subscriber: Subscriber<ChatEvent>,
): void {
  const { mode, cancellation, context } = request;
  const run = new ModelCancellation(cancellation, onRetry);
  subscriber.add(cancellation.onCancel((reason) => run.cancel(reason)));
  if (mode === 'stream') model.stream(prompt, run).subscribe(new ModelEvents(context, subscriber));
  else callOnce(model.call(prompt, run), run, context, subscriber);
}

/** Adds the context of the request to the response. */
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

function callOnce(
  answer: Promise<ChatResponse>,
  run: Cancellation,
  context: AdvisorContext,
  subscriber: Subscriber<ChatEvent>,
): void {
  let running = true;
  subscriber.add(() => {
    if (running) run.cancel();
  });
  answer.then(
    (response) => {
      running = false;
      if (typeof response?.hasToolCalls !== 'function')
        return subscriber.error(
          new ChainError(`the model must answer with a ChatResponse, not ${describe(response)}`),
        );
      subscriber.next({ type: 'response', response, context });
      return subscriber.complete();
    },
    (error: unknown) => {
      running = false;
      subscriber.error(error);
    },
  );
}

function toPrompt({ prompt, offeredTools: tools, context }: ChatClientRequest): Prompt {
  const format = context.get(OUTPUT_FORMAT);
  const formatted =
    format === undefined ? prompt : prompt.augmentUserMessage((text) => `${text}\n${format}`);
  if (tools.length === 0) return formatted;
  return formatted.replaceOptions(withTools(formatted.options)(tools));
}

// memoized, so that equal input gives the same object, by which models cache
const withTools = memoize((options: ChatOptions) =>
  memoize((tools: readonly Tool[]): ChatOptions => ({ ...options, tools })),
);
const withDefaults = memoize((options: ChatOptions) =>
  memoize((defaults: ChatOptions) => mergeOptions(defaults, options)),
);
