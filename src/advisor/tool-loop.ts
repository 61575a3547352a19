import { Cancellation } from '../chat/cancellation.js';
import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import type { ChatResponse, Generation } from '../chat/chat-response.js';
import { ContextKey, type AdvisorContext } from '../chat/context.js';
import { textOf } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { addUsage, type Usage } from '../chat/usage.js';
import { CancelledError, LimitExceededError } from '../errors.js';
import type { Subscriber } from '../rxjs.js';
import { readCalls, sameCalls, type ReadCalls } from '../tool/call-arguments.js';
import { countCalls, describeBreach, type CallCounts, type LimitBreach } from '../tool/call-limits.js';
import type { ToolCallingManager } from '../tool/tool-calling-manager.js';
import { limitError, type ToolExecutionResult } from '../tool/tool-execution-result.js';
import { CancellableRun, type ToolRun } from '../tool/tool-run.js';
import type { ExecutedToolCall } from '../tool/tool-runner.js';
import type { ToolCallWrapper } from '../tool/tool.js';
import type { AdvisorChain } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { ResponseSubscriber } from './response-subscriber.js';
import { wrapToolCalls } from './wrap-tool-calls.js';

/** In the context of a turn's answer: names of the deferred tools that the model had in the end, in order of discovery. */
export const UNLOCKED_TOOLS = new ContextKey<readonly string[] | undefined>('advisor-chain.unlocked-tools');

/** Settings of a tool loop; see the options of `ToolCallingAdvisor`. */
export interface ToolLoopOptions {
  readonly manager: ToolCallingManager;
  readonly maxIterations: number;
  readonly maxIdenticalCalls: number;
  readonly onLimit: 'answer' | 'throw' | 'return';
  readonly keepHistory: boolean;
  readonly isToolCall: (response: ChatResponse) => boolean;
}

/** What came of the calls of one iteration, and the limit that they reached. */
interface Batch {
  readonly result: ToolExecutionResult;
  readonly breach: LimitBreach | undefined;
}

/**
 * One run of the tool loop. Iterative on purpose: an RxJS recursion per iteration ends silently after a few hundred
 * synchronous rounds.
 */
export class ToolLoop {
  private readonly tools = new Cancellation();
  private readonly wrap: ToolCallWrapper | undefined;
  private release: (() => void) | undefined;
  private ended = false;
  private counts: CallCounts | undefined;
  private usage: Usage | undefined;
  private identical = 0;
  private lastCalls: ReadCalls | undefined;
  /** The whole conversation, also where the model is sent only a part of it. */
  private transcript: Prompt;
  private unlocked: readonly string[];

  constructor(
    private readonly options: ToolLoopOptions,
    private request: ChatClientRequest,
    private readonly chain: AdvisorChain,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    this.transcript = request.prompt;
    this.unlocked = request.unlocked;
    this.wrap = wrapToolCalls(chain.advisors);
  }

  /** Never rejects: whatever happens goes to the subscriber. */
  async run(): Promise<void> {
    try {
      await this.iterate();
    } catch (error) {
      this.subscriber.error(error);
    }
  }

  /** Ends the tools that are under way; the request ends with the subscription. */
  stop(): void {
    this.release?.();
    if (!this.ended) this.tools.cancel();
  }

  private cancel(reason: unknown): void {
    this.tools.cancel(reason);
    this.subscriber.error(new CancelledError('The run was cancelled.', { cause: reason }));
  }

  private async iterate(): Promise<void> {
    const first = this.request.iteration;
    for (let index = first; ; index++) {
      const event = await this.ask();
      if (this.subscriber.closed) return;
      if (!this.options.isToolCall(event.response)) return this.finish(event.response, event.context, event);
      this.subscriber.next({ type: 'iteration', index, response: event.response });
      if (this.subscriber.closed) return;
      const { result, breach } = await this.runTools(event);
      if (this.subscriber.closed) return;
      if (breach) return await this.land(event.response, breach, result);
      if (result.returnDirect) return this.answer(event.response, result.results.map(toGeneration));
      if (index - first + 1 >= this.options.maxIterations) return await this.land(event.response, this.iterationLimit(), result);
    }
  }

  /** One iteration: the rest of the chain, its events passed on as they come, its response kept back. */
  private ask(): Promise<ResponseEvent> {
    return new Promise((resolve, reject) => {
      const answered = (event: ResponseEvent): void => {
        this.usage = addUsage(this.usage, event.response.usage);
        resolve(event);
      };
      this.chain.next(this.request).subscribe(new ResponseSubscriber('what follows the tool loop', answered, reject, this.subscriber));
    });
  }

  /** Runs the calls of a response and prepares the next iteration. */
  private async runTools({ response, context }: ResponseEvent): Promise<Batch> {
    const { manager, maxIdenticalCalls: max } = this.options;
    const repeats = this.countRepeats(response);
    const identical: LimitBreach | undefined = repeats > max ? { limit: 'identical-calls', max, toolName: undefined } : undefined;
    let batch: Batch;
    try {
      batch = { result: await manager.executeToolCalls(this.transcript, response, this.toolRun(context, identical)), breach: undefined };
    } catch (error) {
      batch = limitedBatch(error, response);
    }
    this.goOn(batch.result, context);
    // the model was told the first time; if it does the same again, it has not listened
    return !batch.breach && repeats > max + 1 ? { result: batch.result, breach: identical } : batch;
  }

