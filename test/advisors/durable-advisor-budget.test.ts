import { expect } from 'chai';
import {
  BudgetAdvisor,
  defineTool,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  ModelCallError,
  RetryAdvisor,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { durableSpec, finish } from '../support/durable.js';
import { MODES } from '../support/modes.js';

const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

for (const mode of MODES)
  describe(`a durable turn that runs again (${mode})`, () => {
    it('charges a shared budget once, for model calls and tool calls', async () => {
      const store = new InMemoryKeyValueStore();
      const shared = [{ name: 'tenant', key: () => 'acme', maxTokens: 1_000, maxToolCalls: 10 }];
      const advisors = [new BudgetAdvisor({ store, shared })];
      const tools = [defineTool({ name: 'look', effect: 'read', execute: () => 'found' })];
      const model = new ScriptedChatModel([
        { toolCalls: [{ name: 'look', id: 'c1' }], usage: USAGE },
        { text: 'Here.', usage: USAGE },
      ]);
      const engine = new InMemoryDurableEngine();
      await finish(durableSpec({ model, tools, advisors }, engine), mode);
      const spent = () => store.add('budget:["tenant","acme"]', { tokens: 0, toolCalls: 0 });
      const before = await spent();

      const again = new InMemoryDurableEngine(engine.entries());
      const { response } = await finish(durableSpec({ model, tools, advisors }, again), mode);

      expect(before).to.include({ tokens: 10, toolCalls: 1 });
      expect(await spent()).to.deep.equal(before);
      expect(response?.run?.ledger.map(({ isReplayed }) => isReplayed)).to.deep.equal([true, true]);
    });

    it('does not wait again before a retry', async () => {
      const advisors = [new RetryAdvisor({ firstDelay: 1 })];
      const busy = new ModelCallError('busy', { status: 503, retryable: true });
      const engine = new InMemoryDurableEngine();
      const model = new ScriptedChatModel([busy, 'ok']);
      await finish(durableSpec({ model, advisors }, engine), mode);

      expect(engine.entries().map(([name]) => name)).to.deep.equal([
        'model 0',
        'wait 0',
        'model 0 #2',
      ]);
    });
  });
