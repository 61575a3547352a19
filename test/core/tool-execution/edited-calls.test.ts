import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import {
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  type Advisor,
  type AssistantMessage,
  type ChatEvent,
  type ChatModel,
  type Message,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { MODES, runSpec } from '../../support/modes.js';

/** Replaces the arguments of each call of `pay` by an amount of 3. */
const editing: Advisor = defineAdvisor({
  name: 'editing',
  order: 1,
  aroundTool: (invocation, next) => {
    const { call } = invocation;
    if (call.name !== 'pay') return next(invocation);
    const edited = { ...call, arguments: '{"amount":3}' };
    return next({ ...invocation, call: edited, arguments: { amount: 3 } });
  },
});
const paid: unknown[] = [];
const input = { type: 'object', properties: { amount: { type: 'number' } } } as const;
const pay = defineTool({ name: 'pay', input, execute: (args) => `paid ${paid.push(args)}` });
const look = defineTool({ name: 'look', execute: () => 'seen' });
const script = () =>
  new ScriptedChatModel([
    {
      text: 'One moment.',
      reasoning: 'They want it.',
      metadata: { kept: true },
      toolCalls: [
        { id: 'c1', name: 'pay', arguments: { amount: 5 }, metadata: { signature: 's' } },
        { id: 'c2', name: 'look' },
      ],
    },
    'Done.',
  ]);
const clientOf = (model: ChatModel, ...advisors: Advisor[]): ChatClient =>
  ChatClient.builder(model)
    .defaultTools(pay, look)
    .defaultAdvisors(editing, ...advisors)
    .build();
const argumentsIn = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap((message) =>
    message.role === 'assistant' ? callsOf(message).map((call) => call.arguments) : [],
  );

describe('a call with edited arguments', () => {
  for (const mode of MODES)
    it(`is in the transcript, the steps and the next request as it ran (${mode})`, async () => {
      paid.length = 0;
      const model = script();

      const response = await runSpec(mode, clientOf(model).prompt('Pay'));

      expect(paid).to.deep.equal([{ amount: 3 }]);
      expect(argumentsIn(model.prompts[1]?.messages ?? [])).to.deep.equal(['{"amount":3}', '{}']);
      expect(argumentsIn(response.transcript)).to.deep.equal(['{"amount":3}', '{}']);
      expect(response.steps[0]?.toolCalls[0]?.call.arguments).to.equal('{"amount":3}');
    });

  it('keeps all else of the message and of the call', async () => {
    const model = script();

    await clientOf(model).prompt('Pay').call().content();

    const message = model.prompts[1]?.messages.at(-3) as AssistantMessage;
    expect(message).to.deep.include({
      content: 'One moment.',
      reasoning: 'They want it.',
      metadata: { kept: true },
    });
    expect(callsOf(message)[0]).to.deep.equal({
      id: 'c1',
      name: 'pay',
      arguments: '{"amount":3}',
      metadata: { signature: 's' },
    });
  });

  it('is the call of its result event', async () => {
    const events: ChatEvent[] = [];

    await clientOf(script())
      .prompt('Pay')
      .stream()
      .events()
      .forEach((event) => events.push(event));

    const result = events.find((event) => event.type === 'tool-result' && event.call.id === 'c1');
    expect(result).to.have.nested.property('call.arguments', '{"amount":3}');
  });

  it('is stored in chat memory as it ran', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const chatMemory = new MessageWindowChatMemory({ repository });
    const memory = new MessageChatMemoryAdvisor({ chatMemory, storeToolMessages: true });
    const spec = clientOf(script(), memory).prompt('Pay');

    await spec
      .advisors((each) => each.param(CONVERSATION_ID, 'anna-7'))
      .call()
      .content();

    const { messages } = await chatMemory.load('anna-7');
    expect(argumentsIn(messages)).to.deep.equal(['{"amount":3}', '{}']);
  });

  it('keeps the name and the id of the model, whatever an advisor passes on', async () => {
    const model = script();
    const renaming = defineAdvisor({
      name: 'renaming',
      order: 2,
      aroundTool: (invocation, next) =>
        next({ ...invocation, call: { ...invocation.call, id: 'x', name: 'x' } }),
    });

    const response = await clientOf(model, renaming).prompt('Pay').call().chatClientResponse();

    const calls = response.steps[0]?.toolCalls.map(({ call }) => [call.id, call.name]);
    expect(calls).to.deep.equal([
      ['c1', 'pay'],
      ['c2', 'look'],
    ]);
  });
});