  private toolRun(context: AdvisorContext, identical: LimitBreach | undefined): ToolRun {
    this.counts ??= countCalls(this.transcript.messages);
    this.release ??= this.request.cancellation.onCancel((reason) => this.cancel(reason));
    return new CancellableRun(this.tools, {
      tools: this.request.tools,
      offered: this.request.offeredTools,
      toolContext: this.request.toolContext,
      advisorContext: context,
      turn: this.request.turn,
      observation: this.request.observation,
      iteration: this.request.iteration,
      wrap: this.wrap,
      onEvent: (event) => this.subscriber.next(event),
      counts: this.counts,
      refuse: identical && `Not run: ${describeBreach(identical)}. Answer with what you have, or do something else.`,
    });
  }

  private goOn(result: ToolExecutionResult, context: AdvisorContext): void {
    this.transcript = result.prompt;
    this.unlocked = unlockedAfter(this.unlocked, result);
    this.request = this.request.with({
      prompt: this.options.keepHistory ? result.prompt : this.withoutHistory(result),
      unlocked: this.unlocked,
      context: context.merge(result.context),
      iteration: this.request.iteration + 1,
    });
  }

  private withoutHistory({ prompt, messages }: ToolExecutionResult): Prompt {
    const system = this.request.prompt.messages.filter((message) => message.role === 'system');
    return prompt.withMessages([...system, ...messages]);
  }

  /** How often in a row exactly these calls were made, this time included. */
  private countRepeats(response: ChatResponse): number {
    const calls = readCalls(response.generations.flatMap(({ message }) => message.toolCalls));
    this.identical = this.lastCalls && sameCalls(calls, this.lastCalls) ? this.identical + 1 : 1;
    this.lastCalls = calls;
    return this.identical;
  }

  private iterationLimit(): LimitBreach {
    return { limit: 'iterations', max: this.options.maxIterations, toolName: undefined };
  }

  /** Ends a turn that reached a limit. */
  private async land(response: ChatResponse, limit: LimitBreach, result: ToolExecutionResult): Promise<void> {
    this.noteLimit(limit);
    if (this.options.onLimit === 'throw') throw limitError(limit, result, response.with({ usage: this.usage }));
    if (this.options.onLimit === 'answer') {
      const last = await this.askWithoutTools();
      if (this.subscriber.closed) return;
      if (!last.response.hasToolCalls())
        return this.finish(last.response.with({ metadata: { ...last.response.metadata, limit } }), last.context);
      this.request = this.request.with({ context: last.context });
      if (this.request.mode === 'stream') this.subscriber.next({ type: 'retract', iteration: this.request.iteration });
    }
    const message = { role: 'assistant', text: `The turn was stopped: ${describeBreach(limit)}.`, toolCalls: [] } as const;
    this.answer(response, [{ message, finishReason: 'toolCallLimitExceeded', metadata: { limit, partialToolResponses: result.messages } }]);
  }

  /** The limits of the manager are told by the manager, which has them also where no loop runs. */
  private noteLimit({ limit, max }: LimitBreach): void {
    if (limit === 'iterations' || limit === 'identical-calls') this.request.observation?.note({ type: 'limit', limit, max });
  }

  /** One more iteration, in which the model can only answer. */
  private askWithoutTools(): Promise<ResponseEvent> {
    const { prompt } = this.request;
    const { tools: _tools, providerTools: _others, toolChoice: _choice, parallelToolCalls: _parallel, ...options } = prompt.options;
    this.request = this.request.with({ tools: [], unlocked: [], prompt: prompt.replaceOptions(options) });
    return this.ask();
  }

  /** An answer that no model streamed. */
  private answer(last: ChatResponse, generations: readonly Generation[]): void {
    const response = last.with({ generations });
    if (this.request.mode === 'stream' && response.text) this.subscriber.next({ type: 'text-delta', text: response.text });
    this.finish(response, this.request.context);
  }

  private finish(response: ChatResponse, context: AdvisorContext, event?: ResponseEvent): void {
    this.ended = true;
    const whole = response.usage === this.usage ? response : response.with({ usage: this.usage });
    const hasDeferred = this.unlocked.length > 0 || this.request.unlocked.length > 0;
    const told = hasDeferred ? context.with(UNLOCKED_TOOLS, this.unlocked) : context;
    this.subscriber.next(event && whole === response && told === context ? event : { type: 'response', response: whole, context: told });
    this.subscriber.complete();
  }
}

/**
 * The results of a batch that reached a limit.
 * @throws any other error, also the limit of another turn that an advisor started
 */
function limitedBatch(error: unknown, response: ChatResponse): Batch {
  if (!(error instanceof LimitExceededError) || error.response !== response) throw error;
  const { limit, max, toolName, result } = error as LimitExceededError<ToolExecutionResult>;
  return { result, breach: { limit, max, toolName } };
}

/** What was found first stays first, so that the beginning of the request stays the same. */
function unlockedAfter(unlocked: readonly string[], { unlocks, locks }: ToolExecutionResult): readonly string[] {
  if (unlocks.length === 0 && locks.length === 0) return unlocked;
  return [...new Set([...unlocked.filter((name) => !locks.includes(name) || unlocks.includes(name)), ...unlocks])];
}

function toGeneration({ call, result: { content } }: ExecutedToolCall): Generation {
  const message = { role: 'assistant', text: textOf(content), toolCalls: [] } as const;
  const metadata = { toolCallId: call.id, toolName: call.name, ...(typeof content !== 'string' && { content }) };
  return { message, finishReason: 'returnDirect', metadata };
}
