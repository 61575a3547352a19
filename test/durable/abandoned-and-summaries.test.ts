import { expect } from 'chai';
import {
  ChatClient,
  CONVERSATION_ID,
  DurableAdvisor,
  FallbackAdvisor,
  InMemoryChatMemoryRepository,
  InMemoryDurableEngine,
  MessageChatMemoryAdvisor,
  SummarizingChatMemory,
  TimeoutAdvisor,
  type ChatModel,
  type DurableEngine,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { finish, KilledEngine } from '../support/durable.js';
import { MODES } from '../support/modes.js';

/** Answers when its delay is over: never, for these tests. */
const silent = (): ScriptedChatModel =>
  new ScriptedChatModel(() => ({ text: 'Slow.', delay: 3_600_000 }), { model: 'slow' });

for (const mode of MODES)
  describe(`a durable turn (${mode})`, () => {
    it('does not ask a model again that a time limit gave up', async () => {
      const play = async (engine: DurableEngine, slow: ChatModel, fast: ChatModel) => {
        const advisors = [
          new FallbackAdvisor({ models: [fast] }),
          new TimeoutAdvisor({ iteration: 20 }),
          new DurableAdvisor({ engine }),
        ];
        const client = ChatClient.builder(slow).defaultAdvisors(...advisors);
        return finish(client.build().prompt('Hi.').turnId('t'), mode);
      };
      const first = new InMemoryDurableEngine();
      const whole = await play(first, silent(), new ScriptedChatModel(['Fast.']));
      const again = [silent(), new ScriptedChatModel([])] as const;

      const replayed = await play(new InMemoryDurableEngine(first.entries()), ...again);

      expect(whole.error ?? whole.response?.text).to.equal('Fast.');
      expect(replayed.error ?? replayed.response?.text).to.equal('Fast.');
      expect(again.flatMap(({ prompts }) => prompts)).to.have.length(0);
      expect(first.entries().map(([name]) => name)).to.deep.equal(['model 0', 'model 0 #2']);
    });

    it('summarizes its conversation once, and has the summary in its ledger again', async () => {
      const repository = new InMemoryChatMemoryRepository();
      const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
      const summarizer = new ScriptedChatModel(() => ({ text: 'They greeted.', usage }));
      const play = async (engine: DurableEngine) => {
        const chatMemory = new SummarizingChatMemory({
          repository,
          model: summarizer,
          maxMessages: 2,
        });
        const client = ChatClient.builder(new ScriptedChatModel(() => ({ text: 'Hi.', usage })))
          .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory }))
          .defaultAdvisors(new DurableAdvisor({ engine }))
          .build();
        const spec = client.prompt('Hello.').turnId(`turn`);
        return finish(
          spec.advisors((a) => a.param(CONVERSATION_ID, 'c')),
          mode,
        );
      };
      await repository.append('c', [{ role: 'user', content: 'One.' }]);
      await repository.append('c', [{ role: 'user', content: 'Two.' }]);
      const first = new KilledEngine([]);
      const whole = await play(first);
      const { messages } = await repository.read('c');

      const again = await play(new KilledEngine(first.inner.entries()));

      expect(again.error).to.equal(undefined);
      expect(summarizer.prompts).to.have.length(1);
      expect((await repository.read('c')).messages).to.deep.equal(messages);
      const kindsOf = ({ response }: typeof whole): unknown =>
        response?.run?.ledger.map(({ kind, usage: used }) => [kind, used?.totalTokens]);
      expect(kindsOf(again)).to.deep.equal(kindsOf(whole));
      expect(kindsOf(whole)).to.have.length(2);
    });
  });
