import type { ModelCallRecord } from '../chat/run-report.js';
import type { RunRecord } from '../chat/run-record.js';
import { InvalidArgumentError } from '../errors.js';
import { describe } from '../internal/text.js';
import { addSpent, NOTHING_SPENT, type BudgetSpent, type BudgetStore } from './budget-store.js';
import type { PriceOfCall } from './price-table.js';

/** The amount that a limit counts; a duration is that of a turn. */
export type BudgetMeasure = keyof BudgetSpent | 'duration';

/** One limit of a budget. */
export interface BudgetLimit {
  readonly measure: BudgetMeasure;
  readonly value: number;
  /** Name of the option, such as `maxTokens`, or `tenant.maxTokens` of a shared budget. */
  readonly option: string;
}

/** A key of a store with its limits. */
export interface BudgetAccount {
  readonly key: string;
  readonly window: number;
  readonly limits: readonly BudgetLimit[];
}

/** Amounts of a turn. */
export type TurnSpent = BudgetSpent & { readonly duration: number };

interface TurnBudgetSettings {
  readonly store: BudgetStore;
  readonly price: PriceOfCall | undefined;
}

/** Amounts that a turn, its nested turns and its accounts have spent. */
export class TurnBudget {
  private readonly start = performance.now();
  /** Calls of models that have ended, and all calls of tools. */
  private ended = NOTHING_SPENT;
  private toolCalls = 0;
  /** Number of calls of the ledger that were read, and those of them that had not ended. */
  private read = 0;
  private pending: readonly ModelCallRecord[] = [];
  private readonly sums = new Map<BudgetAccount, BudgetSpent>();

  constructor(
    private readonly settings: TurnBudgetSettings,
    private readonly run: RunRecord,
    readonly accounts: readonly BudgetAccount[],
  ) {}

  get spent(): TurnSpent {
    const { tokens, cost, modelCalls } = this.ended;
    const toolCalls = this.ended.toolCalls + this.toolCalls;
    const duration = performance.now() - this.start;
    const running = this.pending.filter(({ kind }) => kind === 'chat').length;
    return { tokens, cost, modelCalls: modelCalls + running, toolCalls, duration };
  }

  /** The sum of an account in its window, with the tool calls that are running. */
  spentOf(account: BudgetAccount): BudgetSpent {
    return addSpent(this.sums.get(account) ?? NOTHING_SPENT, this.unsettled);
  }

  private get unsettled(): BudgetSpent {
    return { ...NOTHING_SPENT, toolCalls: this.toolCalls };
  }

  addToolCall(): void {
    this.toolCalls++;
  }

  /** Counts what has ended since the last time, also in the store, and reads the sums there. */
  async settle(): Promise<void> {
    const added = addSpent(this.takeModelCalls(), this.unsettled);
    this.toolCalls = 0;
    this.ended = addSpent(this.ended, added);
    const { store } = this.settings;
    if (this.accounts.length === 0) return;
    await Promise.all(
      this.accounts.map(async (account) => {
        this.sums.set(account, await store.add(account.key, added, account.window));
      }),
    );
  }

  private takeModelCalls(): BudgetSpent {
    const { ledger } = this.run;
    if (this.read === ledger.length && this.pending.length === 0) return NOTHING_SPENT;
    const calls = [...this.pending, ...ledger.slice(this.read)];
    this.read = ledger.length;
    this.pending = calls.filter(({ outcome }) => outcome === 'pending');
    return calls
      .filter(({ outcome }) => outcome !== 'pending')
      .map((call) => this.amountOf(call))
      .reduce(addSpent, NOTHING_SPENT);
  }

  private amountOf(call: ModelCallRecord): BudgetSpent {
    const tokens = call.usage?.totalTokens ?? 0;
    const cost = this.settings.price?.(call) ?? 0;
    // NaN would lift the limit
    if (!(cost >= 0 && cost < Infinity))
      throw new InvalidArgumentError(
        `BudgetAdvisor: price must return a number >= 0, not ${describe(cost)}`,
      );
    return { tokens, cost, modelCalls: call.kind === 'chat' ? 1 : 0, toolCalls: 0 };
  }
}
