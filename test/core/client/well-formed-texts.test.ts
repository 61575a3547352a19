import { expect } from 'chai';
import { Observable } from 'rxjs';
import {
  ChatClient,
  ChatResponse,
  CONVERSATION_ID,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  toolResult,
  type AssistantMessage,
  type ChatEvent,
  type ChatModel,
  type Message,
  type PromptSpec,
} from '../../../src/index.js';
import { decodeMessage } from '../../../src/core/chat/message-codec.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { CALL, CHAT_WIRES } from '../../support/chat-wires.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';

const HALF = '\ud83d';
const isWhole = (value: unknown): boolean =>
  !/\\ud[89a-f]/i.test(JSON.stringify(value).replaceAll('\\\\', ''));

const HISTORY: readonly Message[] = [
  { role: 'system', content: `Be kind ${HALF}` },
  { role: 'user', content: [{ type: 'text', text: `Cut ${HALF}` }] },
  {
    role: 'assistant',
    content: `Look ${HALF}`,
    toolCalls: [
      { id: 'call_00001', name: CALL.name, arguments: `{"zone":"a\\ud83d","b":"${HALF}"}` },
    ],
    metadata: { note: `kept ${HALF}` },
  },
  { role: 'tool', toolCallId: 'call_00001', toolName: CALL.name, content: `noon ${HALF}` },
];

/** A model of an application, which passes on what its server sent. */
function modelOf(message: Partial<AssistantMessage>, deltas: readonly ChatEvent[] = []): ChatModel {
  const complete = { role: 'assistant', content: null, ...message } as const;
  const response = { generations: [{ message: complete, finishReason: 'stop' }] };
  return {
    defaultOptions: {},
    call: () => Promise.resolve(new ChatResponse(response)),
    stream: () =>
      new Observable((subscriber) => {
        for (const delta of deltas) subscriber.next(delta);
        subscriber.next({ type: 'response', response: new ChatResponse(response) } as never);
        subscriber.complete();
      }),
  };
}

describe('well-formed texts', () => {
  for (const wire of CHAT_WIRES)
    for (const mode of MODES)
      it(`[D77] of a history are sent by ${wire.name ?? wire.api} (${mode})`, async () => {
        const bodies: string[] = [];
        const fetch: typeof globalThis.fetch = (_url, init) => {
          bodies.push(typeof init?.body === 'string' ? init.body : '');
          return Promise.resolve(new Response('{}', { status: 400 }));
        };
        const model = wire.make('http://127.0.0.1:9', { fetch } as never);
        const spec = ChatClient.create(model)
          .prompt(`Hello ${HALF}`)
          .messages(...HISTORY);

        await failureOf(runSpec(mode, spec));

        expect(bodies).to.have.length(1);
        expect(JSON.parse(bodies[0] as string)).to.satisfy(isWhole);
        expect(bodies[0]).to.include('Hello \ufffd').and.include('noon \ufffd');
      });

  for (const mode of MODES) {
    it(`[D77] of a tool result reach model, caller and memory (${mode})`, async () => {
      const find = defineTool({
        name: 'find',
        execute: () => toolResult({ content: `Nice day ${HALF}`, value: 1 }),
      });
      const call = { name: 'find', arguments: '{"q":"\\ud83d"}' };
      const model = new ScriptedChatModel([{ toolCalls: [call] }, 'Done.']);
      const repository = new InMemoryChatMemoryRepository();
      const chatMemory = new MessageWindowChatMemory({ repository });
      const client = ChatClient.builder(model)
        .defaultTools(find)
        .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory, storeToolMessages: true }))
        .build();
      const spec = client.prompt(`Find ${HALF}`).advisors((a) => a.param(CONVERSATION_ID, 'c'));

      const { steps } = await runSpec(mode, spec);

      expect(model.prompts[1]?.messages).to.satisfy(isWhole);
      expect(steps.flatMap(({ toolCalls }) => toolCalls)).to.satisfy(isWhole);
      expect(await chatMemory.get('c'))
        .to.have.length(4)
        .and.satisfy(isWhole);
    });

    it(`[D77] of an answer of the application's own model (${mode})`, async () => {
      const message = { content: `Cut ${HALF}`, reasoning: `hm ${HALF}`, metadata: { a: [HALF] } };
      const client = ChatClient.create(modelOf(message));

      const { chatResponse } = await runSpec(mode, client.prompt('Hi'));

      expect(chatResponse.text).to.equal('Cut \ufffd');
      expect(chatResponse).to.satisfy(isWhole);
    });
  }

  it('[D77] of deltas keep a pair that two of them share, and add up to the answer', async () => {
    const text = `a😀b${HALF}`;
    const deltas: readonly ChatEvent[] = [
      { type: 'text-delta', text: 'a\ud83d' },
      { type: 'reasoning-delta', text: HALF },
      { type: 'text-delta', text: '\ude00b' },
      { type: 'text-delta', text: HALF },
    ];
    const client = ChatClient.create(modelOf({ content: text, reasoning: HALF }, deltas));
    const events: ChatEvent[] = [];

    for await (const event of client.prompt('Hi').stream().events()) events.push(event);

    const shown = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []));
    expect(shown).to.deep.equal(['a', '😀b', '\ufffd']);
    expect(events.map(({ type }) => type)).to.not.include('retract');
    expect(events.at(-1)).to.have.nested.property('response.text', 'a😀b\ufffd');
  });

  it('[D77] of deltas of a call keep the piece with its name', async () => {
    const deltas: readonly ChatEvent[] = [
      { type: 'tool-call-delta', index: 0, id: 'c', name: 'find', arguments: HALF },
      { type: 'tool-call-delta', index: 0, arguments: '\ude00' },
    ];
    const client = ChatClient.create(modelOf({ content: 'x' }, deltas));
    const events: ChatEvent[] = [];

    for await (const event of client.prompt('Hi').stream().events()) events.push(event);

    const shown = events.filter(({ type }) => type === 'tool-call-delta');
    expect(shown).to.deep.equal([
      { type: 'tool-call-delta', index: 0, id: 'c', name: 'find', arguments: '' },
      { type: 'tool-call-delta', index: 0, arguments: '😀' },
    ]);
  });

  it('[D77] of a cancelled turn end before half a pair', async () => {
    const model = new ScriptedChatModel([{ deltas: ['Nice \ud83d', '\ude00 day'], delay: 1 }]);
    const chatMemory = new MessageWindowChatMemory({
      repository: new InMemoryChatMemoryRepository(),
    });
    const stop = new AbortController();
    const spec: PromptSpec = ChatClient.builder(model)
      .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory, onIncomplete: 'keep-partial' }))
      .build()
      .prompt('Hi')
      .advisors((a) => a.param(CONVERSATION_ID, 'c'))
      .signal(stop.signal);

    const error = await failureOf(
      (async () => {
        for await (const text of spec.stream()) if (text !== '') stop.abort();
      })(),
    );

    expect(error).to.have.nested.property('run.partialText', 'Nice ');
    await (error as { run: { settled: Promise<void> } }).run.settled;
    const stored = await chatMemory.get('c');
    expect(stored.at(-1)).to.have.property('content', 'Nice ');
  });

  it('[D77] are what a store reads of a message that it wrote before', () => {
    const stored = '{"role":"user","content":"half \\ud83d"}';

    expect(decodeMessage(stored)).to.deep.equal({ role: 'user', content: 'half \ufffd' });
  });
});
