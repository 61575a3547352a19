import { onAbort } from '../chat/abort.js';
import { Cancellation } from '../chat/cancellation.js';
import type { ChatEvent } from '../chat/chat-event.js';
import type { ToolContextValues } from '../chat/chat-options.js';
import type { ChatResponse, Generation } from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import { describe, type ToolCall } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { InvalidArgumentError } from '../errors.js';
import { reportUnhandledError } from '../rxjs.js';
import { admit, countCalls, describeBreach, type CallCounts, type CallLimits, type LimitBreach } from './call-limits.js';
import { limitConcurrency } from './limit-concurrency.js';
import { isTimeout, TIMEOUT_RULE } from './timeout.js';
import { limitError, toExecutionResult, type ToolExecutionResult } from './tool-execution-result.js';
import { toolsByName } from './tool-names.js';
import { cancel, refuse, runToolCall, type ExecutedToolCall, type ToolRunnerOptions } from './tool-runner.js';
import { isTool, type Tool, type ToolCallWrapper } from './tool.js';

/** Options of a {@link ToolCallingManager}. */
export interface ToolCallingManagerOptions {
  /** Most tools that run at the same time in a batch, 1 or more. @default 8 */
  readonly concurrency?: number | undefined;
  /** Most calls of one tool in a turn, 1 or more; `Infinity` for no limit. @default 40 */
  readonly maxCallsPerTool?: number | undefined;
  /** Other limits for single tools, by name. @default {} */
  readonly maxCallsByTool?: Readonly<Record<string, number>> | undefined;
  /** Most calls of all tools in a turn, 1 or more; `Infinity` for no limit. @default 150 */
  readonly maxTotalCalls?: number | undefined;
  /** What happens at a limit: an error with all results, or a text to the model in place of the result. @default 'throw' */
  readonly onLimit?: 'throw' | 'tell-model' | undefined;
  /** Milliseconds that a tool may take unless it says otherwise; `Infinity` for no limit. @default Infinity */
  readonly toolTimeout?: number | undefined;
  /** Most characters of a result that the model is given; the application gets all. @default 100_000 */
  readonly maxResultLength?: number | undefined;
  /**
   * What happens when a call fails (the tool throws or is late, does not exist, or its arguments are not valid): a text to the
   * model, or a `ToolExecutionError` to the caller when all calls of the batch have ended. @default 'tell-model'
   */
  readonly onToolError?: 'tell-model' | 'throw' | undefined;
}

/** What a batch runs with; everything is optional, so that a loop by hand needs a prompt and a response only. */
export interface ToolRun {
  /** Tools that may run. @default the tools of the prompt's options */
  readonly tools?: readonly Tool[] | undefined;
  /** Tools that are offered, for the message about an unknown one. @default `tools` */
  readonly offered?: readonly Tool[] | undefined;
  /** @default the tool context of the prompt's options */
  readonly toolContext?: ToolContextValues | undefined;
  readonly advisorContext?: AdvisorContext | undefined;
  /** Aborts the tools; what has not begun is not run, and each call still gets a result. */
  readonly signal?: AbortSignal | undefined;
  /** The same as `signal`, where the caller has no signal. */
  readonly cancellation?: Cancellation | undefined;
  /** Goes around each call. */
  readonly wrap?: ToolCallWrapper | undefined;
  /** Hears `tool-call`, `tool-progress` and `tool-result` as they happen. */
  readonly onEvent?: ((event: ChatEvent) => void) | undefined;
  /** Given to the model in place of every result; no tool runs. */
  readonly refuse?: string | undefined;
  /** Calls of the turn so far, counted on. @default counted in the prompt */
  readonly counts?: CallCounts | undefined;
}

/** Finish reasons after which the calls of an answer may be cut in the middle. */
const CUT: ReadonlySet<string> = new Set(['length', 'max_tokens', 'content_filter']);
const CUT_OFF = 'Not run: your answer was cut off before its end. Send the call again, shorter if possible.';

