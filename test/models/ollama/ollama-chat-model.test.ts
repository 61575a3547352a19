import { callsOf } from '../../../src/core/chat/message.js';
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
import { OllamaChatModel, type OllamaChatModelOptions } from '../../../src/models/ollama/index.js';
import { rejectionOf, sendLines, streamFrom } from '../../support/wire-answers.js';
import { sendJson, WireServer, type Exchange } from '../../support/wire-server.js';

const END = {
  model: 'm',
  message: { role: 'assistant', content: '' },
  done: true,
  done_reason: 'stop',
  prompt_eval_count: 3,
  eval_count: 2,
  total_duration: 7,
};
const piece = (message: object): object => ({
  model: 'm',
  message: { role: 'assistant', content: '', ...message },
  done: false,
});
const CALL = { function: { name: 'now', arguments: { zone: 'UTC' } } };
const NOW = defineTool({
  name: 'now',
  description: 'Time',
  input: { type: 'object', properties: { zone: { type: 'string' } } },
  execute: () => '',
});

describe('OllamaChatModel', () => {
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;

  before(async () => {
    server = await WireServer.start((exchange) => answer(exchange));
  });
  beforeEach(() => {
    answer = (exchange) => sendJson(exchange, END);
  });
  after(() => server.close());

  const modelWith = (options: Partial<OllamaChatModelOptions> = {}): OllamaChatModel =>
    new OllamaChatModel({
      model: 'm',
      baseURL: server.baseURL.replace('/v1', ''),
      maxRetries: 0,
      ...options,
    });
  const sentBy = async (
    messages: readonly Message[] | string,
    options: Partial<OllamaChatModelOptions> & { readonly tools?: readonly [typeof NOW] } = {},
  ): Promise<Record<string, unknown>> => {
    const { tools, ...others } = options;
    await modelWith(others).call(new Prompt(messages, tools && { tools }));
    return server.exchanges.at(-1)?.body as Record<string, unknown>;
  };

  it('sends options under the names of the API', async () => {
    const body = await sentBy('hi', {
      temperature: 0,
      topP: 0.5,
      topK: 4,
      maxTokens: 9,
      stopSequences: ['x'],
      seed: 1,
      presencePenalty: 1,
      frequencyPenalty: -1,
      numCtx: 4096,
      keepAlive: '10m',
      think: 'low',
      extraBody: { options: { min_p: 0.1 }, truncate: true },
    });

    expect(body).to.deep.equal({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      think: 'low',
      keep_alive: '10m',
      truncate: true,
      options: {
        num_ctx: 4096,
        num_predict: 9,
        temperature: 0,
        top_p: 0.5,
        top_k: 4,
        seed: 1,
        stop: ['x'],
        presence_penalty: 1,
        frequency_penalty: -1,
        min_p: 0.1,
      },
      stream: false,
    });
  });

  for (const [effort, think] of [
    ['none', false],
    ['minimal', 'low'],
    ['medium', 'medium'],
    ['xhigh', 'high'],
  ] as const)
    it(`sends the effort ${effort} as a value that the API takes`, async () => {
      expect(await sentBy('hi', { reasoningEffort: effort })).to.have.property('think', think);
    });

  it('sends the content of an image whose address holds it', async () => {
    const url = 'data:image/png;base64,AQI=';

    const { messages } = await sentBy([{ role: 'user', content: [{ type: 'image', url }] }]);

    expect(messages).to.deep.equal([{ role: 'user', content: '', images: ['AQI='] }]);
  });

  it('sends no options where there are none', async () => {
    const body = await sentBy('hi');

    expect(body).to.have.all.keys('model', 'messages', 'stream');
  });

  it('sends a schema, or asks for JSON, as the format', async () => {
    const schema = { type: 'object', properties: {} };

    const formats = [
      (await sentBy('hi', { responseFormat: { schema } }))['format'],
      (await sentBy('hi', { responseFormat: 'json' }))['format'],
      (await sentBy('hi', { responseFormat: 'text' }))['format'],
    ];

    expect(formats).to.deep.equal([schema, 'json', undefined]);
  });

  for (const [toolChoice, count] of [
    ['none', undefined],
    ['required', 1],
    [{ tool: 'now' }, 1],
    [{ tool: 'other' }, undefined],
  ] as const)
    it(`offers ${count ?? 'no'} tool for the choice ${JSON.stringify(toolChoice)}`, async () => {
      const { tools } = await sentBy('hi', { toolChoice, tools: [NOW] });

      expect((tools as unknown[] | undefined)?.length).to.equal(count);
    });

  it('sends calls with their arguments as objects, results with their tool, images as base64', async () => {
    const body = await sentBy([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'what' },
          { type: 'image', data: new Uint8Array([1, 2]), mediaType: 'image/png' },
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning: 'hm',
        toolCalls: [
          { id: 'a', name: 'now', arguments: '{"zone":"UTC"}' },
          { id: 'b', name: 'now', arguments: '' },
          { id: 'c', name: 'now', arguments: 'no JSON' },
        ],
      },
      { role: 'tool', toolCallId: 'a', toolName: 'now', content: 'noon' },
      { role: 'tool', toolCallId: 'b', toolName: 'now', content: 'one' },
      { role: 'tool', toolCallId: 'c', toolName: 'now', content: 'bad', isError: true },
    ]);

    const call = (input: object): object => ({ function: { name: 'now', arguments: input } });
    expect(body['messages']).to.deep.equal([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'what', images: ['AQI='] },
      {
        role: 'assistant',
        content: '',
        thinking: 'hm',
        tool_calls: [call({ zone: 'UTC' }), call({}), call({ arguments: 'no JSON' })],
      },
      { role: 'tool', tool_name: 'now', content: 'noon' },
      { role: 'tool', tool_name: 'now', content: 'one' },
      { role: 'tool', tool_name: 'now', content: 'bad' },
    ]);
  });

  const REFUSED = {
    'an image by address': { type: 'image', url: 'https://example.com/a.png' },
    audio: { type: 'audio', data: 'AQI=', mediaType: 'audio/wav' },
    'a raw part': { type: 'raw', value: {} },
  } as const;
  for (const [title, part] of Object.entries(REFUSED))
    it(`refuses ${title} before anything is sent`, async () => {
      const before = server.exchanges.length;

      const error = await rejectionOf(sentBy([{ role: 'user', content: [part] }]));

      expect(error).to.be.instanceOf(InvalidArgumentError);
      expect(server.exchanges.length).to.equal(before);
    });

  const PIECES = [
    piece({ thinking: 'h' }),
    piece({ thinking: 'm' }),
    piece({ content: 'No' }),
    piece({ content: 'on' }),
    piece({ tool_calls: [CALL, CALL] }),
    END,
  ];
  const WHOLE = {
    ...END,
    message: { role: 'assistant', thinking: 'hm', content: 'Noon', tool_calls: [CALL, CALL] },
  };

  it('reads a stream and a document as the same response', async () => {
    answer = (exchange) => sendJson(exchange, WHOLE);
    const called = await modelWith().call(new Prompt('hi'));
    answer = (exchange) => sendLines(exchange, PIECES);

    const streamed = await streamFrom(modelWith());

    expect(streamed.response).to.deep.equal(called);
    expect([streamed.text, streamed.reasoning]).to.deep.equal(['Noon', 'hm']);
    const { message, usage, finishReason, model, metadata } = called;
    expect(message).to.deep.equal({
      role: 'assistant',
      content: 'Noon',
      reasoning: 'hm',
      toolCalls: [
        { id: 'call_1', name: 'now', arguments: '{"zone":"UTC"}' },
        { id: 'call_2', name: 'now', arguments: '{"zone":"UTC"}' },
      ],
    });
    expect(usage).to.deep.equal({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });
    expect([finishReason, model, metadata]).to.deep.equal(['stop', 'm', { total_duration: 7 }]);
    expect(decodeMessage(encodeMessage(message))).to.deep.equal(message);
  });

  it('keeps the ids of a server that gives them', async () => {
    const message = { ...WHOLE.message, tool_calls: [{ id: 'x', ...CALL }] };
    answer = (exchange) => sendJson(exchange, { ...WHOLE, message });

    const { message: read } = await modelWith().call(new Prompt('hi'));

    expect(callsOf(read).map(({ id }) => id)).to.deep.equal(['x']);
  });

  it('reads log probabilities', async () => {
    answer = (exchange) => sendLines(exchange, [{ ...piece({ content: 'a' }), logprobs: [{ token: 'a' }] }, END]); // prettier-ignore

    const { response } = await streamFrom(modelWith());

    expect(response.result?.metadata).to.deep.equal({ logprobs: { content: [{ token: 'a' }] } });
  });

  it('has no usage if the server counts nothing', async () => {
    answer = (exchange) => sendJson(exchange, { message: { content: 'a' }, done: true });

    const { usage, text } = await modelWith().call(new Prompt('hi'));

    expect([usage, text]).to.deep.equal([undefined, 'a']);
  });

  for (const cut of [1, 3, PIECES.length - 1])
    it(`takes no stream that ends after ${cut} lines for a complete answer`, async () => {
      answer = (exchange) => sendLines(exchange, PIECES.slice(0, cut));

      expect(await rejectionOf(streamFrom(modelWith()))).to.be.instanceOf(IncompleteResponseError);
    });

  it('rejects with an error in the middle of a stream', async () => {
    answer = (exchange) => sendLines(exchange, [piece({ content: 'a' }), { error: 'no memory' }]);

    const error = await rejectionOf(streamFrom(modelWith()));

    expect(error).to.be.instanceOf(ModelCallError);
    expect(error).to.include({ providerMessage: 'no memory', partialText: 'a' });
  });

  it('rejects with the status and the message of the server', async () => {
    answer = (exchange) => sendJson(exchange, { error: "model 'm' not found" }, 404);

    const error = await rejectionOf(modelWith().call(new Prompt('hi')));

    expect(error).to.include({ status: 404, providerMessage: "model 'm' not found" });
  });

  for (const body of [{ choices: [] }, {}, { done: null }, []])
    it(`rejects ${JSON.stringify(body)} as another API's answer`, async () => {
      answer = (exchange) => sendJson(exchange, body);

      const error = await rejectionOf(modelWith().call(new Prompt('hi')));

      expect((error as Error).message).to.include('not with an answer of Ollama');
    });

  it('needs no key, but sends one, to an address with or without /api', async () => {
    await modelWith().call(new Prompt('hi'));
    const baseURL = server.baseURL.replace('/v1', '/api');
    await modelWith({ baseURL, apiKey: 'k' }).call(new Prompt('hi'));

    const [first, second] = server.exchanges.slice(-2);
    expect(first?.headers).to.not.have.property('authorization');
    expect(second?.headers.authorization).to.equal('Bearer k');
    expect([first?.path, second?.path]).to.deep.equal(['/api/chat', '/api/chat']);
  });

  const INVALID = {
    'no model': { model: undefined },
    'an effort to think that it does not know': { think: 'much' },
    'no context': { numCtx: 0 },
    'an empty duration': { keepAlive: '' },
  };
  for (const [title, options] of Object.entries(INVALID))
    it(`refuses ${title}`, () => {
      const make = (): unknown => modelWith(options as unknown as OllamaChatModelOptions);

      expect(make).to.throw(InvalidArgumentError, 'OllamaChatModel: ');
    });
});
