import type { ChatOptions } from '../chat/chat-options.js';
import type { ChatResponse, Generation } from '../chat/chat-response.js';
import type { Prompt } from '../chat/prompt.js';
import type { ToolDefinition } from '../chat/tool-definition.js';
import { InvalidArgumentError } from '../errors.js';
import { isPromise } from '../internal/cancellation.js';
import {
  checkOption,
  checkOptions,
  FUNCTION,
  integerOrInfinity,
  oneOf,
  PLAIN_OBJECT,
  rule,
  TIMEOUT,
  withMethods,
} from '../internal/options.js';
import { ERROR_POLICY } from '../tool/check-tool.js';
import type { ToolResolver } from '../tool/tool-provider.js';
import type { ToolErrorPolicy } from '../tool/tool.js';
import {
  admitCalls,
  countCalls,
  describeBreach,
  limitError,
  type CallLimits,
  type LimitBreach,
} from './call-limits.js';
import { checkCall, type CheckedCall } from './check-call.js';
import {
  throwFirstError,
  toExecutionResult,
  type FinishedCall,
  type ToolExecutionResult,
} from './execution-result.js';
import { runCall } from './run-call.js';
import { scheduleCalls } from './schedule-calls.js';
import type { ToolManager } from './tool-manager.js';
import {
  Batch,
  cancellationOfRun,
  type BatchSettings,
  type ErrorClass,
  type ToolRun,
} from './tool-run.js';

/** Options of a {@link ToolCallingManager}. */
export interface ToolCallingManagerOptions {
  /** Maximum number of tools that run at the same time in a batch, >= 1. @default 16 */
  readonly concurrency?: number | undefined;
  /** Maximum number of calls of one tool in a turn, >= 1, or `Infinity`. @default 40 */
  readonly maxCallsPerTool?: number | undefined;
  /** Other limits for single tools, by name; `Infinity` leaves only `maxTotalCalls`. @default {} */
  readonly maxCallsByTool?: Readonly<Record<string, number>> | undefined;
  /** Maximum number of calls of all tools in a turn, >= 1, or `Infinity`. @default 150 */
  readonly maxTotalCalls?: number | undefined;
  /**
   * At a limit: throw an error with all results, or send a text to the model in place of the
   * result.
   * @default 'throw'
   */
  readonly onLimit?: 'throw' | 'send-to-model' | undefined;
  /**
   * Time limit in milliseconds of tools without one of their own, or `Infinity`.
   * @default Infinity
   */
  readonly toolTimeout?: number | undefined;
  /**
   * Maximum number of characters of a result for the model, which gets the beginning and the end of
   * a longer one; the application receives all.
   * @default 100_000
   */
  readonly maxResultLength?: number | undefined;
  /**
   * Handling of a failed call (the tool throws, times out or does not exist, or its arguments are
   * invalid), unless the tool has its own: an error result for the model, a `ToolExecutionError`
   * for the caller after all calls of the batch have ended, or a function. If several calls throw,
   * the first one in call order does.
   * @default 'send-to-model'
   */
  readonly onToolError?: ToolErrorPolicy | undefined;
  /**
   * Error classes that reach the caller unchanged, whatever `onToolError` is, after all calls of
   * the batch have ended. The errors carry no results; the results of the other calls are in their
   * `tool-result` events.
   * @default []
   */
  readonly rethrow?: readonly ErrorClass[] | undefined;
  /** Finds tools that the request does not have. @default none: only tools of the request run */
  readonly resolver?: ToolResolver | undefined;
}

const COUNT = integerOrInfinity(1);
const RULES = {
  concurrency: COUNT,
  maxCallsPerTool: COUNT,
  maxCallsByTool: PLAIN_OBJECT,
  maxTotalCalls: COUNT,
  onLimit: oneOf('throw', 'send-to-model'),
  toolTimeout: TIMEOUT,
  maxResultLength: COUNT,
  onToolError: ERROR_POLICY,
  rethrow: rule(
    'an array of classes',
    (value) => Array.isArray(value) && value.every((type) => typeof type === 'function'),
  ),
  resolver: FUNCTION,
};
const PROMPT = withMethods('a Prompt', 'append');
const RESPONSE = withMethods('a ChatResponse', 'hasToolCalls');

/** Finish reasons of answers that were cut off, possibly within the calls. */
const CUT_OFF: ReadonlySet<string> = new Set(['length', 'max_tokens', 'content_filter']);

/**
 * Runs the tool calls of a response. Keeps no state of a run but {@link abandonedCalls}; may be
 * shared.
 */
