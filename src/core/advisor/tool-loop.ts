import { callsOf } from '../chat/message.js';
import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import { stoppedAnswer, type ChatResponse, type Generation } from '../chat/chat-response.js';
import type { AdvisorContext } from '../chat/context.js';
import type { LoopRecord } from '../chat/loop-record.js';
import type { Prompt } from '../chat/prompt.js';
import type { Step } from '../chat/run-report.js';
import { LimitExceededError, type LimitKind } from '../errors/errors.js';
import { Cancellation, cancelledError } from '../internal/cancellation.js';
import type { Subscriber } from '../internal/rxjs.js';
import {
  countCalls,
  breachOf,
  describeBreach,
  describeRefusal,
  limitError,
  type CallCounts,
  type LimitBreach,
} from '../tool-execution/call-limits.js';
import {
  directAnswer,
  unlockedAfter,
  type ToolExecutionResult,
} from '../tool-execution/execution-result.js';
import type { ToolManager } from '../tool-execution/tool-manager.js';
import { cancellableRun, type ToolRun } from '../tool-execution/tool-run.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { ResponseSubscriber } from './event-subscribers.js';
import { endStep, isLastStep, type StepHooks } from './loop-steps.js';
import type { Position } from './position.js';
import {
  ProgressDetector,
  type ProgressMeasure,
  type ProgressSettings,
} from './progress-detector.js';
import {
  resolveTools,
  toolRunOf,
  UNLOCKED_TOOLS,
  sentRequest,
  withSentRequest,
} from './run-tools.js';
import { TurnLimits, type TurnLimitSettings } from './turn-limits.js';
import { withoutTools } from './without-tools.js';

/** Settings of a tool loop; see the options of `ToolCallingAdvisor`. */
export interface ToolLoopOptions extends TurnLimitSettings, ProgressSettings, StepHooks {
  readonly manager: ToolManager;
  readonly maxIterations: number;
  readonly onLimit: 'answer' | 'throw' | 'return';
  readonly keepHistory: boolean;
  readonly isToolCall: (response: ChatResponse) => boolean;
}

/** One run of the tool loop. Iterative: RxJS recursion ends silently after a few hundred rounds. */
export class ToolLoop {
  private readonly tools: Cancellation;
  private readonly limits: TurnLimits;
  private ended = false;
  private counts: CallCounts | undefined;
  private progress: ProgressDetector;
  /** Has the whole conversation, also if the model receives only a part of it. */
  private readonly record: LoopRecord;
  /** The request that the model received: its tools can be called. */
  private sent: ChatClientRequest;

  constructor(
    private readonly options: ToolLoopOptions,
    private request: ChatClientRequest,
    private readonly rest: Position,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    this.tools = new Cancellation(undefined, request.run);
    this.record = request.run.beginLoop(request.prompt);
    this.progress = new ProgressDetector(options);
    this.limits = new TurnLimits(options, request.run, subscriber);
    this.request = this.sent = resolveTools(options.manager, request);
  }

  /** Cancels running tools; the model request ends with the subscription. */
  stop(): void {
    this.limits.stop();
    this.record.interrupt();
    if (this.ended) return;
    // an advisor left of the loop may have ended it for the same reason, before the loop is notified
    this.request.cancellation.onCancel((reason) => this.tools.cancel(reason))();
    this.tools.cancel();
  }

  /** Runs iterations until the turn has an answer; rejects with the error of the turn. */
  async run(): Promise<void> {
    const { isToolCall, maxIterations: max } = this.options;
    const limit = breachOf('iterations', max, max);
    const first = this.request.iteration;
    this.limits.start();
    for (let index = first; ; index++) {
      const event = await this.callRest();
      const { response, context } = event;
      if (this.subscriber.closed) return;
      const step = this.record.addStep(index, response);
      if (!isToolCall(response)) {
        endStep(this.options, step, this.request.run);
        return this.finish(response, context);
      }
      this.limits.checkAnswer(response);
      this.subscriber.next({ type: 'iteration', index, response });
      if (this.subscriber.closed) return;
      const { result, breach } = await this.runTools(event);
      if (this.subscriber.closed) return;
      this.limits.add(response, result);
      endStep(this.options, step, this.request.run, this.subscriber);
      if (this.subscriber.closed) return;
      if (breach) return await this.finishAtLimit(response, breach, result);
      if (result.returnDirect) return this.emitAnswer(response, directAnswer(result));
      const isLast = isLastStep(this.options, this.request, this.record);
      const isStopped = isLast && (await isLast);
      if (this.subscriber.closed) return;
      if (isStopped) return this.emitAnswer(response, [stoppedAnswer()]);
      if (index - first + 1 >= max) return await this.finishAtLimit(response, limit, result);
    }
  }

  /** One iteration: passes the events of the rest of the chain on, except for the response. */
  private callRest(): Promise<ResponseEvent> {
    const { record, subscriber } = this;
    const { conversation: transcript } = record;
    const { tools, unlocked, toolContext } = this.request;
    const { length } = record.steps;
    const steps = (): readonly Step[] => record.steps.slice(0, length);
    const base = { tools, unlocked, toolContext, transcript, steps };
    const request = this.request.with({ transcript, base });
    return new Promise((resolve, reject) => {
      const onResponse = (event: ResponseEvent): void => {
        this.sent = sentRequest(request, event.context);
        record.conversation = this.sent.transcript ?? transcript;
        resolve(event);
      };
      this.rest.subscribe(request, new ResponseSubscriber(onResponse, reject, subscriber));
    });
  }

