import { expect } from 'chai';
import * as advisors from '../../../advisors/index.js';
import { AdvisorOrder, type Advisor } from '../../../src/core/advisor/advisor.js';
import { explainChain } from '../../../src/core/advisor/explain.js';
import { InMemoryKeyValueStore } from '../../../src/stores/key-value/in-memory-key-value-store.js';
import { InMemoryChatMemoryRepository } from '../../../src/stores/chat-memory/in-memory-chat-memory-repository.js';
import { MessageWindowChatMemory } from '../../../src/stores/chat-memory/message-window-chat-memory.js';
import { SteeringInbox } from '../../../advisors/steering/steering-inbox.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { KeywordToolIndex } from '../../../src/stores/tool-indexes/keyword-tool-index.js';

const { GUARD, MEMORY, RETRIEVAL, TOOL_CALLING, RESILIENCE, LOGGER } = AdvisorOrder;
const LEFT_OF_MEMORY = MEMORY - 100;
const RIGHT_OF_MEMORY = MEMORY + 100;
const LEFT_OF_LOOP = RETRIEVAL;
const INSIDE_LOOP = TOOL_CALLING + 50;
const NEXT_TO_MODEL = LOGGER + 900;

const model = new ScriptedChatModel([]);
const chatMemory = new MessageWindowChatMemory({ repository: new InMemoryChatMemoryRepository() });
const store = new InMemoryKeyValueStore();
const policies = [{ rules: { name: 'none', check: () => ({ flagged: false }) }, action: 'block' }] as const; // prettier-ignore

type At = (order?: number) => Advisor;
const lock: At = (order) => new advisors.ConversationLockAdvisor({ order });
const guardOfInput: At = (order) => new advisors.GuardAdvisor({ input: policies, order });
const guardOfOutput: At = (outputOrder) =>
  new advisors.GuardAdvisor({ output: policies, outputOrder });
const words: At = (order) => new advisors.SafeGuardAdvisor({ sensitiveWords: ['x'], order });
const search: At = (order) =>
  new advisors.ToolSearchAdvisor({ toolIndex: new KeywordToolIndex(), order });
const selector: At = (order) => new advisors.ToolSelectorAdvisor({ model, order });
const router: At = (order) =>
  advisors.modelRouter({ models: { a: model }, choose: () => 'a', order });
const documents: At = (order) =>
  new advisors.RetrievalAdvisor({
    retriever: { retrieve: async () => [] },
    scope: () => 'x',
    order,
  });
const reReading: At = (order) => new advisors.ReReadingAdvisor({ order });
const steering: At = (order) => new advisors.SteeringAdvisor({ inbox: new SteeringInbox(), order });
const compaction: At = (order) => new advisors.CompactionAdvisor({ maxTokens: 1_000, order });
const structured: At = (order) => new advisors.StructuredOutputAdvisor({ order });
const fallback: At = (order) => new advisors.FallbackAdvisor({ models: [model], order });
const cache: At = (order) => new advisors.ResponseCacheAdvisor({ scope: () => 'x', order });
const retry: At = (order) => new advisors.RetryAdvisor({ order });
const rateLimit: At = (order) => new advisors.RateLimitAdvisor({ requestsPerMinute: 1, order });
const budget: At = (order) => new advisors.BudgetAdvisor({ maxTokens: 1, order });
const timeout: At = (order) => new advisors.TimeoutAdvisor({ iteration: 1, order });
const turnTimeout: At = (order) => new advisors.TimeoutAdvisor({ turn: 1, order });
const promptCache: At = (order) => new advisors.PromptCacheAdvisor({ order });
const extractor: At = (order) => new advisors.ReasoningExtractor({ order });
const ledger: At = (order) => new advisors.ToolLedgerAdvisor({ store, order });
const dryRun: At = (order) => advisors.dryRun({ order });

const loop = new advisors.ToolCallingAdvisor();
const memory = new advisors.MessageChatMemoryAdvisor({ chatMemory });
const warningsOf = (...chain: readonly Advisor[]): readonly string[] =>
  explainChain([memory, loop, ...chain]).warnings;

const retrieval: At = () => ({
  name: 'retrieval',
  order: RETRIEVAL,
  traits: ['retrieves'],
  before: () => undefined,
});