export class ToolCallingManager implements ToolManager {
  private readonly concurrency: number;
  private readonly limits: CallLimits;
  private readonly onLimit: 'throw' | 'send-to-model';
  private readonly settings: BatchSettings;
  private abandoned = 0;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: ToolCallingManagerOptions = {}) {
    const where = 'ToolCallingManager';
    checkOptions(where, options, RULES);
    const { maxCallsPerTool = 40, maxCallsByTool = {}, maxTotalCalls = 150 } = options;
    for (const [name, max] of Object.entries(maxCallsByTool))
      checkOption(where, `maxCallsByTool["${name}"]`, max, COUNT);
    this.concurrency = options.concurrency ?? 16;
    const byTool = new Map(Object.entries(maxCallsByTool));
    this.limits = { perTool: maxCallsPerTool, byTool, total: maxTotalCalls };
    this.onLimit = options.onLimit ?? 'throw';
    this.settings = {
      toolTimeout: options.toolTimeout ?? Infinity,
      maxResultLength: options.maxResultLength ?? 100_000,
      onToolError: options.onToolError ?? 'send-to-model',
      rethrow: [...(options.rethrow ?? [])],
      resolver: options.resolver,
      countAbandoned: () => this.abandoned++,
    };
  }

  /**
   * Number of tools that ended, since the manager was created, after their call was abandoned;
   * their results were dropped.
   */
  get abandonedCalls(): number {
    return this.abandoned;
  }

  /** Returns the definitions of the tools. */
  resolveToolDefinitions({ tools = [] }: ChatOptions): readonly ToolDefinition[] {
    return tools.map(({ definition }) => definition);
  }

  /**
   * Runs the calls of the first generation that has some; returns one result per call. All calls
   * are checked before any runs; then they run in parallel, within the concurrency and the settings
   * of their tools.
   * @throws {@link InvalidArgumentError} if there is no prompt, or the response has no tool calls
   * @throws {@link LimitExceededError} if the turn made more calls than allowed; its `result` has
   * all results
   * @throws {@link ToolExecutionError} if a call failed and its policy is `throw`; its `result` has
   * all results
   * @throws the errors of policy functions, of advisors around the call, and of the classes in
   * `rethrow`
   */
  async executeToolCalls(
    prompt: Prompt,
    response: ChatResponse,
    run: ToolRun = {},
  ): Promise<ToolExecutionResult> {
    const generation = generationWithCalls(prompt, response);
    const { message } = generation;
    const calls = message.toolCalls;
    const breaches = admitCalls(calls, run.counts ?? countCalls(prompt.messages), this.limits);
    const breach = breaches.find((each) => each !== undefined);
    if (breach) run.observation?.note({ type: 'limit', limit: breach.limit, max: breach.max });
    const reasons = breaches.map((each) => reasonNotToRun(generation, each, run));
    const { cancellation, release } = cancellationOfRun(run);
    let finished: readonly FinishedCall[];
    try {
      const batch = new Batch(this.settings, prompt, calls, run, cancellation);
      finished = await this.runBatch(batch, reasons);
    } finally {
      release?.();
    }
    const result = toExecutionResult(prompt, message, finished, run.advisorContext);
    throwFirstError(finished, result);
    if (breach && this.onLimit === 'throw') throw limitError(breach, result, response);
    return result;
  }

  private async runBatch(
    batch: Batch,
    reasons: readonly (string | undefined)[],
  ): Promise<readonly FinishedCall[]> {
    const checking = batch.calls.map((call, at) => checkCall(call, reasons[at], batch));
    const checked = checking.some(isPromise)
      ? await Promise.all(checking.map(async (each) => each))
      : (checking as readonly CheckedCall[]);
    const scheduled = checked.map((each) => ({
      run: () => runCall(each, batch),
      key: each.key,
      reads: each.tool?.metadata.effect === 'read',
      group: each.tool,
      maxOfGroup: each.tool?.metadata.maxConcurrency,
    }));
    return scheduleCalls(scheduled, this.concurrency);
  }
}

/** @throws {@link InvalidArgumentError} if there is no generation with tool calls */
function generationWithCalls(prompt: Prompt, response: ChatResponse): Generation {
  const where = 'executeToolCalls';
  checkOption(where, 'prompt', prompt, PROMPT);
  checkOption(where, 'response', response, RESPONSE);
  const generation = response.generations.find(({ message }) => message.toolCalls.length > 0);
  if (generation) return generation;
  throw new InvalidArgumentError(
    `${where}: the response has no tool calls; check response.hasToolCalls() first`,
  );
}

/** The text for the model in place of a result; undefined if the call may run. */
function reasonNotToRun(
  { finishReason = '' }: Generation,
  breach: LimitBreach | undefined,
  { refuse }: ToolRun,
): string | undefined {
  if (CUT_OFF.has(finishReason.toLowerCase()))
    return 'Not run: your answer was cut off before its end. Send the call again, shorter if possible.';
  return breach ? `Not run: ${describeBreach(breach)}. Answer with what you have.` : refuse;
}
