import { expect } from 'chai';
import {
  ChatClient,
  CONVERSATION_ID,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  SummarizingChatMemory,
} from '../../../src/index.js';
import { isSummary } from '../../../src/stores/chat-memory/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';

describe('isSummary', () => {
  it('[D72] distinguishes a summary from a message of the user', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const model = new ScriptedChatModel(() => 'answer');
    const chatMemory = new SummarizingChatMemory({ repository, model, maxMessages: 4 });
    const client = ChatClient.builder(model)
      .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory }))
      .build();
    for (const text of ['one', 'two', 'three']) {
      const { run } = await client
        .prompt(text)
        .advisors((each) => each.param(CONVERSATION_ID, 'c'))
        .call()
        .chatClientResponse();
      await run?.settled;
    }
    const { messages } = await repository.read('c');

    const users = messages.flatMap(({ message }) =>
      message.role === 'user' && !isSummary(message) ? [message.content] : [],
    );

    expect(users).to.deep.equal(['one', 'two', 'three']);
    expect(messages.filter(({ message }) => isSummary(message))).to.have.length(1);
    expect(
      isSummary({ role: 'user', content: 'x', metadata: { 'advisor-chain.summary': true } }),
    ).to.equal(true);
    expect(isSummary({ role: 'assistant', content: 'x' })).to.equal(false);
  });
});
