import { Cancellation } from '../chat/cancellation.js';
import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import type { ChatResponse, Generation } from '../chat/chat-response.js';
import type { AdvisorContext } from '../chat/context.js';
import { textOf } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { addUsage, type Usage } from '../chat/usage.js';
import { ChainError, LimitExceededError } from '../errors.js';
import type { Subscriber, Subscription } from '../rxjs.js';
import { describeBreach, type CallCounts, type LimitBreach } from '../tool/call-limits.js';
import { callsKey } from '../tool/calls-key.js';
import {
  limitError,
  type ExecutedToolCall,
  type ToolCallingManager,
  type ToolExecutionResult,
  type ToolRun,
} from '../tool/tool-calling-manager.js';
import type { ToolCallWrapper } from '../tool/tool.js';
import type { AdvisorChain } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { wrapToolCalls } from './wrap-tool-calls.js';

/** Settings of a tool loop; see the options of `ToolCallingAdvisor`. */
export interface ToolLoopOptions {
  readonly manager: ToolCallingManager;
  readonly maxIterations: number;
  readonly maxIdenticalCalls: number;
  readonly onLimit: 'answer' | 'throw' | 'return';
  readonly keepHistory: boolean;
  readonly isToolCall: (response: ChatResponse) => boolean;
}

/**
 * One run of the tool loop. Iterative on purpose: an RxJS recursion per iteration ends silently after a few hundred
 * synchronous rounds.
 */
export class ToolLoop {
  private readonly tools = new Cancellation();
  private readonly counts: CallCounts = { byTool: new Map(), total: 0 };
  private running = true;
  private asking: Subscription | undefined;
  private usage: Usage | undefined;
  private identical = 0;
  private lastCalls = '';
  private wrap: ToolCallWrapper | undefined;
  /** The whole conversation, also where the model is sent only a part of it. */
  private transcript: Prompt;

  constructor(
    private readonly options: ToolLoopOptions,
    private request: ChatClientRequest,
    private readonly chain: AdvisorChain,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    this.transcript = request.prompt;
  }

  /** Never rejects: whatever happens goes to the subscriber. */
  async run(): Promise<void> {
    try {
      await this.iterate();
    } catch (error) {
      this.running = false;
      this.subscriber.error(error);
    }
  }

  /** Ends the request and the tools that are under way. */
  stop(): void {
    this.asking?.unsubscribe();
    if (this.running) this.tools.cancel();
    this.running = false;
  }

  private async iterate(): Promise<void> {
    const first = this.request.iteration;
    for (let index = first; this.running; index++) {
      const event = await this.ask();
      if (!this.options.isToolCall(event.response)) return this.finish(event.response, event.context, event);
      this.subscriber.next({ type: 'iteration', index, response: event.response });
      const { result, breach } = await this.runTools(event);
      if (!this.running) return;
      if (breach) return await this.land(event.response, breach, result);
      if (result.returnDirect) return this.returnDirect(event.response, result);
      if (index - first + 1 >= this.options.maxIterations) return await this.land(event.response, this.iterationLimit(), result);
      this.request = this.request.with({ iteration: index + 1 });
    }
  }

  /** One iteration: the rest of the chain, its events passed on as they come, its response kept back. */
  private ask(): Promise<ResponseEvent> {
    return new Promise((resolve, reject) => {
      let last: ResponseEvent | undefined;
      this.asking = this.chain.next(this.request).subscribe({
        next: (event) => {
          if (event.type === 'response') last = event;
          else this.subscriber.next(event);
        },
        error: reject,
        complete: () => {
          if (!last) return reject(new ChainError('what follows the tool loop ended without a response event'));
          this.usage = addUsage(this.usage, last.response.usage);
          resolve(last);
        },
      });
    });
  }

  /** Runs the calls of a response and prepares the next iteration. */
  private async runTools({
    response,
    context,
  }: ResponseEvent): Promise<{ readonly result: ToolExecutionResult; readonly breach: LimitBreach | undefined }> {
    const { maxIdenticalCalls: max } = this.options;
    const repeats = this.countRepeats(response);
    const identical: LimitBreach | undefined = repeats > max ? { limit: 'identical-calls', max, toolName: undefined } : undefined;
    const { result, breach } = await this.execute(response, this.toolRun(context, identical));
    this.goOn(result, context);
    // the model was told the first time; if it does the same again, it has not listened
    return { result, breach: breach ?? (repeats > max + 1 ? identical : undefined) };
  }

