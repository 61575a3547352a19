import { isDelta, type ChatEvent } from '../chat/chat-event.js';
import type { ChatModel, ModelRun } from '../chat/chat-model.js';
import { frozenOptions, withModelDefaults, type ChatOptions } from '../chat/chat-options.js';
import {
  ownResponse,
  responseProblem,
  type ChatResponse,
  type Usage,
} from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import { MODEL_RETRIES } from '../chat/model-retries.js';
import { OUTPUT_FORMAT } from '../chat/output-format.js';
import type { Prompt } from '../chat/prompt.js';
import { modelCallError, type CallDetails, type RunRecord } from '../chat/run-record.js';
import type { ModelCallRecord } from '../chat/run-report.js';
import { RecordedModel } from '../durable/model-step.js';
import { ChainError } from '../errors.js';
import { Cancellation, cancelledError, type Cancellable } from '../internal/cancellation.js';
import { memoize } from '../internal/memoize.js';
import { Subscriber } from '../internal/rxjs.js';
import type { Observation } from '../observation/observation.js';
import type { Tool } from '../tool/tool.js';
import type { Advisor } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { ObservedModelSubscriber } from './event-subscribers.js';
import { checkModelRequest } from './invariants.js';
import { withTextFallback, withOutputFormat } from './output-format.js';
import { answerContext } from './sent-request.js';

/** The end of the chain: calls the model; its answer gets the context of the request. */
export function callModel(
  main: ChatModel,
  request: ChatClientRequest,
  advisors: readonly Advisor[],
  subscriber: Subscriber<ChatEvent>,
): void {
  if (subscriber.closed || isStopped(request, subscriber)) return;
  try {
    const model = request.model ?? main;
    checkModelRequest(request, model);
    const again = (own: Subscriber<ChatEvent>): void => callModel(main, request, advisors, own);
    const events = withTextFallback(request, model, subscriber, again);
    const modelCall = beginModelCall(main, model, request, advisors);
    if (request.observation) startObserved(modelCall, request.observation, events);
    else start(modelCall, events);
  } catch (error) {
    subscriber.error(error);
  }
}

function beginModelCall(
  main: ChatModel,
  model: ChatModel,
  request: ChatClientRequest,
  advisors: readonly Advisor[],
): ModelCall {
  const { iteration: index, run } = request;
  const prompt = run.authors.fit(toPrompt(request, model), model === main ? undefined : model);
  run.added = request.added;
  const name = prompt.options.model ?? model.defaultOptions?.model;
  const begin: ChatEvent =
    name === undefined
      ? { type: 'iteration-start', index }
      : { type: 'iteration-start', index, model: name };
  run.onIterationStart?.(begin);
  const record = run.beginModelCall('chat', name, index);
  return { main, model, prompt, request, advisors, begin, record };
}

interface ModelCall {
  /** The model of the chain. */
  readonly main: ChatModel;
  readonly model: ChatModel;
  readonly prompt: Prompt;
  readonly request: ChatClientRequest;
  readonly begin: ChatEvent;
  readonly advisors: readonly Advisor[];
  readonly record: ReturnType<RunRecord['beginModelCall']>;
  readonly onRetry?: ModelRun['onRetry'];
}

/** Rejects in a microtask: rejecting synchronously makes `retry()` loop forever. */
function isStopped(
  { cancellation, run }: ChatClientRequest,
  subscriber: Subscriber<ChatEvent>,
): boolean {
  if (cancellation.cancelled)
    queueMicrotask(() => subscriber.error(cancelledError(cancellation.signal.reason)));
  return cancellation.cancelled || run.limits?.admitModelCall() === false;
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
  const events = new ObservedModelSubscriber(own, subscriber, observation);
  own.run(() => start({ ...modelCall, onRetry }, events));
}

/**
 * The run of one model call, which its subscriber can cancel alone. Its signal has no owner: a turn
 * within a model is not in this ledger, since the answer of the model reports its usage.
 */
class ModelCancellation extends Cancellation implements ModelRun {
  readonly maxRetries: number | undefined;

  constructor(
    private readonly modelCall: ModelCall,
    { ready }: Cancellable,
    readonly onRetry: ModelRun['onRetry'],
  ) {
    super(ready);
    this.maxRetries = modelCall.request.context.get(MODEL_RETRIES);
  }

