import { mock } from 'node:test';
import { expect } from 'chai';
import { LimitQuestions, type LimitRaise } from '../../../advisors/budget/limit-questions.js';
import { limitsOf, type BudgetLimit } from '../../../advisors/budget/budget-limits.js';
import { deferred } from '../../support/promises.js';

describe('LimitQuestions', () => {
  const [tokens, calls] = limitsOf({ maxTokens: 1, maxModelCalls: 1 }) as [
    BudgetLimit,
    BudgetLimit,
  ];
  let now = 0;
  beforeEach(() => {
    now = 0;
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => mock.restoreAll());

  it('counts the time of questions that are open at the same time once, from their beginning on', async () => {
    const questions = new LimitQuestions();
    const [first, second] = [deferred<LimitRaise>(), deferred<LimitRaise>()];
    const { signal } = new AbortController();

    const one = questions.ask(tokens, () => first.promise, signal);
    now = 10;
    const other = questions.ask(calls, () => second.promise, signal);
    now = 30;
    const open = questions.waited;
    first.resolve(1);
    await one;
    now = 60;
    second.resolve(1);
    await other;
    now = 100;

    expect([open, questions.waited]).to.deep.equal([30, 60]);
  });

  it('does not count the time after all callers have been cancelled', async () => {
    const questions = new LimitQuestions();
    const controller = new AbortController();

    const asked = questions.ask(tokens, () => new Promise(() => undefined), controller.signal);
    now = 20;
    controller.abort();
    await asked.catch(() => undefined);
    now = 50;

    expect(questions.waited).to.equal(20);
  });
});
