import { expect } from 'chai';
import { addUsage } from '../../../src/core/chat/chat-response.js';

const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };

describe('addUsage', () => {
  it('[D30] [TCA-62] sums the counts of both', () => {
    const more = {
      inputTokens: 10,
      outputTokens: 20,
      totalTokens: 30,
      cachedInputTokens: 5,
      cacheWriteTokens: 7,
      reasoningTokens: 6,
    };

    expect(addUsage({ ...usage, cachedInputTokens: 1, reasoningTokens: 2 }, more)).to.deep.equal({
      inputTokens: 11,
      outputTokens: 22,
      totalTokens: 33,
      cachedInputTokens: 6,
      cacheWriteTokens: 7,
      reasoningTokens: 8,
    });
  });

  it('[F42] [TCA-63] [TCA-64] omits counts that neither reports, and treats a missing count as zero', () => {
    expect(addUsage(usage, usage)).to.deep.equal({
      inputTokens: 2,
      outputTokens: 4,
      totalTokens: 6,
    });
    expect(addUsage(usage, { ...usage, cachedInputTokens: 4 })).to.deep.include({
      cachedInputTokens: 4,
    });
  });

  it('[TCA-59] [TCA-61] [TCA-65] returns the other one if one is undefined', () => {
    expect(addUsage(undefined, usage)).to.equal(usage);
    expect(addUsage(usage, undefined)).to.equal(usage);
    expect(addUsage(undefined, undefined)).to.equal(undefined);
  });
});