  readonly inLedger = true;

  readonly track = (work: Promise<unknown>): void => this.modelCall.request.run.track(work);

  readonly onSpent = (usage: Usage): void => {
    this.modelCall.request.run.addSpent(this.modelCall.record, usage);
  };
}

function start(modelCall: ModelCall, subscriber: Subscriber<ChatEvent>): void {
  const { model, prompt, request, onRetry } = modelCall;
  const { mode, cancellation } = request;
  const run = new ModelCancellation(modelCall, cancellation, onRetry);
  const events = new ModelEvents(modelCall, run, subscriber);
  subscriber.add(cancellation.onCancel((reason) => run.cancel(reason)));
  const source = RecordedModel.of(model, request, modelCall.record) ?? model;
  try {
    if (mode === 'stream') source.stream(prompt, run).subscribe(events);
    else callOnce(source.call(prompt, run), run, events);
  } catch (error) {
    events.error(error);
  }
}

/** Records the end of the call, and adds the context of the request to the response. */
class ModelEvents extends Subscriber<ChatEvent> {
  private hasBegun = false;

  constructor(
    private readonly modelCall: ModelCall,
    private readonly run: Cancellation,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  override unsubscribe(): void {
    super.unsubscribe();
    this.end('cancelled'); // unless it has ended
  }

  protected override _next(event: ChatEvent): void {
    if (!this.hasBegun) this.begin();
    if (isDelta(event)) return this.subscriber.next(event);
    const { request, main, model, advisors, record } = this.modelCall;
    // a model does not know its iteration
    if (event.type === 'retract')
      return this.subscriber.next({ type: 'retract', iteration: request.iteration });
    if (event.type !== 'response') return this.subscriber.next(event);
    const problem = responseProblem(event.response);
    if (problem !== undefined) {
      const name = record.model ?? model.provider?.name;
      const source = name === undefined ? 'the model' : `the model "${name}"`;
      return this.error(new ChainError(`${source} must answer with ${problem}`));
    }
    const response = ownResponse(event.response);
    this.end('answered', response);
    if (model !== main) request.run.authors.add(response, model);
    request.run.answered = { request, advisors, response };
    this.subscriber.next({ type: 'response', response, context: answerContext(request) });
  }

  protected override _error(error: unknown): void {
    if (!this.hasBegun) this.begin();
    if (this.closed) return; // a listener of that event has ended the call
    this.end(this.run.cancelled ? 'cancelled' : 'failed', modelCallError(error));
    super._error(error);
  }

  protected override _complete(): void {
    this.end('failed'); // unless a response has ended it
    super._complete();
  }

  /** With the first event, not before it: `race` and `timeout` must wait for the model. */
  private begin(): void {
    this.hasBegun = true;
    this.subscriber.next(this.modelCall.begin);
  }

  private end(outcome: ModelCallRecord['outcome'], details?: CallDetails): void {
    this.modelCall.request.run.endModelCall(this.modelCall.record, outcome, details);
  }
}

function callOnce(
  answer: Promise<ChatResponse>,
  run: ModelCancellation,
  events: Subscriber<ChatEvent>,
): void {
  let running = true;
  events.add(() => {
    if (running) run.cancel();
  });
  run.track(answer);
  answer.then(
    (response) => {
      running = false;
      events.next({ type: 'response', response, context: AdvisorContext.empty });
      return events.complete();
    },
    (error: unknown) => {
      running = false;
      events.error(error);
    },
  );
}

function toPrompt(
  { prompt, offeredTools: tools, context }: ChatClientRequest,
  model: ChatModel,
): Prompt {
  const format = context.get(OUTPUT_FORMAT);
  const formatted = format ? withOutputFormat(prompt, format, model) : prompt;
  if (tools.length === 0 && !model.defaultOptions?.tools) return formatted;
  return formatted.replaceOptions(withTools(formatted.options)(tools));
}

// memoized, so that equal input gives the same object, by which models cache
const withTools = memoize((options: ChatOptions) =>
  memoize((tools: readonly Tool[]): ChatOptions => {
    return frozenOptions({ ...options, tools: [...(options.tools ?? []), ...tools] });
  }),
);
const withDefaults = memoize((options: ChatOptions) =>
  memoize((defaults: ChatOptions) => withModelDefaults(defaults, options)),
);
