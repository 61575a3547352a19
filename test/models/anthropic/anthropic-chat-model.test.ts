import { expect } from 'chai';
import {
  ChatClient,
  defineTool,
  IncompleteResponseError,
  InvalidArgumentError,
  ModelCallError,
  Prompt,
  type ChatEvent,
} from '../../../src/index.js';
import {
  AnthropicChatModel,
  type AnthropicChatModelOptions,
} from '../../../src/models/anthropic/index.js';
import { failureOf } from '../../support/modes.js';
import { lastOf } from '../../support/recording-replay.js';
import {
  beginEvents,
  sendEvents,
  sendJson,
  WireServer,
  type Exchange,
} from '../../support/wire-server.js';
import { withoutVariable } from '../../support/without-variable.js';
import { eventsOf, message } from './message-events.js';

const text = (value: string): { type: string; text: string } => ({ type: 'text', text: value });

describe('AnthropicChatModel', () => {
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;

  beforeEach(async () => {
    answer = (exchange) =>
      exchange.body['stream']
        ? sendEvents(exchange, eventsOf(message([text('Hello')])))
        : sendJson(exchange, message([text('Hello')]));
    server = await WireServer.start((exchange) => answer(exchange));
  });
  afterEach(() => server.close());

  function modelWith(options: Partial<AnthropicChatModelOptions> = {}): AnthropicChatModel {
    return new AnthropicChatModel({
      model: 'claude',
      apiKey: 'sk-test',
      baseURL: server.baseURL,
      maxRetries: 0,
      ...options,
    });
  }

  it('returns the response of a call', async () => {
    const response = await modelWith().call(new Prompt('hi'));

    expect(response).to.include({ text: 'Hello', finishReason: 'end_turn', id: 'msg_1' });
    expect(server.exchanges[0]?.body).to.deep.equal({
      model: 'claude',
      max_tokens: 8192,
      messages: [{ role: 'user', content: [text('hi')] }],
    });
    expect(server.exchanges[0]?.headers).to.include({
      'x-api-key': 'sk-test',
      'anthropic-version': '2023-06-01',
    });
  });

  it('streams deltas and then one response', async () => {
    const events: ChatEvent[] = [];

    const response = await lastOf(modelWith().stream(new Prompt('hi')), (event) =>
      events.push(event),
    );

    expect(response?.text).to.equal('Hello');
    expect(
      events.map((event) => (event.type === 'text-delta' ? event.text : event.type)),
    ).to.deep.equal(['He', 'll', 'o', 'response']);
    expect(server.exchanges[0]?.body['stream']).to.equal(true);
  });

  it('takes a base URL with and without the version', async () => {
    const origin = server.baseURL.replace('/v1', '');
    for (const baseURL of [origin, `${origin}/`, `${origin}/v1`, `${origin}/v1/`, `${origin}/a`])
      await modelWith({ baseURL }).call(new Prompt('hi'));

    expect(server.exchanges.map(({ response }) => response.req.url)).to.deep.equal([
      '/v1/messages',
      '/v1/messages',
      '/v1/messages',
      '/v1/messages',
      '/a/v1/messages',
    ]);
  });

  it('sends what a function returns as a token, but a key of Anthropic as a key', async () => {
    await modelWith({ apiKey: () => 'token' }).call(new Prompt('hi'));
    await modelWith({ apiKey: () => 'sk-ant-api03-x' }).call(new Prompt('hi'));

    const [token, key] = server.exchanges.map(({ headers }) => headers);
    expect(token).to.include({ authorization: 'Bearer token' });
    expect(token).to.not.have.property('x-api-key');
    expect(key).to.include({ 'x-api-key': 'sk-ant-api03-x' });
    expect(key).to.not.have.property('authorization');
  });

  it('sends headers such as betas', async () => {
    const headers = {
      'anthropic-beta': 'context-1m-2025-08-07',
      'anthropic-version': '2024-01-01',
    };
    await modelWith({ headers }).call(new Prompt('hi'));

    expect(server.exchanges[0]?.headers).to.include(headers);
  });

  it('marks what the provider caches', async () => {
    const model = modelWith({ promptCache: { messages: '5m' } });

    await model.call(new Prompt('hi'));

    await model.call(new Prompt('hi', { promptCache: {} }));

    expect(server.exchanges[0]?.body['messages']).to.deep.equal([
      { role: 'user', content: [{ ...text('hi'), cache_control: { type: 'ephemeral', ttl: '5m' } }] },
    ]);
    expect(server.exchanges[1]?.body['messages']).to.deep.equal([
      { role: 'user', content: [text('hi')] },
    ]);
  }); // prettier-ignore

  it('checks its options', () => {
    expect(() => modelWith({ model: undefined as never })).to.throw(
      'AnthropicChatModel: model must be a non-blank string',
    );
    expect(() => modelWith({ promptCache: { tools: '2h' as never } })).to.throw(
      InvalidArgumentError,
      "AnthropicChatModel: promptCache must be an object with tools, system or messages, each '5m' or '1h'",
    );
    expect(() => modelWith({ promptCache: 'all' as never })).to.throw(/an object with/);
  });

  describe('without a key in the environment', () => {
    withoutVariable('ANTHROPIC_API_KEY');

    it('needs one for the API of Anthropic alone', () => {
      expect(() => new AnthropicChatModel({ model: 'm' })).to.throw(
        InvalidArgumentError,
        'AnthropicChatModel: give apiKey (or set ANTHROPIC_API_KEY)',
      );
      expect(modelWith({ apiKey: undefined }).provider.name).to.equal('anthropic');
    });
  });

  it('is asked for a schema that the API can enforce, else by text', async () => {
    answer = (exchange) => sendJson(exchange, message([text('{"a":1}')]));
    const client = ChatClient.create(modelWith());
    const closed = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };

    expect(await client.prompt('hi').call().entity(closed)).to.deep.equal({ a: 1 });
    await client.prompt('hi').call().entity({ type: 'object' });

    const [native, described] = server.exchanges.map(({ body }) => body);
    expect(native?.['output_config']).to.deep.equal({
      format: { type: 'json_schema', schema: { ...closed, additionalProperties: false } },
    });
    expect(described).to.not.have.property('output_config');
  });

  it('describes a schema that the model rejects', async () => {
    answer = (exchange) =>
      'output_config' in exchange.body
        ? sendJson(exchange, { type: 'error', error: { type: 'invalid_request_error', message: 'output_config.format: Extra inputs are not permitted' } }, 400)
        : sendJson(exchange, message([text('{"a":1}')]));
    const schema = { type: 'object', properties: { a: { type: 'integer' } } };

    const entity = await ChatClient.create(modelWith()).prompt('hi').call().entity(schema);

    expect(entity).to.deep.equal({ a: 1 });
    expect(server.exchanges).to.have.lengthOf(2);
  }); // prettier-ignore

  it('returns the blocks of an answer in the loop, and the results after them', async () => {
    const thinking = { type: 'thinking', thinking: 'Hmm.', signature: 'c2ln' };
    const use = { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1 } };
    const answers = [message([thinking, text('Wait.'), use], 'tool_use'), message([text('2')])];
    answer = (exchange) => sendEvents(exchange, eventsOf(answers[exchange.index] ?? {}));
    const add = defineTool({
      name: 'add',
      description: 'Adds one.',
      input: { type: 'object', properties: { a: { type: 'integer' } } },
      execute: ({ a }) => Number(a) + 1,
    });

    const response = await ChatClient.create(modelWith())
      .prompt('add')
      .tools(add)
      .stream()
      .finalResponse();

    expect(response.text).to.equal('2');
    expect(server.exchanges[1]?.body['messages']).to.deep.equal([
      { role: 'user', content: [text('add')] },
      { role: 'assistant', content: [thinking, text('Wait.'), use] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '2' }],
      },
    ]);
  });

  it('continues an answer that the provider has paused', async () => {
    const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
    const answers = [message([text('I look.'), search], 'pause_turn'), message([text('Found.')])];
    answer = (exchange) => sendJson(exchange, answers[exchange.index]);
    const client = ChatClient.create(modelWith());
    const question = { role: 'user', content: 'find' } as const;

    const paused = await client.prompt().messages(question).call().chatResponse();
    const response = await client.prompt().messages(question, paused.message).call().chatResponse();

    expect(paused.finishReason).to.equal('pause_turn');
    expect(response.text).to.equal('Found.');
    expect(server.exchanges[1]?.body['messages']).to.deep.equal([
      { role: 'user', content: [text('find')] },
      { role: 'assistant', content: [text('I look.'), search] },
    ]);
  });

  const uses: Readonly<Record<string, () => Promise<unknown>>> = {
    call: () => modelWith().call(new Prompt('hi')),
    stream: () => lastOf(modelWith().stream(new Prompt('hi'))),
  };
  for (const [mode, use] of Object.entries(uses)) {
    it(`rejects a ${mode} with the message of the provider`, async () => {
      answer = (exchange) =>
        sendJson(exchange, { type: 'error', error: { type: 'not_found_error', message: 'model: x' } }, 404);

      expect(await failureOf(use())).to.include({
        status: 404,
        providerCode: 'not_found_error',
        providerMessage: 'model: x',
        retryable: false,
      });
    }); // prettier-ignore

    for (const type of ['overloaded_error', 'api_error', 'timeout_error'])
      it(`rejects a ${mode} for ${type} inside of a stream, which may be retried`, async () => {
        answer = (exchange) => {
          beginEvents(exchange);
          const begun = eventsOf(message([text('Hello')])).slice(0, 4);
          for (const event of begun)
            exchange.response.write(`event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`);
          const error = { type: 'error', error: { type, message: 'Try later' } };
          exchange.response.end(`event: error\ndata: ${JSON.stringify(error)}\n\n`);
        };

        const failure = await failureOf(use());
        expect(failure).to.be.instanceOf(ModelCallError);
        expect(failure).to.include({
          providerCode: type,
          providerMessage: 'Try later',
          partialText: 'He',
          retryable: true,
        });
      }); // prettier-ignore

    it(`rejects a ${mode} whose stream is cut after each of its events`, async () => {
      const events = eventsOf(message([text('Hello')]));
      for (let count = 0; count < events.length - 2; count++) {
        answer = (exchange) => sendEvents(exchange, events.slice(0, count));

        expect(await failureOf(use()), `${count} events`).to.be.instanceOf(IncompleteResponseError);
      }
    });

    it(`ends a ${mode} with message_stop, though the connection stays open`, async () => {
      answer = (exchange) => {
        beginEvents(exchange);
        for (const event of eventsOf(message([text('Hello')])))
          exchange.response.write(`data: ${JSON.stringify(event)}\n\n`);
      };

      expect(await use()).to.include({ text: 'Hello' });
    });

    it(`rejects a ${mode} that another API answers`, async () => {
      answer = (exchange) => sendJson(exchange, { choices: [{ message: { content: 'a' } }] });

      expect(await failureOf(use()))
        .to.have.property('message')
        .that.matches(/base URL/);
    });
  }
});
