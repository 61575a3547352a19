import { expect } from 'chai';
import {
  decodeMessage,
  defineTool,
  encodeMessage,
  IncompleteResponseError,
  InvalidArgumentError,
  type Message,
  ModelCallError,
  Prompt,
} from '../../../src/index.js';
import { CohereChatModel, type CohereChatModelOptions } from '../../../src/models/cohere/index.js';
import { rejectionOf, sendTypedEvents, streamFrom } from '../../support/wire-answers.js';
import { sendJson, WireServer, type Exchange } from '../../support/wire-server.js';

const USAGE = {
  billed_units: { input_tokens: 1, output_tokens: 1 },
  tokens: { input_tokens: 30, output_tokens: 20 },
  cached_tokens: 10,
};
const CITATION = { start: 0, end: 4, text: 'Noon', sources: [{ type: 'tool', id: 'a:0' }] };
const CALL = {
  id: 'now_1',
  type: 'function',
  function: { name: 'now', arguments: '{"zone":"UTC"}' },
};
const DOCUMENT = {
  id: 'r1',
  finish_reason: 'TOOL_CALL',
  message: {
    role: 'assistant',
    tool_plan: 'I look.',
    content: [
      { type: 'thinking', thinking: 'hm ' },
      { type: 'text', text: 'Noon' },
    ],
    tool_calls: [CALL],
    citations: [CITATION],
  },
  usage: USAGE,
};
const content = (fields: object): object => ({ message: { content: fields } });
const EVENTS = [
  { type: 'message-start', id: 'r1', delta: { message: { role: 'assistant' } } },
  { type: 'content-start', index: 0, delta: content({ type: 'thinking', thinking: '' }) },
  { type: 'content-delta', index: 0, delta: content({ thinking: 'hm ' }) },
  { type: 'content-end', index: 0 },
  { type: 'content-start', index: 1, delta: content({ type: 'text', text: 'No' }) },
  { type: 'content-delta', index: 1, delta: content({ text: 'on' }) },
  { type: 'content-end', index: 1 },
  { type: 'citation-start', index: 0, delta: { message: { citations: CITATION } } },
  { type: 'citation-end', index: 0 },
  { type: 'tool-plan-delta', delta: { message: { tool_plan: 'I ' } } },
  { type: 'tool-plan-delta', delta: { message: { tool_plan: 'look.' } } },
  {
    type: 'tool-call-start',
    index: 0,
    delta: { message: { tool_calls: { ...CALL, function: { name: 'now', arguments: '' } } } },
  },
  {
    type: 'tool-call-delta',
    index: 0,
    delta: { message: { tool_calls: { function: { arguments: '{"zone":' } } } },
  },
  {
    type: 'tool-call-delta',
    index: 0,
    delta: { message: { tool_calls: { function: { arguments: '"UTC"}' } } } },
  },
  { type: 'tool-call-end', index: 0 },
  { type: 'debug', prompt: 'an event that is not mapped' },
  { type: 'message-end', delta: { finish_reason: 'TOOL_CALL', usage: USAGE } },
];
const NOW = defineTool({
  name: 'now',
  description: 'Time',
  input: { type: 'object', properties: {} },
  execute: () => '',
});
const LATER = defineTool({
  name: 'later',
  description: 'Time',
  input: { type: 'object', properties: {} },
  execute: () => '',
});

