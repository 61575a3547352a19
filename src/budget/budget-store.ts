import { LimitExceededError } from '../errors.js';
import { checkOptions, integer } from '../internal/options.js';

/** Amounts that count for a budget. */
export interface BudgetSpent {
  /** Tokens of input and output that providers reported, those of failed attempts included. */
  readonly tokens: number;
  /** In the currency of the prices. */
  readonly cost: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
}

export const NOTHING_SPENT: BudgetSpent = Object.freeze({
  tokens: 0,
  cost: 0,
  modelCalls: 0,
  toolCalls: 0,
});

/** The sum of two amounts. */
export function addSpent(a: BudgetSpent, b: BudgetSpent): BudgetSpent {
  return {
    tokens: a.tokens + b.tokens,
    cost: a.cost + b.cost,
    modelCalls: a.modelCalls + b.modelCalls,
    toolCalls: a.toolCalls + b.toolCalls,
  };
}

/** A place for what the turns of a conversation, or of a tenant, have spent together. */
export interface BudgetStore {
  /**
   * Adds an amount to a key, atomically, and resolves with the sum of its window; an amount of zeros
   * reads. A window begins with the first amount after the end of the one before.
   * @param window length of the window in milliseconds, or `Infinity`
   */
  add(key: string, spent: BudgetSpent, window: number): Promise<BudgetSpent>;
}

/** Options of an {@link InMemoryBudgetStore}. */
export interface InMemoryBudgetStoreOptions {
  /** Maximum number of keys whose window has not ended, >= 1. @default 100_000 */
  readonly maxKeys?: number | undefined;
}

interface Entry {
  readonly spent: BudgetSpent;
  /** End of the window, in milliseconds since the epoch. */
  readonly end: number;
}

/** Stores budgets in this process. */
export class InMemoryBudgetStore implements BudgetStore {
  private readonly entries = new Map<string, Entry>();
  private readonly maxKeys: number;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: InMemoryBudgetStoreOptions = {}) {
    checkOptions('InMemoryBudgetStore', options, { maxKeys: integer(1) });
    this.maxKeys = options.maxKeys ?? 100_000;
  }

  /**
   * Adds an amount to a key.
   * @throws {@link LimitExceededError} if there are too many keys: an evicted budget would be a new one
   */
  async add(key: string, spent: BudgetSpent, window: number): Promise<BudgetSpent> {
    const now = Date.now();
    const found = this.entries.get(key);
    const current = found && found.end > now ? found : { spent: NOTHING_SPENT, end: now + window };
    if (!found && this.entries.size >= this.maxKeys) this.makeRoom(now);
    const sum = addSpent(current.spent, spent);
    this.entries.set(key, { spent: sum, end: current.end });
    return sum;
  }

  private makeRoom(now: number): void {
    for (const [key, { end }] of this.entries) if (end <= now) this.entries.delete(key);
    if (this.entries.size < this.maxKeys) return;
    const details = { limit: 'budget-keys', value: this.maxKeys, option: 'maxKeys' };
    throw new LimitExceededError(`The store has budgets of ${this.maxKeys} keys`, details);
  }
}
