import { AdvisorOrder, type Advisor, type AroundChain, type Next } from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../src/advisor/chat-client-response.js';
import { withoutTools } from '../src/advisor/without-tools.js';
import { budgetError, limitsOf, nameOf } from '../src/budget/budget-limits.js';
import { checkBudgetOptions, type BudgetAdvisorOptions } from '../src/budget/budget-options.js';
import { InMemoryBudgetStore, type BudgetStore } from '../src/budget/budget-store.js';
import { RunBudget, type BudgetLevel } from '../src/budget/run-budget.js';
import { TurnBudget, type BudgetAccount, type BudgetLimit } from '../src/budget/turn-budget.js';
import type { ToolResult } from '../src/chat/chat-event.js';
import { RunRecord } from '../src/chat/run-record.js';
import { checkOption, TEXT } from '../src/internal/options.js';
import type { ToolCallHandler, ToolInvocation } from '../src/tool/tool.js';

/** Data of the event `budget-warning`. */
export interface BudgetWarning {
  /** Name of the limit: `tokens`, `cost`, `model-calls`, `tool-calls` or `duration`. */
  readonly limit: string;
  readonly value: number;
  readonly spent: number;
  /** Name of the option, such as `maxTokens`, or `tenant.maxTokens` of a shared budget. */
  readonly option: string;
}

const WARNING = 'Most of the budget of this turn is used. Come to an answer soon.';
const ANSWER =
  'The budget of this turn is used. Answer now, without tools, with what you have found so far.';

declare module '../src/chat/chat-event.js' {
  interface CustomEvents {
    'budget-warning': BudgetWarning;
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
  readonly traits = ['limits-model-calls'] as const;
  readonly adviseToolCall?: NonNullable<Advisor['adviseToolCall']>;
  private readonly limits: readonly BudgetLimit[];
  private readonly store: BudgetStore;
  private readonly runs = new WeakMap<RunRecord, RunBudget>();

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: BudgetAdvisorOptions) {
    checkBudgetOptions(options);
    this.name = options.name ?? 'budget';
    this.order = options.order ?? AdvisorOrder.RESILIENCE + 500;
    this.limits = limitsOf(options);
    this.store = options.store ?? new InMemoryBudgetStore();
    const needsToolCalls = options.maxToolCalls !== undefined || options.shared?.length;
    if (needsToolCalls) this.adviseToolCall = (call, next) => this.runTool(call, next);
  }

  /**
   * Checks the budget, then calls the rest of the chain.
   * @throws {@link LimitExceededError} with `onLimit: 'throw'`; with `answer` if nothing is left when
   * the turn begins, or after its last call
   */
  async around(
    request: ChatClientRequest,
    next: Next,
    chain: AroundChain,
  ): Promise<ChatClientResponse> {
    const run = this.runOf(request);
    await run.turn.settle();
    this.warn(run, chain);
    const admission = run.admit();
    if (admission.next === 'none') throw budgetError(admission.level);
    const before = run.turn.spent;
    const settle = async (): Promise<void> => {
      await run.turn.settle();
      run.measure(before);
      this.warn(run, chain);
    };
    let response: ChatClientResponse;
    try {
      response = await (admission.next === 'call'
        ? next(this.withWarningHint(request, run))
        : this.callLast(request, next, admission.level));
    } catch (error) {
      await settle().catch(() => undefined); // the failure of a store must not hide that of the model
      throw error;
    }
    await settle();
    return response;
  }

  /** A nested run shares the turn of the outer one. */
  private runOf(request: ChatClientRequest): RunBudget {
    const { run } = request;
    const known = this.runs.get(run);
    if (known) return known;
    let outer = run.parent;
    while (outer && !this.runs.has(outer)) outer = outer.parent;
    const turn =
      (outer && this.runs.get(outer)?.turn) ??
      new TurnBudget({ store: this.store, price: this.options.price }, run, this.accounts(request));
    const { onLimit = 'answer', reserve = 0.1, warnAt = 0.8 } = this.options;
    const budget = new RunBudget({ limits: this.limits, onLimit, reserve, warnAt }, turn);
    this.runs.set(run, budget);
    return budget;
  }

  private accounts(request: ChatClientRequest): readonly BudgetAccount[] {
    return (this.options.shared ?? []).flatMap((budget) => {
      const { name, window = Infinity } = budget;
      const key = budget.key(request);
      if (key === undefined) return [];
      checkOption(`advisor "${this.name}"`, `the key of "${name}"`, key, TEXT);
      return [{ key: JSON.stringify([name, key]), window, limits: limitsOf(budget, `${name}.`) }];
    });
  }

  private warn(run: RunBudget, { emit }: AroundChain): void {
    for (const { limit, spent } of run.takeWarnings()) {
      const { value, option } = limit;
      const data: BudgetWarning = { limit: nameOf(limit), value, spent, option };
      emit({ type: 'custom', name: 'budget-warning', data });
    }
  }

  private withWarningHint(request: ChatClientRequest, run: RunBudget): ChatClientRequest {
    const isNear = run.levels().some((level) => level.ofTurn && run.isWarned(level));
    return isNear ? withHint(request, this.options.warningHint ?? WARNING) : request;
  }

  /** Calls the model without tools; calls that it writes all the same are removed. */
  private async callLast(
    request: ChatClientRequest,
    next: Next,
    level: BudgetLevel,
  ): Promise<ChatClientResponse> {
    const view = withHint(withoutTools(request), this.options.answerHint ?? ANSWER);
    const response = await next(view);
    const limit = { limit: nameOf(level.limit), max: level.limit.value, toolName: undefined };
    const metadata = { ...response.metadata, limit };
    if (!response.hasToolCalls()) return response.with({ metadata });
    if (!response.text) throw budgetError(level);
    const message = { ...response.message, toolCalls: [] };
    return response.with({ generations: [{ message, finishReason: 'stop' }], metadata });
  }

  /** Runs a tool call unless the limit of tool calls is reached. */
  private async runTool(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    const record = RunRecord.of(call.context.signal);
    const run = record && this.runs.get(record);
    if (!run) return next(call);
    const level = run.usedUpToolCalls();
    if (level && this.options.onLimit === 'throw') throw budgetError(level);
    if (level) return { content: 'No call is left in the budget of this turn.', isError: true };
    run.turn.addToolCall();
    try {
      return await next(call);
    } finally {
      await run.turn.settle();
    }
  }
}

/** The hint is seen by this model call alone: neither the loop nor a memory keeps it. */
function withHint(request: ChatClientRequest, content: string): ChatClientRequest {
  return request.withMessages([...request.prompt.messages, { role: 'user', content }]);
}
