import type { ChatOptions } from '../chat/chat-options.js';
import type { ChatResponse, Generation } from '../chat/chat-response.js';
import type { Prompt } from '../chat/prompt.js';
import type { ToolDefinition } from '../chat/tool-definition.js';
import { InvalidArgumentError } from '../errors.js';
import { isPromise } from '../internal/cancellation.js';
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
import { describeBrokenOff, refuseIfCut } from './broken-answer.js';
import { checkCall, type CheckedCall } from './check-call.js';
import {
  throwFirstError,
  toExecutionResult,
  type FinishedCall,
  type ToolExecutionResult,
} from './execution-result.js';
import { toManagerSettings, type ToolCallingManagerOptions } from './manager-options.js';
import { prepareCall } from './prepare-call.js';
import { scheduleCalls } from './schedule-calls.js';
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
    const calls = message.toolCalls;
    const counts = run.counts ?? countCalls(prompt.messages);
    const breaches = admitCalls(calls, counts, this.limits);
    const breach = breaches.find((each) => each !== undefined);
    if (breach) run.observation?.note({ type: 'limit', limit: breach.limit, max: breach.max });
    const broken = describeBrokenOff(finishReason);
    const reasons = breaches.map((each) => broken ?? reasonNotToRun(each, run));
    const { cancellation, release } = cancellationOfRun(run);
    let finished: readonly FinishedCall[];
    try {
      const batch = new Batch(this.settings, prompt, calls, counts.rounds, run, cancellation);
      finished = await this.runBatch(batch, reasons);
    } finally {
      release?.();
    }
    counts.rounds.push({ calls, failed: failedOf(finished) });
    const result = toExecutionResult(prompt, message, finished, run.advisorContext);
    throwFirstError(finished, result);
    if (breach && this.settings.onLimit === 'throw') throw limitError(breach, result, response);
    return result;
  }

  private async runBatch(
    batch: Batch,
    reasons: readonly (string | undefined)[],
  ): Promise<readonly FinishedCall[]> {
    const checked = await checkCalls(batch, reasons);
    const scheduled = (await refuseIfCut(checked)).map((each) => {
      // no spread: it takes longer than the rest of a call
      const { ready, run } = prepareCall(each, batch);
      const { key, tool } = each;
      const { effect, maxConcurrency } = tool?.metadata ?? {};
      return { ready, run, key, reads: effect === 'read', group: tool, maxOfGroup: maxConcurrency };
    });
    return scheduleCalls(scheduled, this.settings.concurrency);
  }
}

/** A long turn has many rounds without a failure. */
const NONE: ReadonlySet<string> = new Set();

function failedOf(finished: readonly FinishedCall[]): ReadonlySet<string> {
  const failed = finished.filter(({ executed }) => executed.result.isError);
  return failed.length > 0 ? new Set(failed.map(({ executed }) => executed.call.id)) : NONE;
}

/** Checks the calls, of which each may take the steps of a whole check, without blocking the process. */
async function checkCalls(
  batch: Batch,
  reasons: readonly (string | undefined)[],
): Promise<readonly CheckedCall[]> {
  const slice = new TimeSlice();
  const checking: (CheckedCall | Promise<CheckedCall>)[] = [];
  for (const [at, call] of batch.calls.entries()) {
    const nextSlice = slice.next();
    if (nextSlice) await nextSlice;
    checking.push(checkCall(call, reasons[at], batch));
  }
  return checking.some(isPromise)
    ? Promise.all(checking.map(async (each) => each))
    : (checking as readonly CheckedCall[]);
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
