import { expect } from 'chai';
import type { Usage } from '../../../src/index.js';
import { toUsage, usageElsewhere } from '../../../src/models/openai/response.js';

describe('toUsage', () => {
  const tokens = (
    inputTokens: number,
    outputTokens: number,
    totalTokens = inputTokens + outputTokens,
  ): Usage => ({
    inputTokens,
    outputTokens,
    totalTokens,
  });
  const styles: readonly (readonly [style: string, wire: unknown, usage: Usage | undefined])[] = [
    ['plain', { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }, tokens(9, 3)],
    ['no total', { prompt_tokens: 9, completion_tokens: 3 }, tokens(9, 3)],
    [
      'a total of its own',
      { prompt_tokens: 9, completion_tokens: 3, total_tokens: 20 },
      tokens(9, 3, 20),
    ],
    ['no output (embedding style)', { prompt_tokens: 9, total_tokens: 9 }, tokens(9, 0, 9)],
    [
      'counts that are zero',
      { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      tokens(0, 0),
    ],
    ['input and output tokens', { input_tokens: 9, output_tokens: 3 }, tokens(9, 3)],
    [
      'details',
      {
        prompt_tokens: 9,
        completion_tokens: 3,
        prompt_tokens_details: { cached_tokens: 8 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
      { ...tokens(9, 3), cachedInputTokens: 8, reasoningTokens: 2 },
    ],
    [
      'details that are null',
      {
        prompt_tokens: 9,
        completion_tokens: 3,
        prompt_tokens_details: null,
        completion_tokens_details: { reasoning_tokens: null },
      },
      tokens(9, 3),
    ],
    [
      'a cache hit (DeepSeek)',
      { prompt_tokens: 9, completion_tokens: 3, prompt_cache_hit_tokens: 8 },
      { ...tokens(9, 3), cachedInputTokens: 8 },
    ],
    [
      'cached tokens (Moonshot)',
      { prompt_tokens: 9, completion_tokens: 3, cached_tokens: 8 },
      { ...tokens(9, 3), cachedInputTokens: 8 },
    ],
    [
      'cache writes in the details (OpenRouter)',
      {
        prompt_tokens: 9,
        completion_tokens: 3,
        prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 6 },
      },
      { ...tokens(9, 3), cachedInputTokens: 2, cacheWriteTokens: 6 },
    ],
    [
      'cache reads and writes (Anthropic style)',
      {
        input_tokens: 9,
        output_tokens: 3,
        cache_read_input_tokens: 2,
        cache_creation_input_tokens: 6,
      },
      { ...tokens(9, 3), cachedInputTokens: 2, cacheWriteTokens: 6 },
    ],
    [
      'reasoning tokens (Perplexity)',
      { prompt_tokens: 9, completion_tokens: 3, reasoning_tokens: 2 },
      { ...tokens(9, 3), reasoningTokens: 2 },
    ],
    ['null', null, undefined],
    ['nothing', undefined, undefined],
    ['an empty object', {}, undefined],
    [
      'counts that are null',
      { prompt_tokens: null, completion_tokens: null, total_tokens: null },
      undefined,
    ],
    [
      'counts that are no numbers',
      { prompt_tokens: '9', completion_tokens: Number.NaN, total_tokens: -1 },
      undefined,
    ],
    ['a list', [1, 2], undefined],
  ];
  for (const [style, wire, usage] of styles) {
    it(`[F42] reads ${style}`, () => {
      expect(toUsage(wire)).to.deep.equal(usage);
    });
  }

  it('[F42] finds usage that Groq sends in x_groq only', () => {
    expect(
      usageElsewhere({ x_groq: { usage: { prompt_tokens: 9, completion_tokens: 3 } } }, undefined),
    ).to.deep.equal(tokens(9, 3));
  });

  it('[F42] finds usage that Moonshot sends in the choice', () => {
    expect(
      usageElsewhere({ x_groq: null }, { usage: { prompt_tokens: 9, completion_tokens: 3 } }),
    ).to.deep.equal(tokens(9, 3));
  });
});
