import { callsOf } from '../chat/message.js';
import type { ChatOptions } from '../chat/chat-options.js';
import type { ChatResponse, Generation } from '../chat/chat-response.js';
import type { Prompt } from '../chat/prompt.js';
import type { ToolDefinition } from '../chat/tool-definition.js';
import { InvalidArgumentError } from '../errors/errors.js';
import { untilCancelled } from '../internal/cancellation.js';
import { frozenCopy } from '../internal/frozen-copy.js';
import { checkOption, withMethods } from '../internal/options.js';
import { TimeSlice } from '../internal/time-slice.js';
import {
  admitCalls,
  countCalls,
  describeBreach,
  limitError,
  type CallLimits,
  type LimitBreach,
} from './call-limits.js';
import { BatchCall } from './batch-call.js';
import { keptResult } from './call-state.js';
import { checkCall, describeBrokenOff, refuseIfCut } from './check-call.js';
import {
  throwFirstError,
  toExecutionResult,
  type ToolExecutionResult,
} from './execution-result.js';
import { toManagerSettings, type ToolCallingManagerOptions } from './manager-options.js';
import { scheduleCalls } from './schedule-calls.js';
import { CallContext } from './tool-context.js';
import type { ToolManager } from './tool-manager.js';
import { Batch, cancellationOfRun, type BatchSettings, type ToolRun } from './tool-run.js';

export type { ToolCallingManagerOptions } from './manager-options.js';

const PROMPT = withMethods('a Prompt', 'append');
const RESPONSE = withMethods('a ChatResponse', 'hasToolCalls');

/**
 * Runs the tool calls of a response. Keeps no state of a run but {@link abandonedCalls}; may be
 * shared.
 */
export class ToolCallingManager implements ToolManager {
  private readonly limits: CallLimits;
  private readonly settings: BatchSettings;
  private abandoned = 0;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: ToolCallingManagerOptions = {}) {
    this.settings = { ...toManagerSettings(options), countAbandoned: () => this.abandoned++ };
    const { maxCallsPerTool: perTool, maxCallsByTool, maxTotalCalls: total } = this.settings;
    this.limits = { perTool, byTool: new Map(Object.entries(maxCallsByTool)), total };
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
   * Runs the calls of the first generation; returns one result per call. All calls are checked
   * before any runs; then they run in parallel, within the concurrency and the settings of their
   * tools. No call of an answer that was broken off runs.
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
    const { message, finishReason } = generationWithCalls(prompt, response);
    const calls = callsOf(message);
    const counts = run.counts ?? countCalls(prompt.messages);
    const breaches = admitCalls(calls, counts, this.limits);
    const breach = breaches.find((each) => each !== undefined);
    if (breach) run.observation?.note({ type: 'limit', limit: breach.limit, max: breach.max });
    const broken = describeBrokenOff(finishReason);
    const reasons = breaches.map((each) => broken ?? reasonNotToRun(each, run));
    const { cancellation, release } = cancellationOfRun(run);
    let ended: readonly BatchCall[];
    try {
      const batch = new Batch(this.settings, prompt, calls, counts.rounds, run, cancellation);
      ended = await this.runBatch(batch, reasons);
    } finally {
      release?.();
    }
    counts.rounds.push({ calls, failed: failedOf(ended) });
    const result = toExecutionResult(prompt, message, ended, run.advisorContext);
    throwFirstError(ended, result);
    if (breach && this.settings.onLimit === 'throw') throw limitError(breach, result, response);
    return result;
  }

  /** Checks all calls before any runs. */
  private async runBatch(
    batch: Batch,
    reasons: readonly (string | undefined)[],
  ): Promise<readonly BatchCall[]> {
    const calls = batch.calls.map((call) => new BatchCall(call, batch));
    await checkCalls(calls, reasons);
    await refuseIfCut(calls);
    for (const call of calls) prepareCall(call);
    return scheduleCalls(calls, this.settings.concurrency);
  }
}

/** A long turn has many rounds without a failure. */
const NONE: ReadonlySet<string> = new Set();

function failedOf(calls: readonly BatchCall[]): ReadonlySet<string> {
  const failed = calls.filter(({ result }) => result.isError);
  return failed.length > 0 ? new Set(failed.map(({ call }) => call.id)) : NONE;
}

/** Checks the calls, of which each may take the steps of a whole check, without blocking the process. */
async function checkCalls(
  calls: readonly BatchCall[],
  reasons: readonly (string | undefined)[],
): Promise<void> {
  const slice = new TimeSlice();
  const checking: Promise<void>[] = [];
  for (const [at, call] of calls.entries()) {
    const nextSlice = slice.next();
    if (nextSlice) await nextSlice;
    const check = checkCall(call, reasons[at]);
    if (check) checking.push(check);
  }
  if (checking.length > 0) await Promise.all(checking);
}

/** Lets the advisors prepare a checked call; never throws. */
function prepareCall(checked: BatchCall): void {
  const { call, tool, outcome, batch } = checked;
  const { prepare } = batch.run;
  const isReady = !prepare || !tool || outcome !== 'success' || batch.cancellation.cancelled;
  if (isReady || keptResult(call, batch)) return;
  // the tool does not run yet
  const emitter = { progress: () => undefined, emit: checked.emit };
  const context = new CallContext(call, checked, batch.cancellation, emitter);
  const invocation = { call, tool, arguments: frozenCopy(checked.arguments), context };
  const fail = (error: unknown): void => void (checked.failure = { error });
  try {
    const prepared = prepare(Object.freeze(invocation));
    checked.ready = prepared && untilCancelled(prepared, batch.cancellation).catch(fail);
  } catch (error) {
    fail(error);
  }
}

/** @throws {@link InvalidArgumentError} if there is no generation with tool calls */
function generationWithCalls(prompt: Prompt, response: ChatResponse): Generation {
  const where = 'executeToolCalls';
  checkOption(where, 'prompt', prompt, PROMPT);
  checkOption(where, 'response', response, RESPONSE);
  const { result } = response;
  if (result && response.hasToolCalls()) return result;
  throw new InvalidArgumentError(
    `${where}: the response has no tool calls; check response.hasToolCalls() first`,
  );
}

/** The text for the model in place of a result; undefined if the call may run. */
function reasonNotToRun(breach: LimitBreach | undefined, { refuse }: ToolRun): string | undefined {
  return breach ? `Not run: ${describeBreach(breach)}. Answer with what you have.` : refuse;
}
