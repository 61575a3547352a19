import type { RunRecord } from '../chat/run-record.js';
import type { ModelCallRecord } from '../chat/run-report.js';
import { InvalidArgumentError } from '../errors.js';
import { describe } from '../internal/text.js';
import type { KeyValueStore } from '../key-value/key-value-store.js';
import type { BudgetAccount, BudgetLimit } from './budget-limits.js';
import { LimitQuestions } from './limit-questions.js';
import type { PriceOfCall } from './price-table.js';

/** Amounts that count for a turn and for the accounts that it shares. */
export interface BudgetSpent {
  /** Tokens of input and output that providers reported, those of failed attempts included. */
  readonly tokens: number;
  /** In the currency of the prices. */
  readonly cost: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
}

/** Amounts of a model call; the duration in milliseconds. */
export interface CallSize {
  readonly tokens: number;
  readonly cost: number;
  readonly duration: number;
}

type Sum = { -readonly [K in keyof BudgetSpent]: number };

export interface TurnBudgetSettings {
  readonly store: KeyValueStore;
  readonly price: PriceOfCall | undefined;
}

const nothing = (): Sum => ({ tokens: 0, cost: 0, modelCalls: 0, toolCalls: 0 });
const NO_CALLS: readonly ModelCallRecord[] = [];

/** Amounts that a turn, its nested turns and its accounts have spent. */
export class TurnBudget {
  private readonly start = performance.now();
  private readonly ended: Sum = nothing();
  /** Tool calls that are not in the accounts yet. */
  private newToolCalls = 0;
  /** Number of calls of the ledger that were read, and those of them that had not ended. */
  private read = 0;
  private pending = NO_CALLS;
  /** Sums of the accounts in their windows, as far as they were read. */
  private readonly sums: Map<BudgetAccount, BudgetSpent> | undefined;
  private asked: LimitQuestions | undefined;

  /** @param accounts the accounts of `limits`, with those that have no limit */
  constructor(
    private readonly settings: TurnBudgetSettings,
    private readonly run: RunRecord,
    readonly limits: readonly BudgetLimit[],
    private readonly accounts: readonly BudgetAccount[],
  ) {
    if (accounts.length > 0) this.sums = new Map();
  }

  /** The questions of the turn; most turns have none. */
  get questions(): LimitQuestions {
    return (this.asked ??= new LimitQuestions());
  }

  /** True if the application has refused to raise a limit. */
  get isRefused(): boolean {
    return this.asked?.isRefused === true;
  }

  /** The value of a limit, as far as the application has raised it. */
  valueOf(limit: BudgetLimit): number {
    return this.asked ? limit.value + this.asked.raiseOf(limit) : limit.value;
  }

  /** Amounts of the turn, by whose growth a call is measured. */
  get size(): CallSize {
    const { tokens, cost } = this.ended;
    return { tokens, cost, duration: this.duration };
  }

  private get duration(): number {
    return performance.now() - this.start - (this.asked?.waited ?? 0);
  }

  /** The amount that counts for a limit: of the turn, or of an account in its window. */
  spentOf({ measure, account }: BudgetLimit): number {
    if (measure === 'duration') return this.duration;
    if (account) {
      const sum = this.sums?.get(account)?.[measure] ?? 0;
      return measure === 'toolCalls' ? sum + this.newToolCalls : sum;
    }
    return measure === 'modelCalls'
      ? this.ended.modelCalls + this.runningCalls
      : this.ended[measure];
  }

  private get runningCalls(): number {
    let running = 0;
    for (const { kind } of this.pending) if (kind === 'chat') running++;
    return running;
  }

  addToolCall(): void {
    this.newToolCalls++;
    this.ended.toolCalls++;
  }

  /**
   * Counts what has ended since the last time, also in the store, and reads the sums there. A
   * promise costs more than the rest, so that there is none without accounts.
   */
  settle(): Promise<void> | undefined {
    const added = this.takeModelCalls();
    return this.sums && this.settleAccounts(this.sums, added ?? nothing());
  }

  private async settleAccounts(sums: Map<BudgetAccount, BudgetSpent>, added: Sum): Promise<void> {
    added.toolCalls = this.newToolCalls;
    this.newToolCalls = 0;
    const { store } = this.settings;
    await Promise.all(
      this.accounts.map(async (account) => {
        const { key, window: ttl } = account;
        sums.set(account, await store.add(key, { ...added }, { ttl }));
      }),
    );
  }

  /** Adds the model calls that have ended to the turn; returns their sum if there are any. */
  private takeModelCalls(): Sum | undefined {
    const { ledger } = this.run;
    if (this.read === ledger.length && this.pending.length === 0) return undefined;
    const added = nothing();
    const pending: ModelCallRecord[] = [];
    const take = (call: ModelCallRecord): void => {
      if (call.outcome === 'pending') pending.push(call);
      else this.add(call, added);
    };
    this.pending.forEach(take);
    while (this.read < ledger.length) take(ledger[this.read++] as ModelCallRecord);
    this.pending = pending;
    return added;
  }

  private add(call: ModelCallRecord, added: Sum): void {
    const tokens = call.usage?.totalTokens ?? 0;
    const cost = this.settings.price?.(call) ?? 0;
    // NaN would lift the limit
    if (!(cost >= 0 && cost < Infinity))
      throw new InvalidArgumentError(
        `BudgetAdvisor: price must return a number >= 0, not ${describe(cost)}`,
      );
    for (const sum of [added, this.ended]) {
      sum.tokens += tokens;
      sum.cost += cost;
      if (call.kind === 'chat') sum.modelCalls++;
    }
  }
}
