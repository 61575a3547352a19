import { CallIds } from '../chat/call-ids.js';
import { isDelta, type ChatEvent } from '../chat/chat-event.js';
import type { ChatModel, ModelRun, SentBody } from '../chat/chat-model.js';
import { frozenOptions, withModelDefaults, type ChatOptions } from '../chat/chat-options.js';
import { ownResponse, responseProblem, type ChatResponse } from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import { OUTPUT_FORMAT } from '../chat/output-format.js';
import type { Prompt } from '../chat/prompt.js';
import { WellFormedDeltas } from '../chat/well-formed-deltas.js';
import { toSentPrompt } from '../chat/sent-prompt.js';
import { modelCallError, type CallDetails, type IterationStart } from '../chat/run-record.js';
import { modelResult, type CallableModel } from '../chat/run-recorder.js';
import type { ModelCallRecord } from '../chat/run-report.js';
import { ChainError } from '../errors/errors.js';
import { cancelledError, type Cancellation } from '../internal/cancellation.js';
import { givenUpReason } from '../internal/give-up.js';
import { memoize } from '../internal/memoize.js';
import { Subscriber } from '../internal/rxjs.js';
import type { Observation } from '../observation/observation.js';
import type { Tool } from '../tool/tool.js';
import type { Advisor } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { ObservedModelSubscriber } from './event-subscribers.js';
import { ObservedCall } from './observed-call.js';
import { checkModelRequest } from './invariants.js';
import { ModelCancellation, siteOf, type ModelCall } from './model-call.js';
import { withTextFallback, withOutputFormat } from './output-format.js';
import { AnsweredRequest, answerContext } from './run-tools.js';

/** The end of the chain: calls the model; its answer gets the context of the request. */
export function callModel(
  main: ChatModel,
  advisors: readonly Advisor[],
  request: ChatClientRequest,
  subscriber: Subscriber<ChatEvent>,
): void {
  if (subscriber.closed || isStopped(request, subscriber)) return;
  try {
    const model = request.model ?? main;
    checkModelRequest(request, model);
    const again = (own: Subscriber<ChatEvent>): void => callModel(main, advisors, request, own);
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
  const fitted = run.authors.fit(toPrompt(request, model), model === main ? undefined : model);
  const prompt = toSentPrompt(fitted);
  run.added = request.added;
  const name = prompt.options.model ?? model.defaultOptions?.model;
  const begin: IterationStart =
    name === undefined
      ? { type: 'iteration-start', index }
      : { type: 'iteration-start', index, model: name };
  // in a replay it is not known yet if the call is a recorded one
  if (!run.recorder.isReplaying) {
    run.beginOperation();
    run.onIterationStart?.(begin);
  }
  const record = run.beginModelCall('chat', name, index);
  return { main, model, prompt, request, advisors, begin, record };
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
  const { main, model, prompt, request } = modelCall;
  const { mode, iteration } = request;
  const { provider, defaultOptions } = model;
  const options = defaultOptions ? withDefaults(prompt.options)(defaultOptions) : prompt.options;
  const part = { prompt, options, provider, mode, iteration, request, main };
  const own = new ObservedCall(observation, { type: 'model-call', ...part });
  const onRetry: ModelRun['onRetry'] = (error, waited) =>
    own.note({ type: 'retry', error, waited });
  const onRequest = (sent: SentBody): void => own.note({ type: 'request', request: sent });
  const events = new ObservedModelSubscriber(own, subscriber, observation);
  start({ ...modelCall, onRetry, onRequest }, events, own.observe(model));
}

function start(
  modelCall: ModelCall,
  subscriber: Subscriber<ChatEvent>,
  model: CallableModel = modelCall.model,
): void {
  const { prompt, request } = modelCall;
  const { mode, cancellation } = request;
  const run = new ModelCancellation(modelCall, cancellation);
  const events = new ModelEvents(modelCall, run, subscriber);
  subscriber.add(cancellation.onCancel((reason) => run.cancel(reason)));
  const source = request.run.recorder.model(model, siteOf(modelCall));
  try {
    if (mode === 'stream') modelResult(source.stream(prompt, run), 'subscribe').subscribe(events);
    else callOnce(() => modelResult(source.call(prompt, run), 'then'), run, events);
  } catch (error) {
    events.error(error);
  }
}

/** Records the end of the call, and adds the context of the request to the response. */
class ModelEvents extends Subscriber<ChatEvent> {
  private hasBegun = false;
  private readonly deltas = new WellFormedDeltas();
  private readonly ids: CallIds;

  constructor(
    private readonly modelCall: ModelCall,
    private readonly run: Cancellation,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
    this.ids = new CallIds(modelCall.request);
  }

  override unsubscribe(): void {
    super.unsubscribe();
    this.end('cancelled'); // unless it has ended
  }

  protected override _next(event: ChatEvent): void {
    if (!this.hasBegun) this.begin();
    if (isDelta(event)) return this.nextDelta(event);
    const { request, main, model, advisors, record } = this.modelCall;
    if (event.type !== 'response' && event.type !== 'retract') return this.subscriber.next(event);
    const rests = this.deltas.end();
    // a model does not know its iteration
    if (event.type === 'retract') {
      this.ids.reset();
      return this.subscriber.next({ type: 'retract', iteration: request.iteration });
    }
    const problem = responseProblem(event.response);
    if (problem !== undefined) {
      const name = record.model ?? model.provider?.name;
      const source = name === undefined ? 'the model' : `the model "${name}"`;
      return this.error(new ChainError(`${source} must answer with ${problem}`));
    }
    for (const rest of rests) this.subscriber.next(rest);
    const response = this.ids.ofResponse(ownResponse(event.response));
    this.end('answered', response);
    if (model !== main) request.run.authors.add(response, model);
    request.run.answered = new AnsweredRequest(request, advisors, response, record.isReplayed);
    this.subscriber.next({ type: 'response', response, context: answerContext(request) });
  }

  private nextDelta(delta: ChatEvent): void {
    const event = this.deltas.next(delta);
    if (event?.type === 'tool-call-delta') this.subscriber.next(this.ids.ofDelta(event));
    else if (event) this.subscriber.next(event);
  }

  protected override _error(error: unknown): void {
    if (!this.hasBegun) this.begin();
    if (this.closed) return; // a listener of that event has ended the call
    const isCancelled = this.run.cancelled || givenUpReason(error) !== undefined;
    this.end(isCancelled ? 'cancelled' : 'failed', modelCallError(error));
    super._error(error);
  }

  protected override _complete(): void {
    this.end('failed'); // unless a response has ended it
    super._complete();
  }

  /** With the first event, not before it: `race` and `timeout` must wait for the model. */
  private begin(): void {
    this.hasBegun = true;
    const { begin, record, request } = this.modelCall;
    const { isReplayed } = record;
    request.run.beginOperation(isReplayed);
    this.subscriber.next(isReplayed ? { ...begin, isReplayed } : begin);
  }

  private end(outcome: ModelCallRecord['outcome'], details?: CallDetails): void {
    this.modelCall.request.run.endModelCall(this.modelCall.record, outcome, details);
  }
}

function callOnce(
  call: () => Promise<ChatResponse>,
  run: ModelCancellation,
  events: Subscriber<ChatEvent>,
): void {
  let running = true;
  // first: the call may be cancelled while it begins
  events.add(() => {
    if (running) run.cancel();
  });
  const answer = call();
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
