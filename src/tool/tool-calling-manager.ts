import type { Cancellation } from '../chat/cancellation.js';
import type { ToolContextValues } from '../chat/chat-options.js';
import type { ChatResponse, Generation } from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import { describe, type Message, type ToolCall } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { tell } from '../chat/tell.js';
import { Turn } from '../chat/turn.js';
import { InvalidArgumentError } from '../errors.js';
import { admit, countCalls, describeBreach, type CallLimits, type LimitBreach } from './call-limits.js';
import { checkCall, type CheckedCall } from './check-call.js';
import { scheduleCalls, type ScheduledCall } from './schedule-calls.js';
import { isTimeout, TIMEOUT_RULE } from './timeout.js';
import { executionError, limitError, toExecutionResult, type ToolExecutionResult } from './tool-execution-result.js';
import type { ErrorClass } from './tool-failure.js';
import { toolsByName } from './tool-names.js';
import type { ToolResolver } from './tool-resolver.js';
import { endOf, type ToolRun } from './tool-run.js';
import { runToolCall, type EndedCall, type ToolRunnerOptions } from './tool-runner.js';
import { isTool, type ToolErrorPolicy } from './tool.js';

/** Options of a {@link ToolCallingManager}. */
export interface ToolCallingManagerOptions {
  /** Most tools that run at the same time in a batch, 1 or more. @default 8 */
  readonly concurrency?: number | undefined;
  /** Most calls of one tool in a turn, 1 or more; `Infinity` for no limit. @default 40 */
  readonly maxCallsPerTool?: number | undefined;
  /** Other limits for single tools, by name; `Infinity` for a tool that only counts towards `maxTotalCalls`. @default {} */
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
   * What happens when a call fails (the tool throws or is late, does not exist, or its arguments are not valid), unless the tool
   * says otherwise: a text to the model, a `ToolExecutionError` to the caller when all calls of the batch have ended, or what a
   * function decides. Where several calls end the batch, the first of them in call order does. @default 'tell-model'
   */
  readonly onToolError?: ToolErrorPolicy | undefined;
  /**
   * Classes of errors that go to the caller as they are, whatever `onToolError` says, when all calls of the batch have ended. They
   * carry no results: what the other calls led to was told by their `tool-result` events. @default []
   */
  readonly rethrow?: readonly ErrorClass[] | undefined;
  /** Asked for tools that the request does not have. @default nobody: what was not given to the request is not run */
  readonly resolver?: ToolResolver | undefined;
}

/** Finish reasons after which the calls of an answer may be cut in the middle. */
const CUT: ReadonlySet<string> = new Set(['length', 'max_tokens', 'content_filter']);
const CUT_OFF = 'Not run: your answer was cut off before its end. Send the call again, shorter if possible.';

/** Runs the tool calls of a response. Keeps no state of a run but {@link lateResults}; may be shared. */
export class ToolCallingManager {
  private readonly concurrency: number;
  private readonly limits: CallLimits;
  private readonly onLimit: 'throw' | 'tell-model';
  private readonly runner: Pick<ToolRunnerOptions, 'attempt' | 'maxResultLength' | 'onToolError' | 'rethrow' | 'resolver'>;
  private late = 0;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: ToolCallingManagerOptions = {}) {
    const { concurrency = 8, maxCallsPerTool = 40, maxCallsByTool = {}, maxTotalCalls = 150, maxResultLength = 100_000 } = options;
    const { onLimit = 'throw', toolTimeout: timeout = Infinity, onToolError = 'tell-model', rethrow = [], resolver } = options;
    for (const [name, value] of Object.entries({ concurrency, maxCallsPerTool, maxTotalCalls, maxResultLength })) checkCount(name, value);
    for (const [name, value] of Object.entries(maxCallsByTool)) checkCount(`maxCallsByTool["${name}"]`, value);
    check('toolTimeout', timeout, TIMEOUT_RULE, isTimeout(timeout));
    check('onLimit', onLimit, "'throw' or 'tell-model'", onLimit === 'throw' || onLimit === 'tell-model');
    check('onToolError', onToolError, "'tell-model', 'throw' or a function", isPolicy(onToolError));
    check('rethrow', rethrow, 'an array of classes', Array.isArray(rethrow) && rethrow.every((type) => typeof type === 'function'));
    check('resolver', resolver, 'a function', resolver === undefined || typeof resolver === 'function');
    this.concurrency = concurrency;
    this.limits = { perTool: maxCallsPerTool, byTool: new Map(Object.entries(maxCallsByTool)), total: maxTotalCalls };
    this.onLimit = onLimit;
    this.runner = { attempt: { timeout, onLate: () => this.late++ }, maxResultLength, onToolError, rethrow: [...rethrow], resolver };
  }

  /** How many tools have ended, since the manager was made, after they were given up; what they gave was dropped. */
  get lateResults(): number {
    return this.late;
  }

  /**
   * Runs the calls of the first generation that has some, and gives one result per call. All calls are checked before any runs;
   * then they run together up to the concurrency, as far as their tools allow it.
   * @throws {@link InvalidArgumentError} if there is no prompt, or the response has no tool calls
   * @throws LimitExceededError if the turn made more calls than allowed; its `result` has all results
   * @throws ToolExecutionError if a call failed and the policy for it is `throw`; its `result` has all results
   * @throws whatever a policy function or an advisor around the call throws, and errors of the classes in `rethrow`
   */
  async executeToolCalls(prompt: Prompt, response: ChatResponse, run: ToolRun = {}): Promise<ToolExecutionResult> {
    const generation = checkedGeneration(prompt, response);
    const { toolCalls } = generation.message;
    const breaches = admit(toolCalls, run.counts ?? countCalls(prompt.messages), this.limits);
    const breach = breaches.find((one) => one !== undefined);
    if (breach) run.observation?.note({ type: 'limit', limit: breach.limit, max: breach.max });
    const { cancellation, release } = endOf(run);
    let ended: readonly EndedCall[];
    try {
      const runner = this.runnerOptions(prompt, toolCalls, run, cancellation);
      const checking = toolCalls.map((call, at) => checkCall(call, reasonNotToRun(generation, breaches[at], run), runner));
      const checked = checking.every(isChecked) ? checking : await Promise.all(checking.map(async (one) => one));
      ended = checked.length === 1 ? [await runToolCall(checked[0] as CheckedCall, runner)] : await this.runAll(checked, runner);
    } finally {
      release?.();
    }
    const result = toExecutionResult(prompt, generation.message, ended, run.advisorContext);
    throwFirst(ended, result);
    if (breach && this.onLimit === 'throw') throw limitError(breach, result, response);
    return result;
  }

  private runAll(checked: readonly CheckedCall[], runner: ToolRunnerOptions): Promise<EndedCall[]> {
    const calls = checked.map((one) => ({ run: () => runToolCall(one, runner), ...constraintsOf(one) }));
    return scheduleCalls(calls, this.concurrency);
  }

  private runnerOptions(prompt: Prompt, calls: readonly ToolCall[], run: ToolRun, cancellation: Cancellation): ToolRunnerOptions {
    const { attempt, maxResultLength, onToolError, rethrow, resolver } = this.runner;
    const tools = toolsByName(run.tools ?? prompt.options.tools?.filter(isTool) ?? []);
    return {
      attempt,
      maxResultLength,
      onToolError,
      rethrow,
      resolver,
      tools,
      offered: run.offered ?? [...tools.values()],
      values: frozen(run.toolContext ?? prompt.options.toolContext),
      advisorContext: run.advisorContext ?? AdvisorContext.empty,
      turn: run.turn ?? new Turn(),
      observation: run.observation,
      iteration: run.iteration,
      calledBefore: (call) => countId(call, prompt.messages, calls),
      wrap: run.wrap,
      cancellation,
      emit: (event) => {
        if (!cancellation.cancelled) tell(() => run.onEvent?.(event));
      },
    };
  }
}

