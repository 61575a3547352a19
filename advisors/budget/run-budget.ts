import { nameOf, type BudgetLimit, type BudgetStatus } from './budget-limits.js';
import type { CallSize, TurnBudget } from './turn-budget.js';

export interface RunBudgetSettings {
  readonly onLimit: 'answer' | 'ask' | 'throw';
  /** Share of a limit of the turn that is kept for the last answer. */
  readonly reserve: number;
  readonly warnAt: number;
}

/** The next model call: as usual, after a question, without tools because it is the last one, or none. */
export type Admission =
  | { readonly next: 'call' }
  /** With the limit that decided. */
  | { readonly next: 'ask' | 'last-call' | 'none'; readonly limit: BudgetLimit };

const CALL: Admission = { next: 'call' };

/** Decides about the model calls of one run; a nested run shares the turn of the outer one. */
export class RunBudget {
  /** The largest model call so far: the next one is assumed to be as large. */
  private largest: CallSize = { tokens: 0, cost: 0, duration: 0 };
  private hasCalled = false;
  private hadFinalCall = false;
  /** Values of limits at which the warning was emitted. */
  private readonly warned = new Map<BudgetLimit, number>();

  constructor(
    private readonly settings: RunBudgetSettings,
    readonly turn: TurnBudget,
  ) {}

  statusOf(limit: BudgetLimit): BudgetStatus {
    const { turn } = this;
    const [value, spent, { cost }] = [turn.valueOf(limit), turn.spentOf(limit), turn];
    const status = { limit: nameOf(limit), value, spent, option: limit.option };
    return cost === undefined ? status : { ...status, cost };
  }

  /** Decides about the next model call, and counts it. */
  admit(): Admission {
    const limit = this.shortLimit();
    if (!limit) {
      this.hasCalled = true;
      return CALL;
    }
    const { onLimit } = this.settings;
    if (onLimit === 'ask' && !this.turn.isRefused) return { next: 'ask', limit };
    // a run that has begun gets one answer, although its budget may be used up
    const mayAnswer = this.hasCalled && !this.hadFinalCall;
    if (onLimit === 'throw' || (this.isUsedUp(limit) && !mayAnswer)) return { next: 'none', limit };
    this.hasCalled = this.hadFinalCall = true;
    return { next: 'last-call', limit };
  }

  /** A limit of which too little is left; one that is used up comes before others. */
  private shortLimit(): BudgetLimit | undefined {
    let found: BudgetLimit | undefined;
    for (const limit of this.turn.limits) {
      if (!this.isShort(limit)) continue;
      if (this.isUsedUp(limit)) return limit;
      found ??= limit;
    }
    return found;
  }

  /** True if the rest covers neither a typical call nor the reserved final one. */
  private isShort(limit: BudgetLimit): boolean {
    const { measure, account } = limit;
    const value = this.turn.valueOf(limit);
    const left = value - this.turn.spentOf(limit);
    const allowsFinalAnswer = this.settings.onLimit !== 'throw';
    // tool calls beyond the limit are refused one by one
    if (measure === 'toolCalls') return allowsFinalAnswer && left <= 0;
    if (measure === 'modelCalls') return left < (allowsFinalAnswer ? 2 : 1);
    const call = this.largest[measure];
    const kept = allowsFinalAnswer
      ? Math.max(call, account ? 0 : this.settings.reserve * value)
      : 0;
    return left <= 0 || left < call + kept;
  }

  /** True if nothing is left for a model call; without tool calls it can still answer. */
  private isUsedUp(limit: BudgetLimit): boolean {
    return limit.measure !== 'toolCalls' && this.turn.spentOf(limit) >= this.turn.valueOf(limit);
  }

  /** The limit of tool calls that is used up. */
  usedUpToolCalls(): BudgetLimit | undefined {
    const { turn } = this;
    return turn.limits.find((limit) => limit.measure === 'toolCalls' && turn.spentOf(limit) >= turn.valueOf(limit)); // prettier-ignore
  }

  /** Remembers the size of a model call by the amounts before it. */
  measure(before: CallSize): void {
    const { size } = this.turn;
    const { tokens, cost, duration } = this.largest;
    this.largest = {
      tokens: Math.max(tokens, size.tokens - before.tokens),
      cost: Math.max(cost, size.cost - before.cost),
      duration: Math.max(duration, size.duration - before.duration),
    };
  }

  /** The limits that have reached the warning for the first time; a raised limit counts as another. */
  takeWarnings(): readonly BudgetStatus[] {
    const reached = this.turn.limits.filter(
      (limit) => this.isWarned(limit) && this.warned.get(limit) !== this.turn.valueOf(limit),
    );
    for (const limit of reached) this.warned.set(limit, this.turn.valueOf(limit));
    return reached.map((limit) => this.statusOf(limit));
  }

  /** True if a limit of the turn itself has reached the warning. */
  get isNearLimit(): boolean {
    return this.turn.limits.some((limit) => !limit.account && this.isWarned(limit));
  }

  private isWarned(limit: BudgetLimit): boolean {
    return this.turn.spentOf(limit) >= this.settings.warnAt * this.turn.valueOf(limit);
  }
}
