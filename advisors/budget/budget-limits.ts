import { LimitExceededError } from '../../src/core/errors/errors.js';
import { integer, POSITIVE, rule } from '../../src/core/internal/options.js';

/** Amounts that count for a turn and for the accounts that it shares. */
export interface BudgetSpent {
  /** Tokens of input and output that providers reported, for failed attempts, too. */
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

/** Limits of a budget; an absent one does not limit. */
export interface BudgetLimits {
  /** Maximum number of tokens, of input and output, as the providers report them, >= 1. */
  readonly maxTokens?: number | undefined;
  /** Maximum sum of the prices, > 0; needs a `price`, of the advisor or of the client. */
  readonly maxCost?: number | undefined;
  /** Maximum number of model calls, those repeated by advisors included, >= 1. */
  readonly maxModelCalls?: number | undefined;
  /** Maximum number of tool calls, >= 0; further calls are refused, then the tools are removed. */
  readonly maxToolCalls?: number | undefined;
}

/** Limits of a turn. */
export interface TurnBudgetLimits extends BudgetLimits {
  /**
   * Maximum time of a turn in milliseconds, > 0, measured from its first model call and checked
   * before each one. A call or a tool that runs is not interrupted: that is `maxDuration` of the
   * `ToolCallingAdvisor`.
   */
  readonly maxDuration?: number | undefined;
}

/** The amount that a limit counts; a duration belongs to a turn. */
export type BudgetMeasure = keyof BudgetSpent | 'duration';

/** One limit of a budget. */
export interface BudgetLimit {
  readonly measure: BudgetMeasure;
  readonly value: number;
  /** Name of the option, such as `maxTokens`, or `tenant.maxTokens` of a shared budget. */
  readonly option: string;
  /** Absent for a limit of a turn. */
  readonly account?: BudgetAccount;
}

/** A shared budget of one conversation or tenant. */
export interface BudgetAccount {
  /** Name of the shared budget. */
  readonly name: string;
  /** Its key in the store. */
  readonly key: string;
  readonly window: number;
}

/** The amount that is spent of a limit, and the cost of the turn. */
export interface BudgetStatus {
  /** Name of the limit: `tokens`, `cost`, `model-calls`, `tool-calls` or `duration`. */
  readonly limit: string;
  readonly value: number;
  readonly spent: number;
  /** Name of the option, such as `maxTokens`, or `tenant.maxTokens` of a shared budget. */
  readonly option: string;
  /** Cost of the turn so far, with nested turns; absent without a price of each of its calls. */
  readonly cost?: number | undefined;
}

const COST = rule('a number > 0', (value) => POSITIVE.accepts(value));

export const LIMIT_RULES = {
  maxTokens: integer(1),
  maxCost: COST,
  maxModelCalls: integer(1),
  maxToolCalls: integer(0),
};

const MEASURES: Readonly<Record<keyof TurnBudgetLimits, BudgetMeasure>> = {
  maxTokens: 'tokens',
  maxCost: 'cost',
  maxModelCalls: 'modelCalls',
  maxToolCalls: 'toolCalls',
  maxDuration: 'duration',
};

/** The limits that are set, of a turn or of a shared budget. */
export function limitsOf(
  limits: TurnBudgetLimits,
  account?: BudgetAccount,
): readonly BudgetLimit[] {
  return (Object.keys(MEASURES) as (keyof TurnBudgetLimits)[]).flatMap((name): BudgetLimit[] => {
    const value = limits[name];
    if (value === undefined) return [];
    const measure = MEASURES[name];
    if (!account) return [{ measure, value, option: name }];
    return [{ measure, value, option: `${account.name}.${name}`, account }];
  });
}

/** Names of limits in errors and events. */
const NAMES: Readonly<Record<BudgetMeasure, string>> = {
  tokens: 'tokens',
  cost: 'cost',
  modelCalls: 'model-calls',
  toolCalls: 'tool-calls',
  duration: 'duration',
};

/** Units of limits in messages, where they differ from their names. */
const UNITS: Readonly<Record<string, string>> = {
  cost: 'of the cost',
  'model-calls': 'model calls',
  'tool-calls': 'tool calls',
  duration: 'ms',
};

/** Name of a limit, such as `model-calls`. */
export function nameOf({ measure }: BudgetLimit): string {
  return NAMES[measure];
}

/** The error of a turn that may not call a model, or a tool, once more. */
export function budgetError({ limit, value, spent, option }: BudgetStatus): LimitExceededError {
  const shown = Number(spent.toPrecision(4));
  return new LimitExceededError(
    `The turn was stopped: too little is left of its budget, ${shown} of ${value} ${UNITS[limit] ?? limit} are spent`,
    { limit, value, spent, option },
  );
}
