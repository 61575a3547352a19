import { expect } from 'chai';
import {
  BudgetAdvisor,
  ChatClient,
  CompactionAdvisor,
  CONVERSATION_ID,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  priceTable,
  SummarizingChatMemory,
  type ChatMemory,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { clientOf, eager } from '../support/budget.js';
import { assistant, user } from '../support/conversation.js';
import { stateAfter } from '../support/inspected.js';
import { inConversation } from '../support/memory-advisor.js';
import { MODES, runSpec } from '../support/modes.js';
import { settle } from '../support/promises.js';
import { requestFor } from '../support/runs.js';

for (const mode of MODES)
  describe(`states for inspectors (${mode})`, () => {
    describe('MessageChatMemoryAdvisor', () => {
      const repository = () => new InMemoryChatMemoryRepository();

      it('has the view of the model, and the whole transcript', async () => {
        const chatMemory = new MessageWindowChatMemory({
          repository: repository(),
          maxMessages: 2,
        });
        const memory = new MessageChatMemoryAdvisor({ chatMemory });
        const client = ChatClient.create(new ScriptedChatModel(['1!', '2!']));
        const ask = (text: string) => inConversation(client.prompt(text).advisors(memory));

        await stateAfter(mode, ask('1?'), memory);
        const state = await stateAfter(mode, ask('2?'), memory);

        expect(state).to.deep.include({ conversationId: 'c', version: 4 });
        expect(state['view']).to.deep.equal([
          { role: 'user', content: '2?' },
          { role: 'assistant', content: '2!' },
        ]);
        const texts = (state['transcript'] as { content: string; version: number }[]).map(
          ({ content, version }) => [version, content],
        );
        expect(texts).to.deep.equal([[1, '1?'], [2, '1!'], [3, '2?'], [4, '2!']]); // prettier-ignore
      });

      it('has the messages that a summary covers', async () => {
        const model = new ScriptedChatModel(() => 'They count.');
        const store = { repository: repository(), model, maxMessages: 2 };
        const memory = new MessageChatMemoryAdvisor({
          chatMemory: new SummarizingChatMemory(store),
        });
        const client = ChatClient.create(new ScriptedChatModel(['1!', '2!', '3!']));
        for (const text of ['1?', '2?', '3?']) {
          await runSpec(mode, inConversation(client.prompt(text).advisors(memory)));
          await settle(); // a summary is made beside the turn
        }

        const request = requestFor(mode).withContext(CONVERSATION_ID, 'c');
        const { view, transcript } = await memory.inspect(request);

        expect(JSON.stringify(view)).to.include('They count.').and.not.include('1?');
        expect(JSON.stringify(transcript)).to.include('1?').and.include('They count.');
      });

      it('has no transcript of a memory that cannot show one, and nothing without a conversation', async () => {
        const inner = new MessageWindowChatMemory({ repository: repository() });
        const chatMemory: ChatMemory = {
          capabilities: inner.capabilities,
          add: (...given) => inner.add(...given),
          get: (id) => inner.get(id),
          load: (...given) => inner.load(...given),
          clear: (id) => inner.clear(id),
        };
        const memory = new MessageChatMemoryAdvisor({ chatMemory });
        const client = ChatClient.create(new ScriptedChatModel(['1!']));

        const spec = inConversation(client.prompt('1?').advisors(memory));
        const state = await stateAfter(mode, spec, memory);
        const none = await stateAfter(mode, client.prompt('1?').advisors(memory), memory);

        expect(state).to.have.all.keys('conversationId', 'version', 'view');
        expect(none).to.deep.equal({});
      });
    });

    it('BudgetAdvisor has limits, and what is spent and remains of each', async () => {
      const price = priceTable({ scripted: { input: 1_000, output: 1_000 } });
      const shared = [{ name: 'tenant', key: () => 'acme', window: 60_000, maxTokens: 1_000 }];
      const budget = new BudgetAdvisor({ maxModelCalls: 3, maxDuration: 5_000, price, shared });
      const client = clientOf(eager(100), budget);
      const spec = () => client.prompt('go');

      await stateAfter(mode, spec(), budget);
      const state = await stateAfter(mode, spec(), budget);

      expect(state['cost']).to.be.closeTo(0.3, 1e-9);
      expect(state).to.deep.include({
        onLimit: 'answer',
        limits: [
          { limit: 'model-calls', option: 'maxModelCalls', value: 3, spent: 3, remaining: 0 },
          { limit: 'duration', option: 'maxDuration', value: 5_000 },
        ],
        accounts: [
          {
            name: 'tenant',
            window: 60_000,
            limits: [
              { limit: 'tokens', option: 'tenant.maxTokens', value: 1_000, spent: 600, remaining: 400 }, // prettier-ignore
            ],
          },
        ],
      });
    });

    it('CompactionAdvisor has its limit, and the summaries of the conversation', async () => {
      const model = new ScriptedChatModel(() => 'They read.');
      const compaction = new CompactionAdvisor({ maxTokens: 1_000, model });
      const client = ChatClient.create(new ScriptedChatModel(() => 'Done.'));
      const pages = Array.from({ length: 12 }, () => [user('x'.repeat(200)), assistant('y'.repeat(400))]); // prettier-ignore
      const spec = client.prompt().messages(...pages.flat()).user('Continue.').advisors(compaction); // prettier-ignore

      const before = compaction.inspect(requestFor());
      const state = await stateAfter(mode, inConversation(spec), compaction);

      expect(before).to.deep.equal({ maxTokens: 1_000, clearTo: 0.5, summaries: [] });
      expect(state).to.include({ maxTokens: 1_000, tokensPerEstimate: 1 });
      expect(JSON.stringify(state['summaries'])).to.include('They read.');
    });
  });
