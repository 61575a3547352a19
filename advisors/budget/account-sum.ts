import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import { nothing, plus, type BudgetAccount, type BudgetSpent } from './budget-limits.js';

/** The sum of an account in a store, as far as a turn knows it, with what the turn adds. */
export class AccountSum {
  private known = nothing();
  /** Not in the store yet. What it failed to take is sent once more: a sum too high limits at least. */
  private unsent = nothing();
  private sent = nothing();
  private last: Promise<unknown> = Promise.resolve();
  private queued: Promise<void> | undefined;

  constructor(
    private readonly store: KeyValueStore,
    private readonly account: BudgetAccount,
  ) {}

  spentOf(measure: keyof BudgetSpent): number {
    return this.known[measure] + this.sent[measure] + this.unsent[measure];
  }

  add(amounts: Partial<BudgetSpent>): void {
    this.unsent = plus(this.unsent, amounts);
  }

  /**
   * Writes what was added, and reads the sum. One write follows another, since their answers may come
   * in another order; callers that wait for the same one share it.
   */
  settle(): Promise<void> {
    if (this.queued) return this.queued;
    const work = this.last.then(() => this.write());
    this.last = work.catch(() => undefined);
    return (this.queued = work);
  }

  private async write(): Promise<void> {
    this.queued = undefined;
    const { key, window: ttl } = this.account;
    this.sent = this.unsent;
    this.unsent = nothing();
    try {
      this.known = await this.store.add(key, { ...this.sent }, { ttl });
    } catch (error) {
      this.add(this.sent);
      throw error;
    } finally {
      this.sent = nothing();
    }
  }
}
