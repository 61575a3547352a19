import { expect } from 'chai';
import {
  agentTool,
  ChatClient,
  CONVERSATION_ID,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  SteeringAdvisor,
  SteeringInbox,
} from '../../../src/index.js';
import { SqliteChatMemoryRepository } from '../../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { storedTexts } from '../../support/memory-advisor.js';
import { MODES, runSpec } from '../../support/modes.js';
import { useWireModel } from '../../support/wire-model.js';
import {
  beginEvents,
  chunk,
  completion,
  sendEvent,
  sendJson,
  sendText,
  whenClosed,
  type Exchange,
} from '../../support/wire-server.js';

describe('SteeringAdvisor over HTTP', () => {
  const wire = useWireModel();

  for (const mode of MODES) {
    const answer = (exchange: Exchange, text: string): void => {
      if (mode === 'stream') sendText(exchange, text);
      else sendJson(exchange, completion(text));
    };

    it(`${mode}: an interruption closes the connection, and the next request has the message`, async () => {
      wire.answer = (exchange) => {
        if (exchange.index > 0) return answer(exchange, 'Short.');
        if (mode === 'call') return undefined; // the model thinks
        beginEvents(exchange);
        return sendEvent(exchange, chunk({ role: 'assistant', content: 'Once upon a time' }));
      };
      const inbox = new SteeringInbox();
      const repository = await SqliteChatMemoryRepository.open(':memory:');
      const chatMemory = new MessageWindowChatMemory({ repository });
      const spec = ChatClient.create(wire.model)
        .prompt('A story, please.')
        .advisors(
          new MessageChatMemoryAdvisor({ chatMemory }),
          new SteeringAdvisor({ inbox }),
          (a) => a.param(CONVERSATION_ID, 'c'),
        );
      const turn = runSpec(mode, spec);
      const first = await wire.server.nextExchange(1);

      const outcome = inbox.send('A short one.', { mode: 'interrupt' });
      await whenClosed(first.socket, 0);
      const response = await turn;

      expect(response.text).to.equal('Short.');
      expect(await outcome).to.deep.equal({ status: 'delivered', iteration: 0 });
      expect(wire.server.exchanges[1]?.body).to.deep.include({
        messages: [
          { role: 'user', content: 'A story, please.' },
          { role: 'user', content: 'A short one.' },
        ],
      });
      expect(await storedTexts(repository)).to.deep.equal([
        'A story, please.',
        'A short one.',
        'Short.',
      ]);
      await repository.close();
    });

    it(`${mode}: an interruption ends the turn of an agent that runs as a tool`, async () => {
      wire.answer = () => undefined; // the agent thinks
      const inbox = new SteeringInbox();
      const agent = agentTool(ChatClient.create(wire.model), {
        name: 'research',
        description: 'Finds out what is known.',
      });
      const model = new ScriptedChatModel([
        { toolCalls: [{ name: 'research', arguments: { message: 'Rain?' } }] },
        'Never mind.',
      ]);
      const spec = ChatClient.create(model).prompt('Why does it rain?').tools(agent);
      const turn = runSpec(mode, spec.advisors(new SteeringAdvisor({ inbox })));
      const inner = await wire.server.nextExchange(1);

      const outcome = inbox.send('Forget it.', { mode: 'interrupt' });
      await whenClosed(inner.socket, 0);
      const response = await turn;

      expect(response.text).to.equal('Never mind.');
      expect(await outcome).to.deep.equal({ status: 'delivered', iteration: 1 });
      expect(response.ledger.map(({ outcome: end }) => end).toSorted()).to.deep.equal([
        'answered',
        'answered',
        'cancelled',
      ]);
    });
  }

  it('sends media of a message as the provider takes them', async () => {
    const inbox = new SteeringInbox();
    wire.answer = (exchange) => {
      if (exchange.index === 0)
        void inbox.send({
          role: 'user',
          content: [{ type: 'image', url: 'https://photos.example/1.png' }],
        });
      sendJson(exchange, completion(`answer ${exchange.index}`));
    };
    const spec = ChatClient.create(wire.model).prompt('?');

    await spec.advisors(new SteeringAdvisor({ inbox })).call().content();

    expect(wire.server.exchanges[1]?.body).to.deep.include({
      messages: [
        { role: 'user', content: '?' },
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'https://photos.example/1.png' } }],
        },
      ],
    });
  });
});