/** Runs the tool calls of a response. Keeps no state of a run; may be shared. */
export class ToolCallingManager {
  private readonly concurrency: number;
  private readonly limits: CallLimits;
  private readonly onLimit: 'throw' | 'tell-model';
  private readonly runner: Pick<ToolRunnerOptions, 'timeout' | 'maxResultLength' | 'onToolError'>;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: ToolCallingManagerOptions = {}) {
    const { concurrency = 8, maxCallsPerTool = 40, maxCallsByTool = {}, maxTotalCalls = 150 } = options;
    const { onLimit = 'throw', toolTimeout: timeout = Infinity, maxResultLength = 100_000, onToolError = 'tell-model' } = options;
    for (const [name, value] of Object.entries({ concurrency, maxCallsPerTool, maxTotalCalls, maxResultLength })) checkCount(name, value);
    for (const [name, value] of Object.entries(maxCallsByTool)) checkCount(`maxCallsByTool["${name}"]`, value);
    check('toolTimeout', timeout, TIMEOUT_RULE, isTimeout(timeout));
    check('onLimit', onLimit, "'throw' or 'tell-model'", onLimit === 'throw' || onLimit === 'tell-model');
    check('onToolError', onToolError, "'tell-model' or 'throw'", onToolError === 'tell-model' || onToolError === 'throw');
    this.concurrency = concurrency;
    this.limits = { perTool: maxCallsPerTool, byTool: new Map(Object.entries(maxCallsByTool)), total: maxTotalCalls };
    this.onLimit = onLimit;
    this.runner = { timeout, maxResultLength, onToolError };
  }

  /**
   * Runs the calls of the first generation that has some, together up to the concurrency, and gives one result per call.
   * @throws {@link InvalidArgumentError} if the response has no tool calls
   * @throws LimitExceededError if the turn made more calls than allowed; its `result` has all results
   * @throws ToolExecutionError if a call failed and `onToolError` is `throw`
   */
  async executeToolCalls(prompt: Prompt, response: ChatResponse, run: ToolRun = {}): Promise<ToolExecutionResult> {
    const generation = response.generations.find(({ message }) => message.toolCalls.length > 0);
    if (!generation)
      throw new InvalidArgumentError('executeToolCalls: the response has no tool calls; look at response.hasToolCalls() first');
    const { message } = generation;
    const tools = toolsByName(run.tools ?? prompt.options.tools?.filter(isTool) ?? []);
    const breaches = admit(message.toolCalls, run.counts ?? countCalls(prompt.messages), this.limits);
    const reasons = breaches.map((breach) => (isCut(generation) ? CUT_OFF : breach ? overLimit(breach) : run.refuse));
    const executed = await this.runAll(message.toolCalls, reasons, this.runnerOptions(prompt, run, tools), run.signal);
    const result = toExecutionResult(prompt, message, executed, tools, run.advisorContext);
    const breach = breaches.find((one) => one !== undefined);
    if (breach && this.onLimit === 'throw') throw limitError(breach, result, response);
    return result;
  }

  /** @param reasons why calls are not to run */
  private async runAll(
    calls: readonly ToolCall[],
    reasons: readonly (string | undefined)[],
    runner: ToolRunnerOptions,
    signal: AbortSignal | undefined,
  ): Promise<ExecutedToolCall[]> {
    const release = signal && onAbort(signal, () => runner.cancellation.cancel(signal.reason));
    const tasks = calls.map((call, at) => () => runOne(call, reasons[at], runner));
    const settled = await limitConcurrency(tasks, this.concurrency);
    release?.();
    return settled.map(valueOf);
  }

  private runnerOptions(prompt: Prompt, run: ToolRun, tools: ReadonlyMap<string, Tool>): ToolRunnerOptions {
    const cancellation = run.cancellation ?? new Cancellation();
    const { timeout, maxResultLength, onToolError } = this.runner;
    return {
      timeout,
      maxResultLength,
      onToolError,
      tools,
      offered: run.offered ?? [...tools.values()],
      values: frozen(run.toolContext ?? prompt.options.toolContext),
      advisorContext: run.advisorContext ?? AdvisorContext.empty,
      wrap: run.wrap,
      cancellation,
      emit: (event) => {
        if (!cancellation.cancelled) tell(run.onEvent, event);
      },
    };
  }
}

const NO_VALUES: ToolContextValues = Object.freeze({});

/** A copy that no tool can change: the original may be the defaults of a client, shared by all its requests. */
function frozen(values: ToolContextValues = NO_VALUES): ToolContextValues {
  return Object.keys(values).length === 0 ? NO_VALUES : Object.freeze({ ...values });
}

/** Runs a call, unless there is a reason not to. */
async function runOne(call: ToolCall, reason: string | undefined, runner: ToolRunnerOptions): Promise<ExecutedToolCall> {
  if (runner.cancellation.cancelled) return cancel(call);
  runner.emit({ type: 'tool-call', call });
  const executed = reason === undefined ? await runToolCall(call, runner) : refuse(call, reason);
  runner.emit({ type: 'tool-result', call, result: executed.result });
  return executed;
}

/** What a listener throws is reported like an error of an RxJS observer: it must not cost the results. */
function tell(listener: ToolRun['onEvent'], event: ChatEvent): void {
  try {
    listener?.(event);
  } catch (error) {
    reportUnhandledError(error);
  }
}

function isCut({ finishReason = '' }: Generation): boolean {
  return CUT.has(finishReason.toLowerCase());
}

function overLimit(breach: LimitBreach): string {
  return `Not run: ${describeBreach(breach)}. Answer with what you have.`;
}

function valueOf(settled: PromiseSettledResult<ExecutedToolCall>): ExecutedToolCall {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

function checkCount(name: string, value: number): void {
  check(name, value, 'an integer of 1 or more (or Infinity)', value >= 1 && (Number.isInteger(value) || value === Infinity));
}

function check(name: string, value: unknown, rule: string, holds: boolean): void {
  if (!holds) throw new InvalidArgumentError(`ToolCallingManager: ${name} must be ${rule}, not ${describe(value)}`);
}
