import { costOf, isAmount, type PriceOfCall } from '../../src/core/chat/price.js';
import type { RunRecord } from '../../src/core/chat/run-record.js';
import type { ModelCallRecord } from '../../src/core/chat/run-report.js';
import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import { describe } from '../../src/core/errors/describe.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import { AccountSum } from './account-sum.js';
import {
  nothing,
  plus,
  type BudgetAccount,
  type BudgetLimit,
  type BudgetSpent,
} from './budget-limits.js';
import { LimitQuestions } from './limit-questions.js';

/** Amounts of a model call; the duration in milliseconds. */
export interface CallSize {
  readonly tokens: number;
  readonly cost: number;
  readonly duration: number;
}

export interface TurnBudgetSettings {
  readonly store: KeyValueStore;
  readonly price: PriceOfCall | undefined;
  /** Calls that count in an account already, such as calls of a nested turn before the outer one. */
  readonly counted: WeakSet<ModelCallRecord>;
}

const NO_CALLS: readonly ModelCallRecord[] = [];

/** Amounts that a turn, its nested turns and its accounts have spent. */
export class TurnBudget {
  private readonly start = performance.now();
  private ended = nothing();
  /** Number of calls of the ledger that were read, and the unfinished ones among them. */
  private read = 0;
  private pending = NO_CALLS;
  /** Number of calls that were admitted and have not ended; the ledger has them when they are sent. */
  private admitted = 0;
  private readonly sums: ReadonlyMap<BudgetAccount, AccountSum> | undefined;
  private asked: LimitQuestions | undefined;
  /** The price by which {@link limits} count, which must know every call. */
  private readonly price: PriceOfCall | undefined;

  /**
   * @param accounts the accounts of `limits`, with those that have no limit
   * @throws {@link InvalidArgumentError} if there is a limit of the cost, and no price
   */
  constructor(
    private readonly settings: TurnBudgetSettings,
    private readonly run: RunRecord,
    readonly limits: readonly BudgetLimit[],
    accounts: readonly BudgetAccount[],
  ) {
    const limit = limits.find(({ measure }) => measure === 'cost');
    this.price = settings.price ?? (limit && run.price);
    if (limit && !this.price)
      throw new InvalidArgumentError(
        `BudgetAdvisor: ${limit.option} needs a price: price(priceTable({ … })) of the client, or the option price of the advisor`,
      );
    if (accounts.length > 0)
      this.sums = new Map(accounts.map((each) => [each, new AccountSum(settings.store, each)]));
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

  /** Cost of the turn for its readers; unknown rather than an error. */
  get cost(): number | undefined {
    return costOf(this.run.ledger, this.settings.price ?? this.run.price);
  }

  private get duration(): number {
    return performance.now() - this.start - (this.asked?.waited ?? 0);
  }

  /** The amount that counts for a limit: of the turn, or of an account in its window. */
  spentOf({ measure, account }: BudgetLimit): number {
    if (measure === 'duration') return this.duration;
    if (account) return this.sums?.get(account)?.spentOf(measure) ?? 0;
    return measure === 'modelCalls'
      ? this.ended.modelCalls + Math.max(this.runningCalls, this.admitted)
      : this.ended[measure];
  }

  private get runningCalls(): number {
    let running = 0;
    for (const { kind } of this.pending) if (kind === 'chat') running++;
    return running;
  }

  addToolCall(): void {
    this.ended = plus(this.ended, { toolCalls: 1 });
    this.sums?.forEach((sum) => sum.add({ toolCalls: 1 }));
  }

  /** Takes a call out of the accounts: another execution of its turn counts it. */
  dropToolCall(): void {
    this.sums?.forEach((sum) => sum.add({ toolCalls: -1 }));
  }

  beginModelCall(): void {
    this.admitted++;
  }

  /** Ends a model call, also one that has failed, and counts it as {@link settle} does. */
  endModelCall(): Promise<void> | undefined {
    this.admitted--;
    return this.settle();
  }

  /**
   * Counts what has ended since the last time, also in the store, and reads the sums there. A
   * promise costs more than the rest, so that there is none without accounts.
   */
  settle(): Promise<void> | undefined {
    this.takeModelCalls();
    return this.sums && this.settleAccounts(this.sums);
  }

  private async settleAccounts(sums: ReadonlyMap<BudgetAccount, AccountSum>): Promise<void> {
    await Promise.all([...sums.values()].map((sum) => sum.settle()));
  }

  /** Adds the model calls that have ended; none if the price of one is invalid. */
  private takeModelCalls(): void {
    const { ledger } = this.run;
    if (this.read === ledger.length && this.pending.length === 0) return;
    const pending: ModelCallRecord[] = [];
    const ended: (readonly [ModelCallRecord, Partial<BudgetSpent>])[] = [];
    const take = (call: ModelCallRecord): void =>
      void (call.outcome === 'pending' ? pending.push(call) : ended.push([call, this.amountsOf(call)])); // prettier-ignore
    this.pending.forEach(take);
    for (let at = this.read; at < ledger.length; at++) take(ledger[at] as ModelCallRecord);
    this.read = ledger.length;
    this.pending = pending;
    for (const [call, amounts] of ended) this.add(call, amounts);
  }

  private amountsOf(call: ModelCallRecord): Partial<BudgetSpent> {
    const cost: unknown = this.price?.(call) ?? 0;
    // NaN and texts would lift the limit
    if (!isAmount(cost))
      throw new InvalidArgumentError(
        `BudgetAdvisor: price must return a number >= 0, not ${describe(cost)}`,
      );
    const tokens = call.usage?.totalTokens;
    return {
      tokens: isAmount(tokens) ? tokens : 0,
      cost,
      modelCalls: call.kind === 'chat' ? 1 : 0,
    };
  }

  private add(call: ModelCallRecord, amounts: Partial<BudgetSpent>): void {
    this.ended = plus(this.ended, amounts);
    const { counted } = this.settings;
    // an earlier execution of a durable turn has charged a replayed call
    if (!this.sums || call.isReplayed || counted.has(call)) return;
    counted.add(call);
    this.sums.forEach((sum) => sum.add(amounts));
  }
}
