/** Amounts that count for a turn and for the accounts that it shares. */
export interface BudgetSpent {
  /** Tokens of input and output that providers reported, those of failed attempts included. */
  readonly tokens: number;
  /** In the currency of the prices. */
  readonly cost: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
}

export const nothing = (): BudgetSpent => ({ tokens: 0, cost: 0, modelCalls: 0, toolCalls: 0 });

export function plus(
  sum: BudgetSpent,
  { tokens = 0, cost = 0, modelCalls = 0, toolCalls = 0 }: Partial<BudgetSpent>,
): BudgetSpent {
  return {
    tokens: sum.tokens + tokens,
    cost: sum.cost + cost,
    modelCalls: sum.modelCalls + modelCalls,
    toolCalls: sum.toolCalls + toolCalls,
  };
}
