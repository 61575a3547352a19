import { LimitExceededError } from '../errors.js';
import { integer, POSITIVE, rule } from '../internal/options.js';
import type { BudgetLevel } from './run-budget.js';
import type { BudgetLimit, BudgetMeasure } from './turn-budget.js';

/** Limits of a budget; an absent one does not limit. */
export interface BudgetLimits {
  /** Maximum number of tokens, of input and output, as the providers report them, >= 1. */
  readonly maxTokens?: number | undefined;
  /** Maximum sum of the prices, > 0; needs `price`. */
  readonly maxCost?: number | undefined;
  /** Maximum number of model calls, retries included, >= 1. */
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

/** The limits that are set. @param path a prefix of the names of the options */
export function limitsOf(limits: TurnBudgetLimits, path = ''): readonly BudgetLimit[] {
  return (Object.keys(MEASURES) as (keyof TurnBudgetLimits)[]).flatMap((name) => {
    const value = limits[name];
    return value === undefined ? [] : [{ measure: MEASURES[name], value, option: path + name }];
  });
}

/** Names of limits in errors and events, and their units in messages. */
const NAMES: Readonly<Record<BudgetMeasure, readonly [name: string, unit: string]>> = {
  tokens: ['tokens', 'tokens'],
  cost: ['cost', 'of the cost'],
  modelCalls: ['model-calls', 'model calls'],
  toolCalls: ['tool-calls', 'tool calls'],
  duration: ['duration', 'ms'],
};

/** Name of a limit, such as `model-calls`. */
export function nameOf({ measure }: BudgetLimit): string {
  return NAMES[measure][0];
}

/** The error of a turn that may not call a model, or a tool, once more. */
export function budgetError({ limit, spent }: BudgetLevel): LimitExceededError {
  const { measure, value, option } = limit;
  const shown = Number(spent.toPrecision(4));
  return new LimitExceededError(
    `The turn was stopped: too little is left of its budget, ${shown} of ${value} ${NAMES[measure][1]} are spent`,
    { limit: nameOf(limit), value, option },
  );
}
