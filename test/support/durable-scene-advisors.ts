import {
  ApprovalAdvisor,
  BudgetAdvisor,
  CompactionAdvisor,
  DefaultsAdvisor,
  GuardAdvisor,
  KeywordToolIndex,
  PromptCacheAdvisor,
  RateLimitAdvisor,
  ReasoningExtractor,
  ReReadingAdvisor,
  RetrievalAdvisor,
  SafeGuardAdvisor,
  SimulatedStreamingAdvisor,
  ToolCacheAdvisor,
  ToolSearchAdvisor,
  wordRule,
  type Advisor,
  type KeyValueStore,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';

/** Parts of the world that the processes of a turn share. */
export interface World {
  readonly store: KeyValueStore;
}

const words = wordRule({ words: ['end', 'found', 'Saved', 'go'] });
const summarizer = new ScriptedChatModel(() => ({ text: 'A summary.' }), { model: 'small' });

/** Advisors of the library, with options by which they change requests, answers and results. */
export const LIBRARY = {
  approval: () => new ApprovalAdvisor({ policy: () => 'allow' }),
  budget: ({ store }) =>
    new BudgetAdvisor({
      maxTokens: 40,
      maxToolCalls: 5,
      shared: [{ name: 'all', key: () => 'all', maxTokens: 90 }],
      store,
    }),
  compaction: () => new CompactionAdvisor({ maxTokens: 600, clearTo: 0.2, keepIterations: 1 }),
  summaries: () =>
    new CompactionAdvisor({
      name: 'summaries',
      maxTokens: 300,
      keepIterations: 1,
      model: summarizer,
    }),
  offload: ({ store }) =>
    new CompactionAdvisor({
      name: 'offload',
      maxTokens: 1_500,
      offload: { store, over: 2_000 },
      keepIterations: 1,
    }),
  defaults: () => new DefaultsAdvisor({ options: { seed: 1 }, system: 'Answer in English.' }),
  guards: () =>
    new GuardAdvisor({
      input: [{ rules: words, action: 'redact' }],
      output: [{ rules: words, action: 'redact' }],
      toolResults: [{ rules: words, action: 'redact' }],
    }),
  'guard that blocks': () =>
    new GuardAdvisor({ name: 'blocks', output: [{ rules: words, action: 'block' }] }),
  'guard with retry': () =>
    new GuardAdvisor({ name: 'throws', output: [{ rules: words, action: 'throw' }] }),
  'prompt cache': () => new PromptCacheAdvisor({ minTokens: 0 }),
  'rate limit': ({ store }) =>
    new RateLimitAdvisor({ requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000, store }),
  reasoning: () => new ReasoningExtractor({ delimiters: [['Let', 'me']] }),
  'reads again': () => new ReReadingAdvisor(),
  retrieval: () =>
    new RetrievalAdvisor({
      retriever: { retrieve: async () => [{ id: 'a', text: 'It was found.' }] },
      scope: () => 'all',
    }),
  'safe guard': () => new SafeGuardAdvisor({ sensitiveWords: ['bomb'] }),
  'simulated streaming': () => new SimulatedStreamingAdvisor(),
  'tool cache': ({ store }) => new ToolCacheAdvisor({ scope: () => 'all', store }),
  'tool search': () => new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() }),
} as const satisfies Record<string, (world: World) => Advisor>;

export const NAMES = Object.keys(LIBRARY) as readonly (keyof typeof LIBRARY)[];
