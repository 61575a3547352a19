import { onAbort } from '../chat/abort.js';
import { Cancellation } from '../chat/cancellation.js';
import type { ChatEvent, ToolResult } from '../chat/chat-event.js';
import type { ToolContextValues } from '../chat/chat-options.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import { describe, type AssistantMessage, type Message, type ToolCall, type ToolMessage } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { InvalidArgumentError, LimitExceededError } from '../errors.js';
import { admit, countCalls, describeBreach, type CallCounts, type CallLimits, type LimitBreach } from './call-limits.js';
import { limitConcurrency } from './limit-concurrency.js';
import { failure, runToolCall, type ToolRunnerOptions } from './tool-runner.js';
import { toolsByName } from './tool-names.js';
import { isTool, type Tool, type ToolCallWrapper } from './tool.js';

/** Options of a {@link ToolCallingManager}. */
export interface ToolCallingManagerOptions {
  /** Most tools that run at the same time in a batch, 1 or more. @default 8 */
  readonly concurrency?: number;
  /** Most calls of one tool in a turn, 1 or more; `Infinity` for no limit. @default 40 */
  readonly maxCallsPerTool?: number;
  /** Other limits for single tools, by name. @default {} */
  readonly maxCallsByTool?: Readonly<Record<string, number>>;
  /** Most calls of all tools in a turn, 1 or more; `Infinity` for no limit. @default 150 */
  readonly maxTotalCalls?: number;
  /** What happens at a limit: an error with all results, or a text to the model in place of the result. @default 'throw' */
  readonly onLimit?: 'throw' | 'tell-model';
  /** Milliseconds that a tool may take unless it says otherwise; `Infinity` for no limit. @default Infinity */
  readonly toolTimeout?: number;
  /** Most characters of a result that the model is given; the application gets all. @default 100_000 */
  readonly maxResultLength?: number;
  /** What happens when a tool throws: a text to the model, or a {@link ToolExecutionError} to the caller. @default 'tell-model' */
  readonly onToolError?: 'tell-model' | 'throw';
}

/** What a batch runs with; everything is optional, so that a loop by hand needs a prompt and a response only. */
export interface ToolRun {
  /** Tools that may run. @default the tools of the prompt's options */
  readonly tools?: readonly Tool[];
  /** Tools that are offered, for the message about an unknown one. @default `tools` */
  readonly offered?: readonly Tool[];
  /** @default the tool context of the prompt's options */
  readonly toolContext?: ToolContextValues;
  readonly advisorContext?: AdvisorContext;
  readonly signal?: AbortSignal;
  /** The same as `signal`, where the caller has no signal. */
  readonly cancellation?: Cancellation;
  /** Goes around each call. */
  readonly wrap?: ToolCallWrapper | undefined;
  /** Hears `tool-call`, `tool-progress` and `tool-result` as they happen. */
  readonly onEvent?: (event: ChatEvent) => void;
  /** Given to the model in place of every result; no tool runs. */
  readonly refuse?: string | undefined;
  /** Calls of the turn so far, counted on. @default counted in the prompt */
  readonly counts?: CallCounts;
}

/** A call and what came of it. */
export interface ExecutedToolCall {
  readonly call: ToolCall;
  readonly result: ToolResult;
}

/** What came of a batch. */
export interface ToolExecutionResult {
  /** The prompt with the assistant's message and one tool message per call, ready to be sent. */
  readonly prompt: Prompt;
  /** The messages of {@link prompt}. */
  readonly history: readonly Message[];
  /** The tool messages of this batch, in call order. */
  readonly messages: readonly ToolMessage[];
  /** In call order. */
  readonly results: readonly ExecutedToolCall[];
  /** Whether the results are the answer of the turn: all calls were of tools that say so. */
  readonly returnDirect: boolean;
  /** Names of deferred tools that were unlocked, in order. */
  readonly unlocks: readonly string[];
  /** What the tools handed to the advisors. */
  readonly context: AdvisorContext;
}

/** Finish reasons after which the calls of an answer may be cut in the middle. */
const CUT = ['length', 'max_tokens', 'content_filter'];

