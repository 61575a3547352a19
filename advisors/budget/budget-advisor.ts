import { withoutCalls } from '../../src/core/chat/message.js';
import type { Advisor, AroundChain, InspectedState, Next } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../../src/core/advisor/chat-client-response.js';
import { inspectedState } from '../../src/core/advisor/inspected-state.js';
import { withoutTools } from '../../src/core/advisor/without-tools.js';
import { AccountSum } from './account-sum.js';
import {
  budgetError,
  limitsOf,
  nameOf,
  type BudgetAccount,
  type BudgetLimit,
  type BudgetSpent,
  type BudgetStatus,
} from './budget-limits.js';
import { checkBudgetOptions, type BudgetAdvisorOptions } from './budget-options.js';
import { RunBudget, type RunBudgetSettings } from './run-budget.js';
import { TurnBudget, type CallSize, type TurnBudgetSettings } from './turn-budget.js';
import type { ToolResult } from '../../src/core/chat/chat-event.js';
import { RunRecord } from '../../src/core/chat/run-record.js';
import { RunSlot } from '../../src/core/chat/context.js';
import { observeWait } from '../../src/core/observation/observe-wait.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { checkOption, TEXT } from '../../src/core/internal/options.js';
import { InMemoryKeyValueStore } from '../../src/stores/key-value/in-memory-key-value-store.js';
import type { ToolCallHandler, ToolInvocation } from '../../src/core/tool/tool.js';

const WARNING = 'Most of the budget of this turn is used. Come to an answer soon.';
const ANSWER =
  'The budget of this turn is used. Answer now, without tools, with what you have found so far.';

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    /** Most of a limit is spent. */
    'budget-warning': BudgetStatus;
    /** The turn waits until the application has decided about a limit. */
    'budget-question': BudgetStatus;
  }
}

/**
 * Keeps turns, conversations and tenants within limits of tokens, money, calls and time. Everything
 * in the ledger of the run counts: retries, failed attempts that reported usage, other models, and
 * nested turns. A nested turn of a client with the same advisor shares the limits of the outer turn.
 */