  /** Runs the calls of a response and prepares the next iteration. */
  private async runTools({ response, context }: ResponseEvent): Promise<ProgressMeasure> {
    const { tools, added } = this.sent;
    // a message of the user is something new
    if (added.length > this.request.added.length)
      this.progress = new ProgressDetector(this.options);
    const refused = this.progress.refusal(callsOf(response.message), tools);
    const executed = await this.executeCalls(response, this.toolRun(context, refused));
    const { result, toolsOff, breach } = this.progress.measure(response, executed.result, tools);
    this.prepareNextIteration(result, context);
    if (toolsOff) this.request = withoutTools(this.request, toolsOff);
    return { result, breach: executed.breach ?? breach };
  }

  /** @throws any error but a limit of this response, also the limit of a nested turn */
  private async executeCalls(response: ChatResponse, run: ToolRun): Promise<ProgressMeasure> {
    try {
      const { manager } = this.options;
      return { result: await manager.executeToolCalls(this.record.conversation, response, run) };
    } catch (error) {
      if (!(error instanceof LimitExceededError) || error.response !== response) throw error;
      const { limit, value, spent, toolName, result } =
        error as LimitExceededError<ToolExecutionResult>;
      return { result, breach: breachOf(limit as LimitKind, value, spent, toolName) };
    }
  }

  private toolRun(advisorContext: AdvisorContext, refused: LimitBreach | undefined): ToolRun {
    if (!this.counts) this.cancelToolsWithRun();
    this.counts ??= countCalls(this.record.conversation.messages);
    return cancellableRun(this.tools, {
      ...toolRunOf(this.sent, this.rest.advisors),
      advisorContext,
      observation: this.request.observation,
      onEvent: (event) => {
        this.record.recordToolEvent(event);
        this.subscriber.next(event);
      },
      counts: this.counts,
      refuse: refused && describeRefusal(refused),
    });
  }

  private cancelToolsWithRun(): void {
    const cancel = (reason: unknown): void => {
      this.tools.cancel(reason);
      this.subscriber.error(cancelledError(reason));
    };
    this.subscriber.add(this.request.cancellation.onCancel(cancel));
  }

  private prepareNextIteration(result: ToolExecutionResult, context: AdvisorContext): void {
    this.record.conversation = result.prompt;
    this.request = this.request.with({
      added: this.sent.added,
      prompt: this.options.keepHistory ? result.prompt : this.withoutHistory(result),
      unlocked: unlockedAfter(this.request.unlocked, result),
      // without the request of this iteration: each would keep the one before it in memory
      context: withSentRequest(context, undefined).merge(result.context),
      iteration: this.request.iteration + 1,
    });
  }

  private withoutHistory({ prompt, messages }: ToolExecutionResult): Prompt {
    const system = this.request.prompt.messages.filter((message) => message.role === 'system');
    return prompt.withMessages([...system, ...messages]);
  }

  private async finishAtLimit(
    response: ChatResponse,
    limit: LimitBreach,
    result: ToolExecutionResult,
  ): Promise<void> {
    // the manager reports its own limits, also if it runs without a loop
    if (limit.limit !== 'calls-per-tool' && limit.limit !== 'total-calls')
      this.request.observation?.note({ type: 'limit', limit: limit.limit, max: limit.max });
    if (this.options.onLimit === 'throw')
      throw limitError(limit, result, this.request.run.withUsage(response));
    if (this.options.onLimit === 'answer' && (await this.finishWithoutTools(limit))) return;
    const text = `The turn was stopped: ${describeBreach(limit)}.`;
    const message = { role: 'assistant', content: text } as const;
    const metadata = { limit, partialToolResponses: result.messages };
    this.emitAnswer(response, [{ message, finishReason: 'toolCallLimitExceeded', metadata }]);
  }

  /** Calls the model once more, without tools; false if it asks for tools all the same. */
  private async finishWithoutTools(limit: LimitBreach): Promise<boolean> {
    this.request = withoutTools(this.request);
    const { response, context } = await this.callRest();
    if (this.subscriber.closed) return true;
    const step = this.record.addStep(this.request.iteration, response);
    endStep(this.options, step, this.request.run);
    if (!response.hasToolCalls()) {
      this.finish(response.with({ metadata: { ...response.metadata, limit } }), context);
      return true;
    }
    this.request = this.request.with({ context });
    if (this.request.mode === 'stream')
      this.subscriber.next({ type: 'retract', iteration: this.request.iteration });
    return false;
  }

  /** Ends the turn with an answer that no model streamed. */
  private emitAnswer(last: ChatResponse, generations: readonly Generation[]): void {
    const response = last.with({ generations });
    if (this.request.mode === 'stream' && response.text)
      this.subscriber.next({ type: 'text-delta', text: response.text });
    this.finish(response, this.request.context);
  }

  private finish(answer: ChatResponse, answerContext: AdvisorContext): void {
    this.ended = true;
    const { run, unlocked } = this.request;
    run.endLoop(this.record);
    const response = run.withUsage(answer);
    const { added } = this.sent;
    const sent = added.length > 0 ? this.request.with({ added }) : undefined;
    const kept = withSentRequest(answerContext, sent);
    const context = unlocked.length > 0 ? kept.with(UNLOCKED_TOOLS, unlocked) : kept;
    this.subscriber.next({ type: 'response', response, context });
    this.subscriber.complete();
  }
}
