import type { BudgetLimit, TurnBudget, TurnSpent } from './turn-budget.js';

/** The amount that was spent of a limit. */
export interface BudgetLevel {
  readonly limit: BudgetLimit;
  readonly spent: number;
  /** True if the limit is that of the turn, false if it is shared with other turns. */
  readonly ofTurn: boolean;
}

export interface RunBudgetSettings {
  readonly limits: readonly BudgetLimit[];
  readonly onLimit: 'answer' | 'throw';
  /** Share of a limit of the turn that is kept for the last answer. */
  readonly reserve: number;
  readonly warnAt: number;
}

/** The next model call: as usual, without tools because it is the last one, or none. */
export type Admission =
  | { readonly next: 'call' }
  /** With the level that decided. */
  | { readonly next: 'last-call' | 'none'; readonly level: BudgetLevel };

const NONE: TurnSpent = { tokens: 0, cost: 0, modelCalls: 0, toolCalls: 0, duration: 0 };

/** Decides about the model calls of one run; a nested run shares the turn of the outer one. */
export class RunBudget {
  /** The largest model call so far: the next one is assumed to be as large. */
  private largest = NONE;
  private hasCalled = false;
  private hasLanded = false;
  private readonly warned = new Set<BudgetLimit>();

  constructor(
    private readonly settings: RunBudgetSettings,
    readonly turn: TurnBudget,
  ) {}

  levels(): readonly BudgetLevel[] {
    const { spent, accounts } = this.turn;
    const ofTurn = this.settings.limits.map((limit) => toLevel(limit, spent, true));
    if (accounts.length === 0) return ofTurn;
    return [
      ...ofTurn,
      ...accounts.flatMap((account) => {
        const sum = { ...this.turn.spentOf(account), duration: 0 };
        return account.limits.map((limit) => toLevel(limit, sum, false));
      }),
    ];
  }

  /** Decides about the next model call, and counts it. */
  admit(): Admission {
    const short = this.levels().filter((level) => this.isShort(level));
    const level = short.find(isUsedUp) ?? short[0];
    if (!level) {
      this.hasCalled = true;
      return { next: 'call' };
    }
    // a run that has begun gets one answer, although its budget may be used up
    const mayLand = this.hasCalled && !this.hasLanded;
    if (this.settings.onLimit === 'throw' || (isUsedUp(level) && !mayLand))
      return { next: 'none', level };
    this.hasCalled = this.hasLanded = true;
    return { next: 'last-call', level };
  }

  /** True if too little is left for a usual call, and, with `answer`, for the last one after it. */
  private isShort({ limit, spent, ofTurn }: BudgetLevel): boolean {
    const { measure, value } = limit;
    const { onLimit, reserve } = this.settings;
    const left = value - spent;
    const lands = onLimit === 'answer';
    if (measure === 'toolCalls') return lands && left <= 0; // calls beyond it are refused one by one
    if (measure === 'modelCalls') return left < (lands ? 2 : 1);
    const call = this.largest[measure];
    const kept = lands ? Math.max(call, ofTurn ? reserve * value : 0) : 0;
    return left <= 0 || left < call + kept;
  }

  /** The level of a limit of tool calls that is used up. */
  usedUpToolCalls(): BudgetLevel | undefined {
    return this.levels().find(({ limit, spent }) => limit.measure === 'toolCalls' && spent >= limit.value); // prettier-ignore
  }

  /** Remembers the size of a model call by the amounts before it. */
  measure(before: TurnSpent): void {
    const { spent } = this.turn;
    const { tokens, cost, duration } = this.largest;
    this.largest = {
      ...NONE,
      tokens: Math.max(tokens, spent.tokens - before.tokens),
      cost: Math.max(cost, spent.cost - before.cost),
      duration: Math.max(duration, spent.duration - before.duration),
    };
  }

  /** The levels that have reached the warning for the first time. */
  takeWarnings(): readonly BudgetLevel[] {
    const reached = this.levels().filter((level) => this.isWarned(level) && !this.warned.has(level.limit)); // prettier-ignore
    for (const { limit } of reached) this.warned.add(limit);
    return reached;
  }

  isWarned({ limit, spent }: BudgetLevel): boolean {
    return spent >= this.settings.warnAt * limit.value;
  }
}

/** True if nothing is left for a model call; without tool calls it can still answer. */
function isUsedUp({ limit, spent }: BudgetLevel): boolean {
  return limit.measure !== 'toolCalls' && spent >= limit.value;
}

function toLevel(limit: BudgetLimit, spent: TurnSpent, ofTurn: boolean): BudgetLevel {
  return { limit, spent: spent[limit.measure], ofTurn };
}