export class BudgetAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['counts-model-calls', 'limits-model-calls'] as const;
  readonly adviseToolCall?: NonNullable<Advisor['adviseToolCall']>;
  private readonly limits: readonly BudgetLimit[];
  private readonly settings: RunBudgetSettings & TurnBudgetSettings;
  private readonly runs = new RunSlot<RunBudget>();

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: BudgetAdvisorOptions) {
    ({ name: this.name, order: this.order } = checkBudgetOptions(options));
    this.limits = limitsOf(options);
    const { onLimit = 'answer', reserve = 0.1, warnAt = 0.8, price } = options;
    const store = options.store ?? new InMemoryKeyValueStore();
    this.settings = { onLimit, reserve, warnAt, price, store, counted: new WeakSet() };
    const needsToolCalls = options.maxToolCalls !== undefined || options.shared?.length;
    if (needsToolCalls) this.adviseToolCall = (call, next) => this.runTool(call, next);
  }

  /**
   * Checks the budget, then calls the rest of the chain.
   * @throws {@link LimitExceededError} with `onLimit: 'throw'`; otherwise if nothing is left when
   * the turn begins, or after its last call
   */
  async around(
    request: ChatClientRequest,
    next: Next,
    chain: AroundChain,
  ): Promise<ChatClientResponse> {
    const run = this.runs.get(request.run) ?? this.begin(request);
    const { turn } = run;
    const read = turn.settle();
    if (read) await read;
    this.warn(run, chain);
    let admission = run.admit();
    for (; admission.next === 'ask'; admission = run.admit()) {
      await this.ask(admission.limit, run, request, chain);
      await turn.settle(); // others may have spent the same budget meanwhile
    }
    if (admission.next === 'none') throw budgetError(run.statusOf(admission.limit));
    const before = turn.size;
    turn.beginModelCall();
    let response: ChatClientResponse;
    try {
      response = await (admission.next === 'call'
        ? next(this.withWarningHint(request, run))
        : this.callLast(request, next, run.statusOf(admission.limit)));
    } catch (error) {
      try {
        await turn.endModelCall();
        this.measure(run, before, chain);
      } catch {
        // the failure of a store or a price must not hide the model's; it comes back with the next call
      }
      throw error;
    }
    const written = turn.endModelCall();
    if (written) await written;
    this.measure(run, before, chain);
    return response;
  }

  /** A nested run shares the turn of the outer one. */
  private begin(request: ChatClientRequest): RunBudget {
    const { run } = request;
    const turn = this.runs.ofOuter(run)?.turn ?? this.beginTurn(request);
    return this.runs.set(run, new RunBudget(this.settings, turn));
  }

  private beginTurn(request: ChatClientRequest): TurnBudget {
    const { settings, limits, options } = this;
    if (!options.shared) return new TurnBudget(settings, request.run, limits, []);
    const shared = this.sharedOf(request);
    const all = [...limits, ...shared.flatMap((each) => each.limits)];
    return new TurnBudget(settings, request.run, all, shared.map(({ account }) => account)); // prettier-ignore
  }

  /** The shared budgets that a request belongs to. */
  private sharedOf(request: ChatClientRequest): readonly SharedAccount[] {
    const { shared = [] } = this.options;
    return shared.flatMap((budget) => {
      const { name, window = Infinity } = budget;
      const key = budget.key(request);
      if (key === undefined) return [];
      checkOption(`advisor "${this.name}"`, `the key of "${name}"`, key, TEXT);
      const account = { name, key: `budget:${JSON.stringify([name, key])}`, window };
      return [{ account, limits: limitsOf(budget, account) }];
    });
  }

  /** The `limits` of the turn and of its `accounts`, with what is spent and remains of each. */
  async inspect(request: ChatClientRequest): Promise<InspectedState> {
    const turn = this.runs.get(request.run)?.turn ?? this.runs.ofOuter(request.run)?.turn;
    const ofTurn = this.limits.map((limit) => {
      const { option, value } = limit;
      // the clock of a turn does not end with it
      if (limit.measure === 'duration') return { limit: nameOf(limit), option, value };
      return statusOf(limit, turn?.valueOf(limit) ?? value, turn?.spentOf(limit) ?? 0);
    });
    const accounts = this.sharedOf(request).map(async ({ account, limits }) => {
      const sum = new AccountSum(this.settings.store, account);
      await sum.settle(); // adds nothing: reads
      const { name, window } = account;
      const spentOf = ({ measure }: BudgetLimit) => sum.spentOf(measure as keyof BudgetSpent);
      const rows = limits.map((limit) => statusOf(limit, limit.value, spentOf(limit)));
      return { name, ...(window < Infinity && { window }), limits: rows };
    });
    const { onLimit } = this.settings;
    const cost = turn?.cost;
    return inspectedState({ onLimit, cost, limits: ofTurn, accounts: await Promise.all(accounts) });
  }

  private measure(run: RunBudget, before: CallSize, chain: AroundChain): void {
    run.measure(before);
    this.warn(run, chain);
  }

  private warn(run: RunBudget, { emit }: AroundChain): void {
    for (const data of run.takeWarnings()) emit({ type: 'custom', name: 'budget-warning', data });
  }

  /** Waits until the application has decided about a limit. */
  private async ask(
    limit: BudgetLimit,
    run: RunBudget,
    request: ChatClientRequest,
    { emit }: AroundChain,
  ): Promise<void> {
    const { questions } = run.turn;
    const data = run.statusOf(limit);
    if (!questions.isOpen(limit)) emit({ type: 'custom', name: 'budget-question', data });
    const question = async (signal: AbortSignal) =>
      this.options.ask?.(data, request.withSignal(signal));
    await observeWait(request.observation, 'budget', (onWait) => {
      onWait();
      return questions.ask(limit, question, request.signal);
    });
  }

  private withWarningHint(request: ChatClientRequest, run: RunBudget): ChatClientRequest {
    return run.isNearLimit ? withHint(request, this.options.warningHint ?? WARNING) : request;
  }

  /** Calls the model without tools; calls that it writes all the same are removed. */
  private async callLast(
    request: ChatClientRequest,
    next: Next,
    status: BudgetStatus,
  ): Promise<ChatClientResponse> {
    const view = withHint(withoutTools(request), this.options.answerHint ?? ANSWER);
    const response = await next(view);
    const { limit: name, value: max, spent } = status;
    const limit = { limit: name, max, spent, toolName: undefined };
    const metadata = { ...response.metadata, limit };
    if (!response.hasToolCalls()) return response.with({ metadata });
    if (!response.text) throw budgetError(status);
    const message = withoutCalls(response.message);
    return response.with({ generations: [{ message, finishReason: 'stop' }], metadata });
  }

  /** Runs a tool call unless the limit of tool calls is reached. */
  private async runTool(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    const record = RunRecord.of(call.context.signal);
    const run = record && this.runs.get(record);
    if (!run) return next(call);
    const limit = run.usedUpToolCalls();
    if (limit && this.options.onLimit === 'throw') throw budgetError(run.statusOf(limit));
    if (limit) return { content: 'No call is left in the budget of this turn.', isError: true };
    run.turn.addToolCall();
    let isPaused = false;
    try {
      return await next(call);
    } catch (error) {
      isPaused = hasCode(error, 'turn_paused');
      throw error;
    } finally {
      if (isPaused || record.recorder.isReplayed(call.call.id)) run.turn.dropToolCall();
      await run.turn.settle();
    }
  }
}

interface SharedAccount {
  readonly account: BudgetAccount;
  readonly limits: readonly BudgetLimit[];
}

/** A limit as an inspector shows it. */
function statusOf(limit: BudgetLimit, value: number, spent: number) {
  const remaining = Math.max(0, value - spent);
  return { limit: nameOf(limit), option: limit.option, value, spent, remaining };
}

/** The hint is seen by this model call alone: neither the loop nor a memory keeps it. */
function withHint(request: ChatClientRequest, content: string): ChatClientRequest {
  return request.withMessages([...request.prompt.messages, { role: 'user', content }]);
}
