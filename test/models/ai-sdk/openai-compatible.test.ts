import { inspect } from 'node:util';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { expect } from 'chai';
import {
  CancelledError,
  ChatClient,
  defineTool,
  IncompleteResponseError,
  ModelCallError,
  Prompt,
} from '../../../src/index.js';
import { AiSdkChatModel } from '../../../src/models/ai-sdk/index.js';
import { lastOf } from '../../support/recording-replay.js';
import {
  beginEvents,
  chunk,
  completion,
  sendEvent,
  sendEvents,
  sendJson,
  sendText,
  whenClosed,
  WireServer,
  type Exchange,
} from '../../support/wire-server.js';

const PROMPT = new Prompt('hi');
/** No key of any provider has this form. */
const KEY = 'quite ordinary words';
const WEATHER = defineTool({
  name: 'weather',
  description: 'Weather',
  input: { type: 'object', properties: { city: { type: 'string' } } },
  execute: () => 'sun',
});

describe('AiSdkChatModel with a provider over HTTP', () => {
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;

  beforeEach(async () => (server = await WireServer.start((exchange) => answer(exchange))));
  afterEach(() => server.close());

  function bridge(maxRetries = 0): AiSdkChatModel {
    const provider = createOpenAICompatible({
      name: 'local',
      baseURL: server.baseURL,
      apiKey: KEY,
      includeUsage: true,
    });
    return new AiSdkChatModel({ model: provider('m'), maxRetries });
  }

  const modes = {
    call: () => bridge().call(PROMPT),
    stream: () => lastOf(bridge().stream(PROMPT)),
  };

  async function errorOf(promise: Promise<unknown>): Promise<Error> {
    return promise.then(
      () => expect.fail('answered'),
      (error: unknown) => error as Error,
    );
  }

  it('answers call and stream alike', async () => {
    answer = (exchange) =>
      exchange.body['stream']
        ? sendText(exchange, 'Hello')
        : sendJson(exchange, completion('Hello'));

    const [called, streamed] = await Promise.all([modes.call(), modes.stream()]);

    expect(called.text).to.equal('Hello');
    expect(streamed.message).to.deep.equal(called.message);
    expect(streamed.finishReason).to.equal(called.finishReason);
  });

  it('runs the tool loop of a chain', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } };
    answer = (exchange) =>
      exchange.index === 0
        ? sendEvents(exchange, [
            chunk({ tool_calls: [{ index: 0, ...call }] }, 'tool_calls'),
            '[DONE]',
          ])
        : sendText(exchange, 'It is sunny.');
    const client = ChatClient.builder(bridge()).defaultTools(WEATHER).build();

    const texts: string[] = [];
    for await (const text of client.prompt('Weather?').stream()) texts.push(text);

    expect(texts.join('')).to.equal('It is sunny.');
    expect(server.exchanges[1]?.body['messages']).to.deep.equal([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'sun' },
    ]);
  });

  for (const [mode, run] of Object.entries(modes)) {
    it(`reports an error of a ${mode} with status and message, and no key`, async () => {
      answer = (exchange) =>
        sendJson(exchange, { error: { message: `no access with ${KEY}`, type: 'auth' } }, 401);

      const error = await errorOf(run());

      expect(error).to.be.instanceOf(ModelCallError);
      expect(error).to.include({
        status: 401,
        providerMessage: 'no access with ***',
        providerCode: 'auth',
        retryable: false,
      });
      expect(`${error.stack}${String(error.cause)}${JSON.stringify(error)}`).not.to.include(KEY);
    });

    it(`reports a server that cannot be reached by a ${mode}`, async () => {
      answer = ({ socket }) => socket.destroy();

      const error = await errorOf(run());

      expect(error)
        .to.be.instanceOf(ModelCallError)
        .and.match(/could not be reached/);
      expect(error).to.include({ retryable: true });
    });
  }

  it('shows no key of the headers of a request', async () => {
    answer = (exchange) =>
      sendJson(exchange, { error: { message: `no access with ${KEY}`, type: 'auth' } }, 401);
    const prompt = new Prompt('hi', { extraBody: { headers: { 'x-tenant-key': KEY } } });
    const provider = createOpenAICompatible({ name: 'local', baseURL: server.baseURL });
    const model = new AiSdkChatModel({ model: provider('m') });

    const error = await errorOf(model.call(prompt));

    expect(error).to.include({ status: 401, providerMessage: 'no access with ***' });
    expect(inspect(error, { depth: 9 })).not.to.include(KEY);
  });

  it('sends a request again as the server asks for it', async () => {
    answer = (exchange) =>
      exchange.index === 0
        ? sendJson(exchange, { error: { message: 'busy' } }, 429, { 'retry-after-ms': '0' })
        : sendJson(exchange, completion('Hello'));

    expect((await bridge(1).call(PROMPT)).text).to.equal('Hello');
    expect(server.exchanges).to.have.length(2);
  });

  it('rejects a call whose body is cut, and does not send it again', async () => {
    const text = JSON.stringify(completion('Hello'));
    answer = ({ response }) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(text.slice(0, 60));

    const error = await errorOf(bridge(2).call(PROMPT));

    expect(error).to.be.instanceOf(IncompleteResponseError);
    expect(server.exchanges).to.have.length(1);
  });

  for (const [title, cut] of Object.entries({
    'ends early': ({ response }: Exchange) => response.end(),
    'breaks off': ({ socket }: Exchange) => socket.destroySoon(),
  }))
    it(`rejects a stream that ${title}, with the text so far`, async () => {
      answer = (exchange) => {
        beginEvents(exchange);
        sendEvent(exchange, chunk({ content: 'Hel' }));
        cut(exchange);
      };

      const error = await errorOf(modes.stream());

      expect(error).to.be.instanceOf(IncompleteResponseError);
      expect(error).to.include({ partialText: 'Hel', retryable: true });
    });

  it('rejects with an error that the server sends within a stream', async () => {
    answer = (exchange) =>
      sendEvents(exchange, [chunk({ content: 'Hel' }), { error: { message: 'too busy' } }]);

    const error = await errorOf(modes.stream());

    expect(error).to.be.instanceOf(ModelCallError);
    expect(error.message).to.include('too busy');
    expect(error).to.include({ partialText: 'Hel' });
  });

  it('has neither the prompt nor the answer in the error for an answer that is none', async () => {
    answer = (exchange) => sendJson(exchange, { answer: 'the answer '.repeat(1_000) });

    const error = await errorOf(bridge().call(new Prompt('the prompt')));

    expect(error)
      .to.be.instanceOf(ModelCallError)
      .and.match(/Invalid JSON response/);
    expect(error.message).to.have.length.below(400);
    expect(inspect(error, { depth: 9 })).not.to.include('the prompt');
  });

  it('closes the connection of a run that is cancelled', async () => {
    answer = (exchange) => {
      beginEvents(exchange);
      sendEvent(exchange, chunk({ content: 'Hel' }));
    };
    const controller = new AbortController();

    const error = errorOf(
      lastOf(bridge().stream(PROMPT, { signal: controller.signal }), () => controller.abort()),
    );
    const { socket } = await server.nextExchange(1);

    expect(await error).to.be.instanceOf(CancelledError);
    await whenClosed(socket, 0);
  });
});
