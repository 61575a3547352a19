import { expect } from 'chai';
import OpenAI, { AzureOpenAI } from 'openai';
import {
  ChatClient,
  InvalidArgumentError,
  Prompt,
  type ChatEvent,
  type ChatOptions,
} from '../../../src/index.js';
import { OpenAIChatModel, type OpenAIChatModelOptions } from '../../../src/models/openai/index.js';
import { lastOf } from '../../support/recording-replay.js';
import {
  chunk,
  completion,
  sendEvents,
  sendJson,
  WireServer,
  type Exchange,
} from '../../support/wire-server.js';
import { withoutVariable } from '../../support/without-variable.js';

const RATE_LIMITS = {
  'x-ratelimit-limit-requests': '10',
  'x-ratelimit-remaining-requests': '9',
  'x-ratelimit-reset-requests': '6m0s',
  'x-ratelimit-limit-tokens': 'many',
  'x-ratelimit-remaining-tokens': '',
};

describe('OpenAIChatModel', () => {
  let server: WireServer;
  let paths: string[];

  const reply = (exchange: Exchange): void => {
    paths.push(exchange.response.req.url ?? '');
    for (const [name, value] of Object.entries(RATE_LIMITS))
      exchange.response.setHeader(name, value);
    if (exchange.body['stream'])
      sendEvents(exchange, [
        { choices: [], prompt_filter_results: [{}] },
        chunk({ content: 'Hel' }),
        chunk({ content: 'lo' }, 'stop'),
        '[DONE]',
      ]);
    else sendJson(exchange, completion('Hello'));
  };

  beforeEach(async () => {
    paths = [];
    server = await WireServer.start(reply);
  });
  afterEach(() => server.close());

  function modelWith(options: Partial<OpenAIChatModelOptions> = {}): OpenAIChatModel {
    return new OpenAIChatModel({
      model: 'm',
      apiKey: 'sk-test',
      baseURL: server.baseURL,
      maxRetries: 0,
      ...options,
    });
  }

  /** The body of the request for a prompt. */
  async function bodyOf(model: OpenAIChatModel, options: ChatOptions = {}): Promise<unknown> {
    await model.call(new Prompt('hi', options));
    return server.exchanges.at(-1)?.body;
  }

  it('returns the response of a call', async () => {
    const response = await modelWith().call(new Prompt('hi'));

    expect(response).to.include({ text: 'Hello', finishReason: 'stop', id: 'c1', model: 'm' });
    expect(server.exchanges[0]?.body).to.deep.equal({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(server.exchanges[0]?.headers.authorization).to.equal('Bearer sk-test');
    expect(paths).to.deep.equal(['/v1/chat/completions']);
  });

  it('streams deltas and then one response', async () => {
    const events: ChatEvent[] = [];

    const response = await lastOf(modelWith().stream(new Prompt('hi')), (event) =>
      events.push(event),
    );

    expect(response).to.include({ text: 'Hello', finishReason: 'stop' });
    expect(
      events.map((event) => (event.type === 'text-delta' ? event.text : event.type)),
    ).to.deep.equal(['Hel', 'lo', 'response']);
    expect(server.exchanges[0]?.body).to.deep.include({
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('requests no usage of streams with streamUsage false', async () => {
    await lastOf(modelWith({ streamUsage: false }).stream(new Prompt('hi')));

    expect(server.exchanges[0]?.body).to.not.have.property('stream_options');
  });

  it('has the rate limits of a call and of a stream, without counts that are not numbers', async () => {
    const called = await modelWith().call(new Prompt('hi'));
    const streamed = await lastOf(modelWith().stream(new Prompt('hi')));

    expect(called.rateLimit).to.deep.equal({
      requestsLimit: 10,
      requestsRemaining: 9,
      requestsReset: '6m0s',
    });
    expect(streamed.rateLimit).to.deep.equal(called.rateLimit);
  });

  it('merges its own options with the options of a prompt', async () => {
    const model = modelWith({ temperature: 0, seed: 1, stopSequences: ['a'], extraBody: { x: 1 } });

    expect(
      await bodyOf(model, { temperature: 1, stopSequences: ['b'], extraBody: { y: 2 } }),
    ).to.deep.include({
      model: 'm',
      temperature: 1,
      seed: 1,
      stop: ['a', 'b'],
      x: 1,
      y: 2,
    });
    expect(model.defaultOptions).to.deep.equal({
      model: 'm',
      temperature: 0,
      seed: 1,
      stopSequences: ['a'],
      extraBody: { x: 1 },
    });
  });

  it('sends prompts with the same options in the same way', async () => {
    const model = modelWith();
    const options: ChatOptions = {
      temperature: 1,
      toolChoice: 'required',
      tools: [{ definition: { name: 'f', description: 'd', inputSchema: {} } }],
    };

    expect(await bodyOf(model, options)).to.deep.equal(await bodyOf(model, options));
    expect(await bodyOf(model, { temperature: 2 })).to.deep.equal({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      temperature: 2,
    });
  });

  it('works with a client for Azure, which has the model in its address', async () => {
    const endpoint = server.baseURL.replace('/v1', '');
    const client = new AzureOpenAI({
      apiKey: 'azure-key',
      endpoint,
      deployment: 'my-deployment',
      apiVersion: '2024-10-21',
    });
    const model = new OpenAIChatModel({ client });

    expect((await model.call(new Prompt('hi'))).text).to.equal('Hello');
    expect((await lastOf(model.stream(new Prompt('hi')))).text).to.equal('Hello');
    expect(paths[0]).to.equal(
      '/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21',
    );
    expect(server.exchanges[0]?.body).to.not.have.property('model');
    expect(server.exchanges[0]?.headers).to.include({ 'api-key': 'azure-key' });
  });

  it('works with a ready client and its headers', async () => {
    const client = new OpenAI({
      apiKey: 'sk-own',
      baseURL: server.baseURL,
      defaultHeaders: { 'x-team': 'blue' },
    });

    await new OpenAIChatModel({ model: 'm', client }).call(new Prompt('hi'));

    expect(server.exchanges[0]?.headers).to.include({
      authorization: 'Bearer sk-own',
      'x-team': 'blue',
    });
  });

  it('serves a chat client', async () => {
    expect(await ChatClient.create(modelWith()).prompt('hi').call().content()).to.equal('Hello');
  });

  describe('apiKey', () => {
    const name = 'OPENAI_API_KEY';
    withoutVariable(name);

    it('is read from the environment', async () => {
      process.env[name] = 'sk-from-env';

      await new OpenAIChatModel({ model: 'm', baseURL: server.baseURL }).call(new Prompt('hi'));

      expect(server.exchanges[0]?.headers.authorization).to.equal('Bearer sk-from-env');
    });

    it('is not needed with a base URL', async () => {
      expect(
        (await new OpenAIChatModel({ model: 'm', baseURL: server.baseURL }).call(new Prompt('hi')))
          .text,
      ).to.equal('Hello');
    });

    it('[D93] may have tools of its own, by its type, too', async () => {
      const inputSchema = { type: 'object' };
      const tools = [{ definition: { name: 'f', description: 'F.', inputSchema } }];
      const model = new OpenAIChatModel({ model: 'm', baseURL: server.baseURL, tools });

      await model.call(new Prompt('hi'));

      expect(server.exchanges[0]?.body).to.have.property('tools').of.length(1);
    });

    it('is required without a base URL', () => {
      expect(() => new OpenAIChatModel({ model: 'm' })).to.throw(
        InvalidArgumentError,
        'OPENAI_API_KEY',
      );
    });
  });

  const rejected: readonly (readonly [title: string, options: object, message: string])[] = [
    ['no model', { apiKey: 'sk-test' }, 'name of a model'],
    [
      'an unknown option',
      { model: 'm', temprature: 1 },
      'there is no option `temprature`; did you mean `temperature`?',
    ],
    ['an option out of range', { model: 'm', topP: 2 }, 'topP must be a number from 0 to 1, not 2'],
    [
      'a negative maxRetries',
      { model: 'm', maxRetries: -1 },
      'maxRetries must be an integer >= 0, not -1',
    ],
    [
      'a fractional maxRetries',
      { model: 'm', maxRetries: 1.5 },
      'maxRetries must be an integer >= 0, not 1.5',
    ],
    [
      'a timeout of 0',
      { model: 'm', timeout: 0 },
      'timeout must be a number of milliseconds > 0 and < 2 ** 31, or Infinity, not 0',
    ],
    [
      'an idleTimeout that is NaN',
      { model: 'm', idleTimeout: Number.NaN },
      'idleTimeout must be a number',
    ],
    [
      'a firstChunkTimeout below 0',
      { model: 'm', firstChunkTimeout: -1 },
      'firstChunkTimeout must be a number',
    ],
    ['a blank key', { model: 'm', apiKey: ' ' }, 'apiKey must be a non-blank string'],
    ['a key that is not a string', { model: 'm', apiKey: 5 }, 'apiKey must be a non-blank string'],
    [
      'a base URL without protocol',
      { model: 'm', baseURL: 'localhost:11434/v1' },
      'baseURL must be an address',
    ],
    ['an invalid base URL', { model: 'm', baseURL: 'v1' }, 'baseURL must be an address'],
    [
      'a base URL with credentials',
      { model: 'm', baseURL: 'http://a:b@127.0.0.1/v1' },
      'baseURL must be an address',
    ],
  ];
  for (const [title, options, message] of rejected) {
    it(`rejects ${title} with a message that names the rule`, () => {
      expect(
        () => new OpenAIChatModel({ apiKey: 'sk-test', ...options } as OpenAIChatModelOptions),
      ).to.throw(InvalidArgumentError, message);
    });
  }
});