describe('CohereChatModel', () => {
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;

  before(async () => {
    server = await WireServer.start((exchange) => answer(exchange));
  });
  beforeEach(() => {
    answer = (exchange) => sendJson(exchange, DOCUMENT);
  });
  after(() => server.close());

  const modelWith = (options: Partial<CohereChatModelOptions> = {}): CohereChatModel =>
    new CohereChatModel({
      model: 'command',
      apiKey: 'k',
      baseURL: server.baseURL.replace('/v1', ''),
      maxRetries: 0,
      ...options,
    });
  const sentBy = async (
    messages: readonly Message[] | string,
    options: Partial<CohereChatModelOptions> = {},
    tools = [NOW, LATER],
  ): Promise<Record<string, unknown>> => {
    await modelWith(options).call(new Prompt(messages, { tools }));
    return server.exchanges.at(-1)?.body as Record<string, unknown>;
  };

  it('sends options under the names of the API', async () => {
    const body = await sentBy(
      'hi',
      {
        temperature: 0,
        topP: 0.5,
        topK: 4,
        maxTokens: 9,
        stopSequences: ['x'],
        seed: 1,
        presencePenalty: 1,
        frequencyPenalty: 0.5,
        logprobs: true,
        reasoningEffort: 'none',
        extraBody: { safety_mode: 'OFF' },
      },
      [],
    );

    expect(body).to.deep.equal({
      model: 'command',
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 9,
      temperature: 0,
      p: 0.5,
      k: 4,
      stop_sequences: ['x'],
      seed: 1,
      presence_penalty: 1,
      frequency_penalty: 0.5,
      logprobs: true,
      thinking: { type: 'disabled' },
      safety_mode: 'OFF',
      stream: false,
    });
  });

  for (const [toolChoice, choice, names] of [
    ['auto', undefined, ['now', 'later']],
    ['none', 'NONE', ['now', 'later']],
    ['required', 'REQUIRED', ['now', 'later']],
    [{ tool: 'later' }, 'REQUIRED', ['later']],
  ] as const)
    it(`sends the tool choice ${JSON.stringify(toolChoice)}`, async () => {
      const { tools, tool_choice } = await sentBy('hi', { toolChoice });

      const sent = (tools as readonly { function: { name: string } }[]).map((t) => t.function.name);
      expect([tool_choice, sent]).to.deep.equal([choice, names]);
    });

  it('asks for strict tools and for a schema', async () => {
    const schema = { type: 'object', properties: {} };

    const body = await sentBy('hi', { strictTools: true, responseFormat: { schema } });

    expect(body).to.deep.include({
      strict_tools: true,
      response_format: { type: 'json_object', json_schema: schema },
    });
  });

  it('reads a stream and a document as the same response', async () => {
    const called = await modelWith().call(new Prompt('hi'));
    answer = (exchange) => sendTypedEvents(exchange, EVENTS);

    const streamed = await streamFrom(modelWith());

    const { message, usage, finishReason, id } = called;
    expect(streamed.text).to.equal('Noon');
    expect(streamed.reasoning).to.equal('hm I look.');
    expect(streamed.response).to.deep.equal(called);
    expect(usage).to.deep.equal({
      inputTokens: 30,
      outputTokens: 20,
      totalTokens: 50,
      cachedInputTokens: 10,
    });
    expect([finishReason, id, message.content]).to.deep.equal(['TOOL_CALL', 'r1', 'Noon']);
    expect(message.metadata).to.deep.equal({
      cohere: { tool_plan: 'I look.', thinking: 'hm ', citations: [CITATION], text: 'Noon' },
    });
  });

  it('returns plan, thinking, calls and citations in the next request', async () => {
    const { message } = await modelWith().call(new Prompt('hi'));
    const kept = decodeMessage(encodeMessage(message));

    const { messages } = await sentBy([
      { role: 'user', content: 'hi' },
      kept,
      { role: 'tool', toolCallId: 'now_1', toolName: 'now', content: 'noon' },
    ]);

    expect((messages as readonly unknown[]).slice(1)).to.deep.equal([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm ' },
          { type: 'text', text: 'Noon' },
        ],
        tool_calls: [CALL],
        tool_plan: 'I look.',
        citations: [CITATION],
      },
      { role: 'tool', tool_call_id: 'now_1', content: 'noon' },
    ]);
  });

  for (const [title, change, expected] of [
    ['text', { content: 'One' }, { tool_plan: 'I look.', citations: undefined }],
    ['reasoning', { reasoning: 'so' }, { tool_plan: undefined, citations: [CITATION] }],
    ['no reasoning', { reasoning: '' }, { tool_plan: undefined, citations: [CITATION] }],
  ] as const)
    it(`sends ${title} of an advisor without what the model had added to its own`, async () => {
      const { message } = await modelWith().call(new Prompt('hi'));
      const changed = { ...message, ...change };

      const { messages } = await sentBy([
        { role: 'user', content: 'hi' },
        changed,
        { role: 'tool', toolCallId: 'now_1', toolName: 'now', content: 'noon' },
      ]);

      const sent = (messages as readonly Record<string, unknown>[])[1] ?? {};
      const { content: text, reasoning } = changed;
      const thinking = title === 'text' ? 'hm ' : reasoning;
      expect(sent['content']).to.deep.equal([
        ...(!thinking ? [] : [{ type: 'thinking', thinking }]),
        { type: 'text', text },
      ]);
      expect([sent['tool_plan'], sent['citations']]).to.deep.equal([
        expected.tool_plan,
        expected.citations,
      ]);
    });

  it('sends media of results after the batch: the API takes none in results', async () => {
    const image = { type: 'image', data: 'AQI=', mediaType: 'image/png' } as const;
    const text = (value: string) => ({ type: 'text', text: value });

    const { messages } = await sentBy([
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: null, toolCalls: [{ id: 'a', name: 'now', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'a', toolName: 'now', content: [image] },
    ]);

    expect((messages as readonly unknown[]).slice(2)).to.deep.equal([
      {
        role: 'tool',
        tool_call_id: 'a',
        content: [text('[image: see the message after the results]')],
      },
      {
        role: 'user',
        content: [
          text('From the tool now (call a):'),
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AQI=' } },
        ],
      },
    ]);
  });

  it('sends thinking of an answer without a plan, images and documents', async () => {
    const { messages } = await sentBy([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'what' },
          { type: 'image', data: 'AQI=', mediaType: 'image/png' },
          { type: 'raw', value: { type: 'document', document: { data: 'd' } } },
        ],
      },
      { role: 'assistant', content: null, reasoning: 'hm' },
      { role: 'user', content: 'so?' },
    ]);

    expect((messages as readonly unknown[]).slice(0, 2)).to.deep.equal([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'what' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AQI=' } },
          { type: 'document', document: { data: 'd' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }] },
    ]);
  });

  it('refuses audio', async () => {
    const part = { type: 'audio', data: 'AQI=', mediaType: 'audio/wav' } as const;

    const error = await rejectionOf(sentBy([{ role: 'user', content: [part] }]));

    expect(error).to.be.instanceOf(InvalidArgumentError);
  });

  for (let cut = 1; cut < EVENTS.length; cut++)
    it(`takes no stream that ends after ${cut} events for a complete answer`, async () => {
      answer = (exchange) => sendTypedEvents(exchange, EVENTS.slice(0, cut));

      const error = await rejectionOf(streamFrom(modelWith()));

      expect(error).to.be.instanceOf(IncompleteResponseError);
    });

  it('rejects with an error at the end of a stream', async () => {
    const delta = { finish_reason: 'ERROR', error: 'the model crashed' };
    answer = (exchange) =>
      sendTypedEvents(exchange, [...EVENTS.slice(0, 6), { type: 'message-end', delta } as never]);

    const error = await rejectionOf(streamFrom(modelWith()));

    expect(error).to.be.instanceOf(ModelCallError);
    expect(error).to.include({ providerMessage: 'the model crashed', partialText: 'Noon' });
  });

  it('rejects a document of another API', async () => {
    answer = (exchange) => sendJson(exchange, { choices: [] });

    const error = await rejectionOf(modelWith().call(new Prompt('hi')));

    expect((error as Error).message).to.include('not with a chat response (no message)');
  });

  it('sends to an address with or without /v2', async () => {
    const baseURL = server.baseURL.replace('/v1', '/v2/');
    await modelWith({ baseURL }).call(new Prompt('hi'));
    await modelWith().call(new Prompt('hi'));

    const paths = server.exchanges.slice(-2).map(({ path }) => path);
    expect(paths).to.deep.equal(['/v2/chat', '/v2/chat']);
  });

  it('refuses to be made without a model', () => {
    const make = (): unknown => modelWith({ model: '' });

    expect(make).to.throw(InvalidArgumentError, 'CohereChatModel: model');
  });
});