  private async execute(
    response: ChatResponse,
    run: ToolRun,
  ): Promise<{ readonly result: ToolExecutionResult; readonly breach?: LimitBreach }> {
    try {
      return { result: await this.options.manager.executeToolCalls(this.transcript, response, run) };
    } catch (error) {
      if (!(error instanceof LimitExceededError)) throw error;
      const { limit, max, toolName, result } = error as LimitExceededError<ToolExecutionResult>;
      return { result, breach: { limit, max, toolName } };
    }
  }

  private toolRun(context: AdvisorContext, refused: LimitBreach | undefined): ToolRun {
    return {
      tools: this.request.tools,
      offered: this.request.offeredTools,
      toolContext: this.request.toolContext,
      advisorContext: context,
      cancellation: this.tools,
      wrap: (this.wrap ??= wrapToolCalls(this.chain.advisors)),
      onEvent: (event) => this.subscriber.next(event),
      counts: this.counts,
      refuse: refused && `Not run: ${describeBreach(refused)}. The result does not change; answer with what you have or do something else.`,
    };
  }

  private goOn(result: ToolExecutionResult, context: AdvisorContext): void {
    this.transcript = result.prompt;
    const { prompt, unlocked } = this.request;
    const next = this.options.keepHistory
      ? result.prompt
      : prompt.withMessages([...prompt.messages.filter((message) => message.role === 'system'), ...result.messages]);
    this.request = this.request.with({
      prompt: withoutForcedChoice(next),
      unlocked: result.unlocks.length > 0 ? [...new Set([...unlocked, ...result.unlocks])] : unlocked,
      context: context.merge(result.context),
    });
  }

  /** How often in a row exactly these calls were made, this time included. */
  private countRepeats(response: ChatResponse): number {
    const key = callsKey(response.generations.flatMap(({ message }) => message.toolCalls));
    this.identical = key === this.lastCalls ? this.identical + 1 : 1;
    this.lastCalls = key;
    return this.identical;
  }

  private returnDirect(response: ChatResponse, { results }: ToolExecutionResult): void {
    this.answer(response, results.map(toGeneration));
  }

  private iterationLimit(): LimitBreach {
    return { limit: 'iterations', max: this.options.maxIterations, toolName: undefined };
  }

  /** Ends a turn that reached a limit. */
  private async land(response: ChatResponse, limit: LimitBreach, result: ToolExecutionResult): Promise<void> {
    if (this.options.onLimit === 'throw') throw limitError(limit, result);
    if (this.options.onLimit === 'answer') {
      this.request = this.request.with({ iteration: this.request.iteration + 1, tools: [], unlocked: [] });
      const last = await this.ask();
      if (!last.response.hasToolCalls())
        return this.finish(last.response.with({ metadata: { ...last.response.metadata, limit } }), last.context);
    }
    const message = { role: 'assistant', text: `The turn was stopped: ${describeBreach(limit)}.`, toolCalls: [] } as const;
    this.answer(response, [{ message, finishReason: 'toolCallLimitExceeded', metadata: { limit, partialToolResponses: result.messages } }]);
  }

  /** An answer that no model streamed. */
  private answer(last: ChatResponse, generations: readonly Generation[]): void {
    const response = last.with({ generations });
    if (this.request.mode === 'stream' && response.text) this.subscriber.next({ type: 'text-delta', text: response.text });
    this.finish(response, this.request.context);
  }

  private finish(response: ChatResponse, context: AdvisorContext, event?: ResponseEvent): void {
    this.running = false;
    const whole = response.usage === this.usage ? response : response.with({ usage: this.usage });
    this.subscriber.next(event && whole === response ? event : { type: 'response', response: whole, context });
    this.subscriber.complete();
  }
}

function toGeneration(executed: ExecutedToolCall): Generation {
  const { id: toolCallId, name: toolName } = executed.call;
  const message = { role: 'assistant', text: textOf(executed.result.content), toolCalls: [] } as const;
  return { message, finishReason: 'returnDirect', metadata: { toolCallId, toolName } };
}

/** A forced choice holds for the first iteration; forced again, the model could never answer. */
function withoutForcedChoice(prompt: Prompt): Prompt {
  const choice = prompt.options.toolChoice;
  return choice === undefined || choice === 'auto' || choice === 'none' ? prompt : prompt.withOptions({ toolChoice: 'auto' });
}
