import { AdvisorOrder } from '../../src/core/advisor/advisor.js';
import {
  placeOf,
  type AdvisorPlace,
  type CheckedPlace,
} from '../../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { PriceOfCall } from '../../src/core/chat/price.js';
import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import {
  checkOptions,
  FUNCTION,
  numberBetween,
  oneOf,
  POSITIVE,
  required,
  rule,
  TEXT,
  withMethods,
} from '../../src/core/internal/options.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import {
  LIMIT_RULES,
  type BudgetLimits,
  type BudgetStatus,
  type TurnBudgetLimits,
} from './budget-limits.js';
import type { LimitRaise } from './limit-questions.js';

/** Limits that several turns share, such as of a conversation, or of a tenant in a day. */
export interface SharedBudget extends BudgetLimits {
  /** Name, different for each shared budget of an advisor; a part of the key in the store. */
  readonly name: string;
  /** Returns the conversation, tenant or user of a turn; undefined if the budget is not for it. */
  readonly key: (request: ChatClientRequest) => string | undefined;
  /** Length of the window in milliseconds, > 0, from the first call in it. @default Infinity */
  readonly window?: number | undefined;
}

/** Options of a {@link BudgetAdvisor}: the limits of a turn, and more. */
export interface BudgetAdvisorOptions extends TurnBudgetLimits, AdvisorPlace {
  /**
   * Returns the price of a model call of the ledger, >= 0; {@link priceTable} makes one.
   * @default the price of the client
   */
  readonly price?: PriceOfCall | undefined;
  /** Limits that several turns share. @default none */
  readonly shared?: readonly SharedBudget[] | undefined;
  /** Keeps the sums of `shared`, in counters. @default new InMemoryKeyValueStore() */
  readonly store?: KeyValueStore | undefined;
  /**
   * Behaviour when too little is left: `answer` calls the model once more, without tools; `ask`
   * waits for the answer of the function `ask`; `throw` ends with a `LimitExceededError`.
   * @default 'answer'
   */
  readonly onLimit?: 'answer' | 'ask' | 'throw' | undefined;
  /**
   * With `onLimit: 'ask'`: returns the amount that is added to the limit for this turn, > 0, or
   * undefined for a last answer as with `answer`. The turn waits. The signal of the request aborts
   * when it is cancelled.
   */
  readonly ask?:
    | ((status: BudgetStatus, request: ChatClientRequest) => LimitRaise | Promise<LimitRaise>)
    | undefined;
  /**
   * Share of each limit of the turn that is kept for the last answer, from 0 to 1; never less than
   * the largest model call so far. @default 0.1
   */
  readonly reserve?: number | undefined;
  /** Share of a limit at which the event `budget-warning` is emitted, from 0 to 1. @default 0.8 */
  readonly warnAt?: number | undefined;
  /** Message to the model in each call after the warning of a limit of the turn. */
  readonly warningHint?: string | undefined;
  /** Message to the model in the last call. */
  readonly answerHint?: string | undefined;
  /**
   * Position, right of the advisors that repeat calls, and left of a `TimeoutAdvisor`, so that `ask`
   * does not count as the time of a model call. @default AdvisorOrder.RESILIENCE + 150
   */
  readonly order?: number | undefined;
}

const NAME = 'BudgetAdvisor';
const SHARE = numberBetween(0, 1);
const SHARED_RULES = {
  name: required(TEXT),
  key: required(FUNCTION),
  ...LIMIT_RULES,
  window: POSITIVE,
};
const RULES = {
  ...LIMIT_RULES,
  maxDuration: POSITIVE,
  price: FUNCTION,
  shared: rule('an array', Array.isArray),
  store: withMethods('a KeyValueStore', 'add'),
  onLimit: oneOf('answer', 'ask', 'throw'),
  ask: FUNCTION,
  reserve: SHARE,
  warnAt: SHARE,
  warningHint: TEXT,
  answerHint: TEXT,
};

const LIMITS = [
  'maxTokens',
  'maxCost',
  'maxModelCalls',
  'maxToolCalls',
  'maxDuration',
  'shared',
] as const;

/** @throws {@link InvalidArgumentError} if an option is invalid, or needs one that is absent */
export function checkBudgetOptions(options: BudgetAdvisorOptions): CheckedPlace {
  const place = { name: 'budget', order: AdvisorOrder.RESILIENCE + 150 };
  const checked = placeOf(NAME, options, RULES, place);
  const { shared = [], onLimit, ask } = options ?? ({} as BudgetAdvisorOptions);
  if (!LIMITS.some((name) => options?.[name] !== undefined))
    throw new InvalidArgumentError(`${NAME}: one of ${LIMITS.join(', ')} must be set`);
  if ((onLimit === 'ask') !== (ask !== undefined))
    throw new InvalidArgumentError(`${NAME}: onLimit: 'ask' and the function ask need each other`);
  shared.forEach((budget, at) => {
    const path = `shared[${at}].`;
    checkOptions(NAME, budget, SHARED_RULES, path);
    if (shared.findIndex(({ name }) => name === budget.name) < at)
      throw new InvalidArgumentError(`${NAME}: two shared budgets have the name "${budget.name}"`);
  });
  return checked;
}
