import { expect } from 'chai';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  SteeringAdvisor,
  SteeringInbox,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { INSIDE, inConversation, storedTexts } from '../../support/memory-advisor.js';
import { MODES, runSpec } from '../../support/modes.js';
import { decideAll, SECRET } from '../../support/paused-turns.js';

describe('a message of the user in a resumed turn', () => {
  for (const mode of MODES)
    it(`is stored after the results, without the question again, inside the loop (${mode})`, async () => {
      const inbox = new SteeringInbox();
      const repository = new InMemoryChatMemoryRepository();
      const model = new ScriptedChatModel(({ messages }) => {
        if (!messages.some(({ role }) => role === 'tool'))
          return { toolCalls: [{ id: 'a', name: 'pay' }] };
        if (messages.at(-1)?.role === 'tool') void inbox.send('By train.');
        return 'Paid.';
      });
      const chatMemory = new MessageWindowChatMemory({ repository });
      const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
      const client = ChatClient.builder(model)
        .defaultTools(defineTool({ name: 'pay', effect: 'write', execute: () => 'paid' }))
        .defaultAdvisors(
          new SteeringAdvisor({ inbox }),
          new ApprovalAdvisor({ pause }),
          new MessageChatMemoryAdvisor({ chatMemory, order: INSIDE }),
        )
        .build();
      const response = await runSpec(mode, inConversation(client.prompt('Pay.')));
      const { state = '' } = response.paused ?? {};

      await runSpec(mode, inConversation(client.resume(state, decideAll(response))));

      const stored = await storedTexts(repository);
      expect(stored).to.deep.equal(['Pay.', '>a', '<a', 'By train.', 'Paid.']);
    });
});
