import { expect } from 'chai';
import { applyOverrides, rebuilt } from '../../../src/bridges/inspector/changed-advisors.js';
import { Inspector } from '../../../src/bridges/inspector/inspector.js';
import * as chain from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { SECRET } from '../../support/paused-turns.js';

const store = new chain.InMemoryKeyValueStore();
const model = new ScriptedChatModel('x');
const repository = new chain.InMemoryChatMemoryRepository();
const scope = (): string => 'x';
const retriever = { retrieve: async () => [] };

/** Advisors of the package with options that are not the default, in one chain. */
const advisors = (): readonly chain.Advisor[] => [
  new chain.ApprovalAdvisor({ pause: { secrets: SECRET, store }, timeout: 5_000, order: 4_900 }),
  new chain.BudgetAdvisor({ maxTokens: 1_000 }),
  new chain.CompactionAdvisor({ maxTokens: 1_000 }),
  new chain.ConversationLockAdvisor({ onBusy: 'reject', order: 1_600 }),
  new chain.DefaultsAdvisor({ options: { temperature: 1 } }),
  new chain.FallbackAdvisor({ models: [model] }),
  new chain.GuardAdvisor({ input: [{ rules: chain.wordRule({ words: ['x'] }), action: 'block' }] }),
  new chain.LoggerAdvisor({ logger: console }),
  new chain.MessageChatMemoryAdvisor({ chatMemory: new chain.MessageWindowChatMemory({ repository }), order: 3_100 }), // prettier-ignore
  new chain.ObservabilityAdvisor(),
  new chain.PromptCacheAdvisor({ minTokens: 10 }),
  new chain.RateLimitAdvisor({ requestsPerMinute: 1 }),
  new chain.ReReadingAdvisor({ name: 'read-again' }),
  new chain.ResponseCacheAdvisor({ scope }),
  new chain.RetrievalAdvisor({ retriever, scope }),
  new chain.RetryAdvisor({ maxRetries: 1 }),
  new chain.SafeGuardAdvisor({ sensitiveWords: ['x'] }),
  new chain.SimulatedStreamingAdvisor(),
  new chain.SteeringAdvisor({ inbox: new chain.SteeringInbox() }),
  new chain.StructuredOutputAdvisor({ maxRepeats: 1 }),
  new chain.TimeoutAdvisor({ iteration: 1_000 }),
  new chain.ToolCacheAdvisor({ scope }),
  new chain.ToolCallingAdvisor({ noProgress: false, order: 5_010 }),
  new chain.ToolLedgerAdvisor({ store }),
  new chain.ToolSearchAdvisor({ toolIndex: new chain.KeywordToolIndex(), maxResults: 3 }),
];

describe('an advisor that the page of an inspector changes', () => {
  for (const advisor of advisors())
    it(`is made again by its constructor with its own options: ${advisor.name}`, () => {
      const { options } = advisor as unknown as { readonly options: object };

      const again = rebuilt(advisor, { order: advisor.order + 1 });

      expect(again).to.be.instanceOf(advisor.constructor).and.not.equal(advisor);
      expect(again).to.include({ name: advisor.name, order: advisor.order + 1 });
      expect((again as unknown as { readonly options: object }).options).to.include({ ...options, ...('order' in options && { order: advisor.order + 1 }) }); // prettier-ignore
      expect(again.parts?.map(({ name }) => name)).to.deep.equal(advisor.parts?.map(({ name }) => name)); // prettier-ignore
    });

  it('keeps its place if its options do not name it', () => {
    const search = new chain.ToolSearchAdvisor({ toolIndex: new chain.KeywordToolIndex(), order: 4_100 }); // prettier-ignore
    const inspector = new Inspector();
    const spec = chain.ChatClient.builder(model).defaultAdvisors(search, inspector).build().prompt('Q'); // prettier-ignore

    const changed = applyOverrides(
      spec,
      [{ name: 'tool-search', options: { maxResults: 2 } }],
      inspector,
    );

    const [made] = changed.settings.advisors;
    expect(made).to.be.instanceOf(chain.ToolSearchAdvisor).and.include({ order: 4_100 });
    expect(spec.settings.advisors[0]).to.equal(search);
  });

  it('has no secret of an approval among its fields', () => {
    const approval = new chain.ApprovalAdvisor({ pause: { secrets: SECRET, store } });
    expect(Object.keys(approval)).not.to.include('options');
  });
});