/** Runs the tool calls of a response. Keeps no state of a run; may be shared. */
export class ToolCallingManager {
  private readonly concurrency: number;
  private readonly limits: CallLimits;
  private readonly options: Required<Pick<ToolCallingManagerOptions, 'onLimit' | 'toolTimeout' | 'maxResultLength' | 'onToolError'>>;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: ToolCallingManagerOptions = {}) {
    const { concurrency = 8, maxCallsPerTool = 40, maxCallsByTool = {}, maxTotalCalls = 150 } = options;
    const { onLimit = 'throw', toolTimeout = Infinity, maxResultLength = 100_000, onToolError = 'tell-model' } = options;
    for (const [name, value] of Object.entries({ concurrency, maxCallsPerTool, maxTotalCalls, maxResultLength })) checkCount(name, value);
    for (const [name, value] of Object.entries(maxCallsByTool)) checkCount(`maxCallsByTool["${name}"]`, value);
    check('toolTimeout', toolTimeout, 'a number of milliseconds above 0', toolTimeout > 0);
    check('onLimit', onLimit, "'throw' or 'tell-model'", onLimit === 'throw' || onLimit === 'tell-model');
    check('onToolError', onToolError, "'tell-model' or 'throw'", onToolError === 'tell-model' || onToolError === 'throw');
    this.concurrency = concurrency;
    this.limits = { perTool: maxCallsPerTool, byTool: new Map(Object.entries(maxCallsByTool)), total: maxTotalCalls };
    this.options = { onLimit, toolTimeout, maxResultLength, onToolError };
  }

  /**
   * Runs the calls of the first generation that has some, together up to the concurrency, and gives one result per call.
   * @throws {@link InvalidArgumentError} if the response has no tool calls
   * @throws {@link LimitExceededError} if the turn made more calls than allowed; its `result` has all results
   * @throws {@link ToolExecutionError} if a tool failed and `onToolError` is `throw`
   */
  async executeToolCalls(prompt: Prompt, response: ChatResponse, run: ToolRun = {}): Promise<ToolExecutionResult> {
    const generation = response.generations.find(({ message }) => message.toolCalls.length > 0);
    if (!generation)
      throw new InvalidArgumentError('executeToolCalls: the response has no tool calls; look at response.hasToolCalls() first');
    const { message } = generation;
    const tools = toolsByName(run.tools ?? prompt.options.tools?.filter(isTool) ?? []);
    if (CUT.includes(generation.finishReason?.toLowerCase() ?? '')) return finish(prompt, message, message.toolCalls.map(cutOff), tools);
    const breaches = admit(message.toolCalls, run.counts ?? countCalls(prompt.messages), this.limits);
    const cancellation = run.cancellation ?? new Cancellation();
    const release = run.signal && onAbort(run.signal, () => cancellation.cancel(run.signal?.reason));
    const runner = this.runnerOptions(prompt, run, tools, cancellation);
    const settled = await limitConcurrency(
      message.toolCalls.map((call, at) => () => this.runOne(call, refusal(breaches[at]) ?? run.refuse, runner, run.onEvent)),
      this.concurrency,
    );
    release?.();
    const results = settled.map(valueOf);
    const result = finish(prompt, message, results, tools);
    const breach = breaches.find((one) => one !== undefined);
    if (breach && this.options.onLimit === 'throw') throw limitError(breach, result);
    return result;
  }

  private async runOne(
    call: ToolCall,
    refused: string | undefined,
    runner: ToolRunnerOptions,
    emit: ToolRun['onEvent'],
  ): Promise<ExecutedToolCall> {
    if (runner.cancellation.cancelled) return { call, result: failure('Not run: the turn was cancelled.') };
    emit?.({ type: 'tool-call', call });
    const result = refused === undefined ? await runToolCall(call, runner) : failure(refused);
    if (!runner.cancellation.cancelled) emit?.({ type: 'tool-result', call, result });
    return { call, result };
  }

  private runnerOptions(prompt: Prompt, run: ToolRun, tools: ReadonlyMap<string, Tool>, cancellation: Cancellation): ToolRunnerOptions {
    const values = run.toolContext ?? prompt.options.toolContext ?? {};
    const advisorContext = run.advisorContext ?? AdvisorContext.empty;
    return {
      tools,
      offered: (run.offered ?? [...tools.values()]).map((tool) => tool.definition.name),
      wrap: run.wrap,
      timeout: this.options.toolTimeout,
      maxResultLength: this.options.maxResultLength,
      onToolError: this.options.onToolError,
      cancellation,
      contextOf: (call, own) => ({
        call,
        get signal() {
          return own.signal;
        },
        values,
        advisorContext,
        progress: (data) => {
          if (!own.cancelled) run.onEvent?.({ type: 'tool-progress', call, data });
        },
      }),
    };
  }
}

/** The error for a breach, with the transcript so far. */
export function limitError(breach: LimitBreach, result: ToolExecutionResult): LimitExceededError<ToolExecutionResult> {
  const hint =
    breach.limit === 'iterations'
      ? 'maxIterations'
      : breach.limit === 'identical-calls'
        ? 'maxIdenticalCalls'
        : 'the limits of the ToolCallingManager';
  return new LimitExceededError(
    `The turn was stopped: ${describeBreach(breach)}. Raise ${hint} if that is wanted.`,
    breach.limit,
    breach.max,
    breach.toolName,
    result,
  );
}

function refusal(breach: LimitBreach | undefined): string | undefined {
  return breach && `Not run: ${describeBreach(breach)}. Answer with what you have.`;
}

function cutOff(call: ToolCall): ExecutedToolCall {
  return { call, result: failure('Not run: your answer was cut off before its end. Send the call again, shorter if possible.') };
}

function valueOf(settled: PromiseSettledResult<ExecutedToolCall>): ExecutedToolCall {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

function finish(
  prompt: Prompt,
  message: AssistantMessage,
  results: readonly ExecutedToolCall[],
  tools: ReadonlyMap<string, Tool>,
): ToolExecutionResult {
  const messages = results.map(toMessage);
  const next = prompt.append(message, ...messages);
  return {
    prompt: next,
    get history() {
      return next.messages;
    },
    messages,
    results,
    returnDirect: results.every(({ call }) => tools.get(call.name)?.metadata.returnDirect === true),
    unlocks: results.flatMap(({ result }) => result.unlocks ?? []),
    context: results.reduce((context, { result }) => (result.context ? context.merge(result.context) : context), AdvisorContext.empty),
  };
}

function toMessage({ call, result }: ExecutedToolCall): ToolMessage {
  return { role: 'tool', toolCallId: call.id, toolName: call.name, content: result.content, ...(result.isError && { isError: true }) };
}

function checkCount(name: string, value: number): void {
  check(name, value, 'an integer of 1 or more (or Infinity)', value >= 1 && (Number.isInteger(value) || value === Infinity));
}

function check(name: string, value: unknown, rule: string, holds: boolean): void {
  if (!holds) throw new InvalidArgumentError(`ToolCallingManager: ${name} must be ${rule}, not ${describe(value)}`);
}
