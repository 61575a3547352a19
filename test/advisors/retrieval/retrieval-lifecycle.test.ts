import { expect } from 'chai';
import {
  ApprovalAdvisor,
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  RetrievalAdvisor,
  textOf,
  type ChatEvent,
  type Source,
} from '../../../src/index.js';
import { toSources } from '../../../advisors/retrieval/source.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { approveAll } from '../../../src/testing/approve-all.js';
import { MODES, runSpec } from '../../support/modes.js';
import { pauseOptions } from '../../support/paused-turns.js';
import { REFUNDS, WordRetriever } from '../../support/word-retriever.js';

const QUESTION = 'How long does a refund take?';
const [refunds] = toSources([REFUNDS]) as [Source];
const ANSWER = `It takes 14 days [${refunds.key}].`;

describe('RetrievalAdvisor, pauses and streams', () => {
  for (const mode of MODES)
    it(`${mode}: searches nothing again when a paused turn is resumed, and the memory has the question alone`, async () => {
      const repository = new InMemoryChatMemoryRepository();
      const chatMemory = new MessageWindowChatMemory({ repository });
      const retriever = new WordRetriever({ shop: [REFUNDS] });
      const model = new ScriptedChatModel([
        { toolCalls: [{ name: 'pay', id: 'c1', arguments: {} }] },
        ANSWER,
      ]);
      const pay = defineTool({ name: 'pay', effect: 'write', execute: () => 'paid' });
      const client = ChatClient.builder(model)
        .defaultTools(pay)
        .defaultAdvisors(
          new MessageChatMemoryAdvisor({ chatMemory }),
          new RetrievalAdvisor({ retriever, scope: () => 'shop' }),
          new ApprovalAdvisor({ policy: () => 'ask', pause: pauseOptions() }),
          (a) => a.param(CONVERSATION_ID, 'anna'),
        )
        .build();

      const { paused } = await runSpec(mode, client.prompt(QUESTION));
      if (!paused) throw new Error('the turn did not pause');
      const response = await runSpec(mode, client.resume(paused.state, approveAll(paused)));

      expect(response.text).to.equal(ANSWER);
      expect(response.citations.map(({ document }) => document?.id)).to.deep.equal(['handbook#3']);
      expect(retriever.queries).to.have.length(1);
      const sent = model.prompts[1]?.messages.map((message) => textOf(message)) ?? [];
      expect(sent.filter((text) => text.includes('A refund takes'))).to.have.length(1);
      const { messages } = await repository.read('anna');
      const texts = messages.map(({ message }) => textOf(message));
      expect(texts[0]).to.equal(QUESTION);
      expect(texts.at(-1)).to.equal(ANSWER);
      expect(texts.join('\n')).not.to.include('A refund takes');
    });

  it('shows its citations in a stream after the text, which has no retraction', async () => {
    const retriever = new WordRetriever({ shop: [REFUNDS] });
    const events: ChatEvent[] = [];

    await new Promise<void>((resolve, reject) => {
      ChatClient.create(new ScriptedChatModel([ANSWER]))
        .prompt(QUESTION)
        .advisors(new RetrievalAdvisor({ retriever, scope: () => 'shop' }))
        .stream()
        .events()
        .subscribe({ next: (event) => events.push(event), complete: resolve, error: reject });
    });

    const types = events.map(({ type }) => type);
    const text = events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
    expect(text).to.equal(ANSWER);
    expect(types).not.to.include('retract');
    expect(types.slice(-2)).to.deep.equal(['citation', 'response']);
  });
});
