import { expect } from 'chai';
import { InvalidArgumentError, priceTable, type ModelCallRecord } from '../../../src/index.js';

const call = (
  model: string | undefined,
  usage: ModelCallRecord['usage'] = {
    inputTokens: 1_000_000,
    outputTokens: 0,
    totalTokens: 1_000_000,
  },
): ModelCallRecord => ({
  kind: 'chat',
  model,
  iteration: 0,
  attempt: 1,
  usage,
  outcome: 'answered',
});

describe('priceTable', () => {
  it('multiplies input, output and cached input by their prices per million tokens', () => {
    const price = priceTable({ m: { input: 2, output: 10, cachedInput: 0.5, cacheWrite: 4 } });

    const cost = price(
      call('m', {
        inputTokens: 3_000_000,
        outputTokens: 100_000,
        totalTokens: 3_100_000,
        cachedInputTokens: 1_000_000,
        cacheWriteTokens: 500_000,
      }),
    );

    expect(cost).to.equal(1.5 * 2 + 1 * 0.5 + 0.5 * 4 + 0.1 * 10);
  });

  it('takes the price of input for what the cache has read or written, if there is no other', () => {
    const usage = {
      inputTokens: 1_000_000,
      outputTokens: 0,
      totalTokens: 1_000_000,
      cachedInputTokens: 400_000,
      cacheWriteTokens: 100_000,
    };

    expect(priceTable({ m: { input: 3 } })(call('m', usage))).to.be.closeTo(3, 1e-9);
  });

  it('takes the longest name that the name of the model begins with', () => {
    const price = priceTable({ 'big': { input: 1 }, 'big-mini': { input: 2 }, '': { input: 9 } }); // prettier-ignore

    const costs = ['big', 'big-2026-01-01', 'big-mini-2', 'other', undefined].map((model) =>
      price(call(model)),
    );

    expect(costs).to.deep.equal([1, 1, 2, 9, 9]);
  });

  it('throws for a model without a price', () => {
    const price = priceTable({ big: { input: 1 } });

    expect(() => price(call('small'))).to.throw(InvalidArgumentError, '"small"; add it');
  });

  it('makes a call without usage cost nothing', () => {
    const failed = { ...call('other'), usage: undefined };

    expect(priceTable({ big: { input: 1 } })(failed)).to.equal(0);
  });

  it('checks the prices', () => {
    expect(() => priceTable({})).to.throw(InvalidArgumentError);
    expect(() => priceTable({ m: { input: -1 } })).to.throw(InvalidArgumentError, 'm.input');
    expect(() => priceTable({ m: { input: 1, output: NaN } })).to.throw(InvalidArgumentError, 'm.output'); // prettier-ignore
  });
});
