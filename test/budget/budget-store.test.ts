import { expect } from 'chai';
import {
  InMemoryBudgetStore,
  InvalidArgumentError,
  LimitExceededError,
  type BudgetSpent,
} from '../../src/index.js';
import { failureOf } from '../support/modes.js';

const spent = (tokens: number): BudgetSpent => ({ tokens, cost: 0, modelCalls: 1, toolCalls: 0 });

/** Runs a function with a clock that it sets. */
async function atTimes(run: (set: (now: number) => void) => Promise<void>): Promise<void> {
  const { now } = Date;
  try {
    await run((time) => (Date.now = () => time));
  } finally {
    Date.now = now;
  }
}

describe('InMemoryBudgetStore', () => {
  it('adds amounts by key', async () => {
    const store = new InMemoryBudgetStore();

    await store.add('a', spent(5), Infinity);
    await store.add('b', spent(7), Infinity);

    expect(await store.add('a', spent(1), Infinity)).to.deep.equal({
      tokens: 6,
      cost: 0,
      modelCalls: 2,
      toolCalls: 0,
    });
  });

  it('begins a window with the first amount after the end of the one before', () =>
    atTimes(async (set) => {
      const store = new InMemoryBudgetStore();
      const tokensAt = async (time: number): Promise<number> => {
        set(time);
        return (await store.add('a', spent(1), 100)).tokens;
      };

      const sums = [
        await tokensAt(0),
        await tokensAt(99),
        await tokensAt(100),
        await tokensAt(199),
      ];

      expect(sums).to.deep.equal([1, 2, 1, 2]);
    }));

  it('refuses a key beyond maxKeys, and makes room when windows end', () =>
    atTimes(async (set) => {
      set(0);
      const store = new InMemoryBudgetStore({ maxKeys: 1 });
      await store.add('a', spent(1), 100);

      const error = await failureOf(store.add('b', spent(1), 100));
      set(100);

      expect(error).to.be.instanceOf(LimitExceededError).and.include({ option: 'maxKeys' });
      expect(await store.add('b', spent(2), 100)).to.include({ tokens: 2 });
    }));

  it('checks its option', () => {
    expect(() => new InMemoryBudgetStore({ maxKeys: 0 })).to.throw(InvalidArgumentError);
  });
});
