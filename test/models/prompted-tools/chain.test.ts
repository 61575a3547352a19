import { callsOf } from '../../../src/core/chat/message.js';
import { once } from 'node:events';
import { expect } from 'chai';
import { of } from 'rxjs';
import { z } from 'zod';
import {
  AdvisorContext,
  AdvisorOrder,
  ChatClient,
  ChatResponse,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  KeywordToolIndex,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ObservabilityAdvisor,
  Prompt,
  PromptedToolsModel,
  ToolCallingManager,
  ToolCallingAdvisor,
  ToolSearchAdvisor,
  type ChatEvent,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { FORMATS, planOf, setUpPrompted, textsOf } from '../../support/prompted-tools.js';
import { recordSpans } from '../../support/recorded-spans.js';
import { useWireModel } from '../../support/wire-model.js';
import { beginEvents, chunk, sendEvent, sendEvents, sendJson } from '../../support/wire-server.js';

const ADD = planOf('json', 'add', { a: 1, b: 2 });

describe('PromptedToolsModel in a chain', () => {
  for (const mode of MODES)
    for (const format of FORMATS)
      it(`${mode}, ${format}: memory with calls and results, and tool search`, async () => {
        const { add, plain, model } = setUpPrompted(
          [
            planOf(format, 'toolSearchTool', { query: 'adds numbers' }),
            planOf(format, 'add', { a: 1, b: 2 }),
            'Three.',
            'It was three.',
          ],
          { format },
        );
        const repository = new InMemoryChatMemoryRepository();
        const chatMemory = new MessageWindowChatMemory({ repository });
        const client = ChatClient.builder(model)
          .defaultTools(add)
          .defaultAdvisors(
            new MessageChatMemoryAdvisor({ chatMemory, storeToolMessages: true }),
            new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() }),
            (a) => a.param(CONVERSATION_ID, 'c'),
          )
          .build();

        await runSpec(mode, client.prompt('What is 1 + 2?'));
        const { text } = await runSpec(mode, client.prompt('What was it?'));

        expect(text).to.equal('It was three.');
        const { messages } = await repository.read('c');
        expect(messages.map(({ message }) => message.role).join()).to.equal(
          'user,assistant,tool,assistant,tool,assistant,user,assistant',
        );
        const last = textsOf(plain.prompts.at(-1));
        expect(last).to.include(planOf(format, 'add', { a: 1, b: 2 }));
        expect(last.some((each) => each.includes('"result": {"sum":3}'))).to.equal(true);
      });

  for (const mode of MODES) {
    it(`${mode}: guards of answers and of tool calls see real calls`, async () => {
      const seen: string[] = [];
      const guard = defineAdvisor({
        name: 'guard',
        order: AdvisorOrder.LOGGER,
        after: ({ message }) => {
          seen.push(`answer with ${callsOf(message).length} calls`);
        },
        aroundTool: async ({ call }) => {
          seen.push(call.arguments);
          return { content: 'refused' };
        },
      });
      const { client, ran, plain } = setUpPrompted([ADD, 'I may not.']);

      await runSpec(mode, client.prompt('?').advisors(guard));

      expect(seen).to.deep.equal(['answer with 1 calls', '{"a":1,"b":2}', 'answer with 0 calls']);
      expect(ran).to.deep.equal([]);
      expect(textsOf(plain.prompts[1]).at(-1)).to.include('"result": "refused"');
    });

    it(`${mode}: the limits of calls and of iterations hold`, async () => {
      const { client } = setUpPrompted(() => ADD);
      const manager = new ToolCallingManager({ maxCallsPerTool: 2 });
      const loop = new ToolCallingAdvisor({ manager, onLimit: 'throw', maxIdenticalCalls: 9 });

      const failure = await failureOf(runSpec(mode, client.prompt('?').advisors(loop)));

      expect(failure).to.include({ code: 'limit_exceeded', limit: 'calls-per-tool' });
    });

    it(`${mode}: at a limit the last answer is asked for without tools`, async () => {
      const { client, plain } = setUpPrompted([ADD, ADD, 'Three, I think.']);
      const loop = new ToolCallingAdvisor({ maxIterations: 1 });

      const { text } = await runSpec(mode, client.prompt('?').advisors(loop));

      expect(text).to.equal('Three, I think.');
      expect(textsOf(plain.prompts[1])[0]).to.equal(
        'No tool can be called now: answer in plain text.',
      );
    });

    it(`${mode}: spans have the usage of all rounds and a retry for each further one`, async () => {
      const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
      const { tracer, spans } = recordSpans();
      const { client } = setUpPrompted([
        { text: planOf('json', 'no', {}), usage },
        { text: 'Fine.', usage },
      ]);

      await runSpec(mode, client.prompt('?').advisors(new ObservabilityAdvisor({ tracer })));

      const chat = spans.find(({ name }) => name.startsWith('chat '));
      expect(chat?.attributes['gen_ai.usage.input_tokens']).to.equal(20);
      expect(chat?.events.map(({ name }) => name)).to.include('advisor_chain.retry');
    });
  }

  it('retracts text that was shown before a call that cannot be used', async () => {
    const { client } = setUpPrompted([`I will add. ${planOf('json', 'no', {})}`, 'Three.']);
    const events: ChatEvent[] = [];

    await client
      .prompt('?')
      .stream()
      .events()
      .forEach((event) => void events.push(event));

    expect(events.map((event) => ('text' in event ? event.text.trim() : event.type))).to.deep.equal(
      ['iteration-start', 'I', 'will', 'add.', 'retract', 'Three.', 'response'],
    );
  });

  it('reads the answer again that its model has retracted', async () => {
    const { add } = setUpPrompted([]);
    const message = { role: 'assistant', content: 'Bye.' } as const;
    const response = new ChatResponse({ generations: [{ message }] });
    const model = new PromptedToolsModel({
      model: {
        defaultOptions: {},
        call: () => Promise.resolve(response),
        stream: () =>
          of<ChatEvent[]>(
            { type: 'text-delta', text: `Hi. ${ADD}` },
            { type: 'retract', iteration: 0 },
            { type: 'text-delta', text: 'By' },
            { type: 'response', response, context: AdvisorContext.empty },
          ),
      },
    });
    const events: ChatEvent[] = [];

    await model
      .stream(new Prompt('?', { tools: [add] }))
      .forEach((event) => void events.push(event));

    expect(events.map((event) => ('text' in event ? event.text : event.type))).to.deep.equal([
      'Hi.',
      'retract',
      'By',
      'e.',
      'response',
    ]);
  });

  it('sends the same options object in each iteration, by which models cache', async () => {
    const { client, plain } = setUpPrompted([ADD, planOf('json', 'add', { a: 3, b: 4 }), 'Ten.']);

    await client.prompt('?').options({ temperature: 0 }).call().content();

    const [first, second, third] = plain.prompts;
    expect(first?.options).to.include({ temperature: 0 });
    expect(second?.options).to.equal(first?.options);
    expect(third?.options).to.equal(first?.options);
  });

  describe('over HTTP', () => {
    const wire = useWireModel();

    for (const mode of MODES)
      it(`${mode}: asks again, calls and answers`, async () => {
        const answers = [
          planOf('tagged', 'no', {}),
          planOf('tagged', 'add', { a: 1, b: 2 }),
          'Three.',
        ];
        wire.answer = (exchange) => {
          const content = answers[exchange.index] ?? '';
          if (mode === 'call')
            return sendJson(exchange, {
              choices: [{ message: { content }, finish_reason: 'stop' }],
            });
          sendEvents(exchange, [
            ...[...content].map((char) => chunk({ content: char })),
            chunk({}, 'stop'),
            '[DONE]',
          ]);
        };
        const { add, ran } = setUpPrompted([]);
        const model = new PromptedToolsModel({ model: wire.model, format: 'tagged' });

        const { text } = await runSpec(mode, ChatClient.create(model).prompt('?').tools(add));

        expect(text).to.equal('Three.');
        expect(ran).to.deep.equal([{ a: 1, b: 2 }]);
        expect(wire.server.exchanges.map(({ body }) => 'tools' in body)).to.deep.equal([
          false,
          false,
          false,
        ]);
      });

    it('closes the request of a stream that is left', async () => {
      wire.answer = (exchange) => {
        beginEvents(exchange);
        sendEvent(exchange, chunk({ content: 'Hello <tool_ca' }));
      };
      const { add } = setUpPrompted([]);
      const model = new PromptedToolsModel({ model: wire.model, format: 'tagged' });

      for await (const piece of ChatClient.create(model).prompt('?').tools(add).stream()) {
        expect(piece).to.equal('Hello');
        break;
      }

      const { socket } = await wire.server.nextExchange(1);
      if (!socket.closed) await once(socket, 'close');
    });
  });

  it('reads examples of a zod schema', async () => {
    const plain = new ScriptedChatModel(['?']);
    const tool = defineTool({
      name: 'find',
      input: z.object({ id: z.string() }).meta({ examples: [{ id: '7' }] }),
      execute: () => 1,
    });

    await ChatClient.create(new PromptedToolsModel({ model: plain }))
      .prompt('?')
      .tools(tool)
      .call()
      .content();

    expect(textsOf(plain.prompts[0])[0]).to.match(/Examples of calls:\n.*\{"id":"7"\}/);
  });

  it('keeps id and model of the response', async () => {
    const message = { role: 'assistant', content: ADD } as const;
    const answer = new ChatResponse({ generations: [{ message }], id: 'r1', model: 'm' });
    const { client } = setUpPrompted([answer, 'Three.']);

    const { steps } = await runSpec('call', client.prompt('?'));

    expect(steps[0]?.response).to.include({ id: 'r1', model: 'm', finishReason: 'tool_calls' });
  });
});