/** The first generation with tool calls. @throws {@link InvalidArgumentError} */
function checkedGeneration(prompt: Prompt, response: ChatResponse): Generation {
  if (typeof prompt?.append !== 'function')
    throw new InvalidArgumentError(`executeToolCalls: the prompt must be a Prompt, not ${describe(prompt)}`);
  if (typeof response?.hasToolCalls !== 'function')
    throw new InvalidArgumentError(`executeToolCalls: the response must be a ChatResponse, not ${describe(response)}`);
  const generation = response.generations.find(({ message }) => message.toolCalls.length > 0);
  if (!generation)
    throw new InvalidArgumentError('executeToolCalls: the response has no tool calls; look at response.hasToolCalls() first');
  return generation;
}

const NO_VALUES: ToolContextValues = Object.freeze({});

/** A copy that no tool can change: the original may be the defaults of a client, shared by all its requests. */
function frozen(values: ToolContextValues = NO_VALUES): ToolContextValues {
  return Object.keys(values).length === 0 ? NO_VALUES : Object.freeze({ ...values });
}

/** How many calls before a call have its id, in the conversation and in the batch. */
function countId(call: ToolCall, messages: readonly Message[], batch: readonly ToolCall[]): number {
  const earlier = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []));
  return [...earlier, ...batch.slice(0, batch.indexOf(call))].filter(({ id }) => id === call.id).length;
}

/** What the model is told in place of a result, whatever the call is. */
function reasonNotToRun({ finishReason = '' }: Generation, breach: LimitBreach | undefined, { refuse }: ToolRun): string | undefined {
  if (CUT.has(finishReason.toLowerCase())) return CUT_OFF;
  return breach ? `Not run: ${describeBreach(breach)}. Answer with what you have.` : refuse;
}

function isChecked(checking: CheckedCall | Promise<CheckedCall>): checking is CheckedCall {
  return !(checking instanceof Promise);
}

/** How a call is to run beside others. */
function constraintsOf(checked: CheckedCall): Omit<ScheduledCall<unknown>, 'run'> {
  if (!('key' in checked)) return {};
  const { key, tool } = checked;
  return { key, reads: tool.metadata.effect === 'read', group: tool, maxOfGroup: tool.metadata.maxConcurrency };
}

/** @throws what the first call in call order has to throw */
function throwFirst(ended: readonly EndedCall[], result: ToolExecutionResult): void {
  const first = ended.find(({ thrown }) => thrown !== undefined);
  if (!first?.thrown) return;
  const { asItIs, error } = first.thrown;
  throw asItIs ? error : executionError(first.executed, error, result);
}

function isPolicy(value: unknown): boolean {
  return value === 'tell-model' || value === 'throw' || typeof value === 'function';
}

function checkCount(name: string, value: number): void {
  check(name, value, 'an integer of 1 or more (or Infinity)', value >= 1 && (Number.isInteger(value) || value === Infinity));
}

function check(name: string, value: unknown, rule: string, holds: boolean): void {
  if (!holds) throw new InvalidArgumentError(`ToolCallingManager: ${name} must be ${rule}, not ${describe(value)}`);
}
