import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ReReadingAdvisor,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../support/modes.js';

const noop = defineTool({ name: 'noop', execute: () => 'ok' });
const TWICE = 'Why?\nRead the question again: Why?';

describe('ReReadingAdvisor', () => {
  it('rejects a template that is no function', () => {
    expect(() => new ReReadingAdvisor({ template: '{q} {q}' as never })).to.throw(
      InvalidArgumentError,
      'ReReadingAdvisor: template must be a function, not "{q} {q}"',
    );
  });

  for (const mode of MODES) {
    for (const [side, order] of [
      ['left', undefined],
      ['right', AdvisorOrder.LOGGER],
    ] as const)
      it(`${mode}: repeats the question once in each model call, ${side} of the loop`, async () => {
        const model = new ScriptedChatModel([{ toolCalls: [{ name: 'noop' }] }, 'So.']);
        const spec = ChatClient.create(model)
          .prompt()
          .messages({ role: 'user', content: 'Earlier.' })
          .user('Why?')
          .tools(noop)
          .advisors(new ReReadingAdvisor({ order }));

        await runSpec(mode, spec);

        const asked = model.prompts.map(({ messages }) =>
          messages.flatMap((message) => (message.role === 'user' ? [message.content] : [])),
        );
        expect(asked).to.deep.equal([
          ['Earlier.', TWICE],
          ['Earlier.', TWICE],
        ]);
      });

    it(`${mode}: leaves the question in the memory as it was asked`, async () => {
      const repository = new InMemoryChatMemoryRepository();
      const chatMemory = new MessageWindowChatMemory({ repository });
      const model = new ScriptedChatModel(['So.', 'Yes.']);
      const client = ChatClient.builder(model)
        .defaultAdvisors(
          new ReReadingAdvisor(),
          new MessageChatMemoryAdvisor({ chatMemory }),
          (a) => a.param(CONVERSATION_ID, 'anna'),
        )
        .build();

      await runSpec(mode, client.prompt('Why?'));
      await runSpec(mode, client.prompt('Really?'));

      const { messages } = await repository.read('anna');
      expect(messages[0]?.message).to.include({ role: 'user', content: 'Why?' });
      expect(model.prompts[1]?.messages[0]).to.include({ content: 'Why?' });
    });

    it(`${mode}: keeps images, and a message without text`, async () => {
      const image = { type: 'image', url: 'https://x.example/a.png' } as const;
      const model = new ScriptedChatModel(() => 'So.');
      const client = ChatClient.builder(model).defaultAdvisors(new ReReadingAdvisor()).build();

      await runSpec(mode, client.prompt().user([image]));
      await runSpec(mode, client.prompt().user([{ type: 'text', text: 'Why?' }, image]));

      expect(model.prompts[0]?.userMessage?.content).to.deep.equal([image]);
      expect(model.prompts[1]?.userMessage?.content).to.deep.include(image);
      expect(JSON.stringify(model.prompts[1])).to.include('Read the question again: Why?');
    });

    it(`${mode}: uses a template, whose error ends the turn`, async () => {
      const error = new Error('no template');
      const model = new ScriptedChatModel(() => 'So.');
      const spec = ChatClient.create(model).prompt('Why?');
      const fail = (): string => {
        throw error;
      };

      await runSpec(mode, spec.advisors(new ReReadingAdvisor({ template: (q) => `${q}${q}` })));

      expect(model.prompts[0]?.userMessage?.content).to.equal('Why?Why?');
      expect(
        await failureOf(runSpec(mode, spec.advisors(new ReReadingAdvisor({ template: fail })))),
      ).to.equal(error);
    });
  }
});
