import type {
  InspectedAdvisor,
  InspectedChain,
} from '../../src/bridges/inspector/inspected-turn.js';

const advisor = (
  name: string,
  order: number,
  place: InspectedAdvisor['place'],
  more: Partial<InspectedAdvisor> = {},
): InspectedAdvisor => ({
  name,
  order,
  place,
  aroundToolCalls: place === 'tool',
  traits: [],
  options: {},
  warnings: [],
  ...more,
});

/** A chain with advisors in all places, one of them with a warning. */
export const CHAIN: InspectedChain = {
  advisors: [
    advisor('inspector', 100, 'turn', { options: { maxTurns: 500, maxBytes: 50_000_000 } }),
    advisor('observability', 1_000, 'turn', { options: { content: false } }),
    advisor('guard', 2_000, 'turn', {
      traits: ['guards-input', 'guards-output'],
      options: { rules: ['pii', 'secrets'], onFinding: 'mask', apiKey: '[hidden]' },
    }),
    advisor('chat-memory', 3_000, 'turn', {
      role: 'memory',
      options: { chatMemory: { maxMessages: 20, repository: 'InMemoryChatMemoryRepository' } },
    }),
    advisor('tool-search', 4_000, 'turn', {
      options: { maxResults: 5, index: 'KeywordToolIndex' },
    }),
    advisor('tool-calling', 5_000, 'loop', {
      role: 'tool-loop',
      options: { maxIterations: 25, maxCallsPerTool: 40 },
    }),
    advisor('compaction', 5_500, 'iteration', {
      traits: ['rewrites-transcript'],
      options: { maxTokens: 8_000 },
    }),
    advisor('retry', 7_000, 'iteration', {
      traits: ['retries'],
      options: { maxAttempts: 3, minDelay: 500 },
      warnings: [
        '"retry" stands inside of the loop: a wait of 3 attempts counts for each iteration.',
      ],
    }),
    advisor('prompt-cache', 7_800, 'iteration'),
    advisor('logger', 8_000, 'iteration', { options: { level: 'debug' } }),
    advisor('approval', 8_100, 'tool', { options: { effects: ['write'] } }),
    advisor('tool-ledger', 8_400, 'tool', { traits: ['records-tool-calls'] }),
  ],
  model: { name: 'gpt-5-mini', provider: 'openai' },
  options: { temperature: 0.2, maxTokens: 800 },
  tools: [
    { name: 'get_weather', isDeferred: false },
    { name: 'find_trains', isDeferred: false },
    { name: 'book_hotel', isDeferred: true },
  ],
  warnings: ['"retry" stands inside of the loop: a wait of 3 attempts counts for each iteration.'],
};
