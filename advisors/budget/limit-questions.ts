import { checkOption, FINITE, POSITIVE, rule } from '../../src/core/internal/options.js';
import { SharedWork } from '../../src/core/internal/shared-work.js';
import type { BudgetLimit } from './budget-limits.js';

/** The amount that is added to a limit; nothing if the turn has to end. */
export type LimitRaise = number | false | undefined;

const RAISE = rule(
  'a number > 0, or undefined',
  (value) => POSITIVE.accepts(value) && FINITE.accepts(value),
);

/** The answers of the application when a turn reached its limits. */
export class LimitQuestions {
  private readonly open = new Map<BudgetLimit, SharedWork<void>>();
  private readonly raises = new Map<BudgetLimit, number>();
  /** True if a question was answered with nothing: no other one is asked in the turn. */
  isRefused = false;
  /** Milliseconds of the questions that have ended, and the time at which the open ones began. */
  private passed = 0;
  private since = 0;

  /** Milliseconds in which the turn has waited for answers: questions may be open at the same time. */
  get waited(): number {
    return this.open.size > 0 ? this.passed + performance.now() - this.since : this.passed;
  }

  raiseOf(limit: BudgetLimit): number {
    return this.raises.get(limit) ?? 0;
  }

  isOpen(limit: BudgetLimit): boolean {
    return this.open.has(limit);
  }

  /**
   * Asks about a limit, or waits for the answer to a question that is open: nested turns that run at
   * the same time reach a limit together.
   * @throws {@link CancelledError} when the signal of this caller aborts
   */
  ask(
    limit: BudgetLimit,
    question: (signal: AbortSignal) => Promise<LimitRaise>,
    signal: AbortSignal,
  ): Promise<void> {
    const open = this.open.get(limit);
    if (open) return open.wait(signal);
    if (this.open.size === 0) this.since = performance.now();
    const work = new SharedWork(
      (own) => this.answer(limit, question, own),
      () => this.close(limit),
    );
    this.open.set(limit, work);
    return work.wait(signal);
  }

  private async answer(
    limit: BudgetLimit,
    question: (signal: AbortSignal) => Promise<LimitRaise>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const raise = await question(signal);
      if (!signal.aborted) this.accept(limit, raise);
    } finally {
      if (!signal.aborted) this.close(limit);
    }
  }

  private close(limit: BudgetLimit): void {
    const { waited } = this;
    if (this.open.delete(limit) && this.open.size === 0) this.passed = waited;
  }

  private accept(limit: BudgetLimit, raise: LimitRaise): void {
    if (raise === undefined || raise === false) {
      this.isRefused = true;
      return;
    }
    checkOption('BudgetAdvisor', 'the result of ask', raise, RAISE);
    this.raises.set(limit, this.raiseOf(limit) + raise);
  }
}