/** Advisors with a side on which they must stand, others that they stand beside, and a part of the warning. */
const WRONG: readonly (readonly [string, At, number, string, ...At[]])[] = [
  ['ConversationLockAdvisor right of the memory', lock, RIGHT_OF_MEMORY, 'before it has the lock'],
  ['ConversationLockAdvisor inside the loop', lock, INSIDE_LOOP, 'before it has the lock'],
  ['GuardAdvisor of questions right of the memory', guardOfInput, RIGHT_OF_MEMORY, 'stores what the guard refuses'], // prettier-ignore
  ['GuardAdvisor of answers left of the loop', guardOfOutput, LEFT_OF_LOOP, 'left of the tool loop'], // prettier-ignore
  ['SafeGuardAdvisor right of the memory', words, RIGHT_OF_MEMORY, 'stores what the guard refuses'],
  ['ToolSearchAdvisor inside the loop', search, INSIDE_LOOP, 'is not left of a tool loop'],
  ['ToolSelectorAdvisor inside the loop', selector, INSIDE_LOOP, 'once per model call'],
  ['ToolSelectorAdvisor beside a search', selector, LEFT_OF_LOOP, 'beside a tool search', search],
  ['ModelRouterAdvisor right of a fallback', router, RESILIENCE, 'are not asked', fallback],
  ['ReReadingAdvisor left of the memory', reReading, LEFT_OF_MEMORY, 'stores it rewritten'],
  [
    'RetrievalAdvisor left of the memory',
    documents,
    LEFT_OF_MEMORY,
    'stores them with the question',
  ],
  ['RetrievalAdvisor inside the loop', documents, INSIDE_LOOP, 'once per model call'],
  ['SteeringAdvisor left of the loop', steering, LEFT_OF_LOOP, 'wait for the end of the turn'],
  ['CompactionAdvisor left of the loop', compaction, LEFT_OF_LOOP, 'retries left of the tool loop'],
  ['StructuredOutputAdvisor left of the loop', structured, LEFT_OF_LOOP, 'finished tools run again'], // prettier-ignore
  ['FallbackAdvisor left of the loop', fallback, LEFT_OF_LOOP, 'finished tools run again'],
  ['ResponseCacheAdvisor left of the memory', cache, LEFT_OF_MEMORY, 'is not in its key'],
  ['ResponseCacheAdvisor inside the loop', cache, INSIDE_LOOP, 'keeps no answer after a tool'],
  ['ResponseCacheAdvisor left of a retriever', cache, RETRIEVAL - 1, 'documents are not in its key', retrieval], // prettier-ignore
  ['ResponseCacheAdvisor left of a router', cache, RETRIEVAL, 'choice of a model', router],
  ['RetryAdvisor left of the loop', retry, LEFT_OF_LOOP, 'finished tools run again'],
  ['RateLimitAdvisor left of the loop', rateLimit, LEFT_OF_LOOP, 'limits the whole turn'],
  ['RateLimitAdvisor left of a retry', rateLimit, RESILIENCE - 1, 'repeats them unseen', retry],
  ['RateLimitAdvisor right of a timeout', rateLimit, LOGGER, 'timer keeps running', timeout],
  ['BudgetAdvisor right of a timeout', budget, LOGGER, 'timer keeps running', timeout],
  ['BudgetAdvisor left of the loop', budget, LEFT_OF_LOOP, 'limits the whole turn'],
  ['BudgetAdvisor left of a retry', budget, RESILIENCE - 1, 'repeats them unseen', retry],
  ['TimeoutAdvisor of model calls left of the loop', timeout, LEFT_OF_LOOP, 'limits the whole turn'], // prettier-ignore
  ['TimeoutAdvisor of turns inside the loop', turnTimeout, INSIDE_LOOP, 'has the time of a turn'],
  ['PromptCacheAdvisor left of the loop', promptCache, LEFT_OF_LOOP, 'sees one of each turn'],
  ['ReasoningExtractor left of the loop', extractor, LEFT_OF_LOOP, 'left of the tool loop'],
  ['dryRun inside a ledger', dryRun, NEXT_TO_MODEL, 'gets the simulated results', ledger],
];

const durable: At = (order) => new advisors.DurableAdvisor({ engine: () => undefined, order });

describe('explain() of a durable turn', () => {
  for (const [other, part] of [
    [retrieval, 'retrieves documents in a durable turn'],
    [lock, 'locks the conversation in a durable turn'],
    [turnTimeout, 'limits the time of a durable turn'],
  ] as const)
    it(`warns of ${other().name}: it ${part}`, () => {
      expect(warningsOf(other())).to.deep.equal([]);
      expect(warningsOf(other(), durable())).to.have.length(1);
      expect(warningsOf(other(), durable())[0]).to.include(part);
    });

  it('does not warn of a RetrievalAdvisor, which records what it finds', () => {
    expect(warningsOf(documents(), durable())).to.deep.equal([]);
  });

  it('warns of two recorders', () => {
    const second = new advisors.DurableAdvisor({ engine: () => undefined, name: 'second' });

    expect(warningsOf(durable(), second)[0]).to.include('both record the turn');
  });

  it('warns of a ledger whose answers are not recorded', () => {
    expect(warningsOf(ledger(), durable())).to.deep.equal([]);
    expect(warningsOf(ledger(), durable(NEXT_TO_MODEL))[0]).to.include('does not record what it');
  });

  it('knows that its turns are recorded', () => {
    expect([
      explainChain([loop, durable()]).isDurable,
      explainChain([loop]).isDurable,
    ]).to.deep.equal([true, false]);
  });
});

describe('explain() of built-in advisors', () => {
  for (const [what, at, order, part, ...others] of WRONG)
    it(`warns of ${what}, and not of the default orders`, () => {
      const beside = others.map((other) => other());

      const warnings = warningsOf(...beside, at(order));

      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.include(part);
      if (at !== selector) expect(warningsOf(...beside, at())).to.deep.equal([]);
    });

  it('warns of nothing in a chain of all of them at their default orders', () => {
    const all = [lock, guardOfInput, words, search, router, reReading, steering, compaction, structured, fallback, cache, retry, rateLimit, budget, timeout, turnTimeout, promptCache, extractor, ledger, dryRun]; // prettier-ignore
    const more = [
      new advisors.ObservabilityAdvisor(),
      new advisors.LoggerAdvisor(),
      new advisors.SimulatedStreamingAdvisor(),
      new advisors.ToolCacheAdvisor({ scope: () => 'x' }),
      new advisors.GuardAdvisor({ name: 'answers', output: policies, order: GUARD }),
    ];

    expect(warningsOf(...all.map((at) => at()), ...more)).to.deep.equal([]);
  });
});
