import { expect } from 'chai';
import { z } from 'zod';
import {
  ChatClient,
  defineTool,
  IncompleteResponseError,
  InvalidArgumentError,
  ModelCallError,
  Prompt,
  StructuredOutputError,
  type Message,
} from '../../../src/index.js';
import { decodeMessage, encodeMessage } from '../../../src/core/chat/message-codec.js';
import { GoogleChatModel, type GoogleChatModelOptions } from '../../../src/models/google/index.js';
import { MODES, runSpec } from '../../support/modes.js';
import { sendEvents, sendJson, WireServer, type Exchange } from '../../support/wire-server.js';
import { withoutVariable } from '../../support/without-variable.js';

const part = (fields: object, finishReason?: string): object => ({
  candidates: [{ content: { role: 'model', parts: [fields] }, finishReason }],
});
const pathsOf = (server: WireServer): (string | undefined)[] =>
  server.exchanges.map(({ response }) => response.req.url);

describe('GoogleChatModel', () => {
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;

  beforeEach(async () => {
    answer = (exchange) => reply(exchange, [part({ text: 'Hello' }, 'STOP')]);
    server = await WireServer.start((exchange) => answer(exchange));
  });
  afterEach(() => server.close());
  withoutVariable('GOOGLE_API_KEY');
  withoutVariable('GEMINI_API_KEY');
  withoutVariable('GOOGLE_GEMINI_BASE_URL');

  /** Answers a stream with events, a call with the first of them. */
  function reply(exchange: Exchange, events: readonly object[]): void {
    if (exchange.response.req.url?.includes(':stream')) sendEvents(exchange, events);
    else sendJson(exchange, events[0]);
  }

  const modelWith = (options: Partial<GoogleChatModelOptions> = {}): GoogleChatModel =>
    new GoogleChatModel({
      model: 'gemini-2.5-flash',
      apiKey: 'AIza-test',
      baseURL: new URL(server.baseURL).origin,
      maxRetries: 0,
      ...options,
    });
  const errorOf = (model: GoogleChatModel): Promise<unknown> =>
    model.call(new Prompt('hi')).catch((error: unknown) => error);

  for (const mode of MODES)
    it(`sends a prompt with the key and returns the answer (${mode})`, async () => {
      const { chatResponse } = await runSpec(mode, ChatClient.create(modelWith()).prompt('hi'));

      expect(chatResponse?.text).to.equal('Hello');
      const method = mode === 'call' ? 'generateContent' : 'streamGenerateContent?alt=sse';
      expect(pathsOf(server)).to.deep.equal([`/v1beta/models/gemini-2.5-flash:${method}`]);
      expect(server.exchanges[0]?.headers).to.include({ 'x-goog-api-key': 'AIza-test' });
      expect(server.exchanges[0]?.headers).to.not.have.property('authorization');
      expect(server.exchanges[0]?.body).to.deep.equal({
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      });
    });

  const addresses: readonly (readonly [base: string, model: string, path: string])[] = [
    ['/v1', 'm', '/v1/models/m'],
    ['/v1alpha/', 'm', '/v1alpha/models/m'],
    ['/gateway', 'm', '/gateway/v1beta/models/m'],
    ['/proxy/v1beta1/projects/p/locations/l/publishers/google', 'm', '/proxy/v1beta1/projects/p/locations/l/publishers/google/models/m'], // prettier-ignore
    ['', 'tunedModels/mine', '/v1beta/tunedModels/mine'],
    ['', 'a b?c', '/v1beta/models/a%20b%3Fc'],
  ];
  for (const [base, model, path] of addresses)
    it(`asks ${model} at ${path} for the base URL ${base || 'without a path'}`, async () => {
      const baseURL = new URL(server.baseURL).origin + base;

      await modelWith({ baseURL }).call(new Prompt('hi', { model }));

      expect(pathsOf(server)).to.deep.equal([`${path}:generateContent`]);
    });

  it('sends the token of a function as authorization', async () => {
    await modelWith({ apiKey: async () => 'ya29' }).call(new Prompt('hi'));

    expect(server.exchanges[0]?.headers).to.include({ authorization: 'Bearer ya29' });
    expect(server.exchanges[0]?.headers).to.not.have.property('x-goog-api-key');
  });

  for (const host of ['europe-west1-aiplatform.googleapis.com', 'aiplatform.eu.rep.googleapis.com'])
    it(`sends a key as authorization to Vertex AI at ${host}, and labels`, async () => {
      const sent: (readonly [url: string, init: RequestInit | undefined])[] = [];
      const fetch: typeof globalThis.fetch = (url, init) => {
        sent.push([url as string, init]);
        return Promise.resolve(Response.json(part({ text: 'a' }, 'STOP')));
      };
      const baseURL = `https://${host}/v1/projects/p/locations/l/publishers/google`;

      await modelWith({ baseURL, fetch, metadata: { team: 'a' } }).call(new Prompt('hi'));

      const [url, init] = sent[0] ?? [];
      expect(url).to.equal(`${baseURL}/models/gemini-2.5-flash:generateContent`);
      expect(new Headers(init?.headers).get('authorization')).to.equal('Bearer AIza-test');
      expect(JSON.parse(init?.body as string)).to.deep.include({ labels: { team: 'a' } });
    });

  it('names the provider', () => {
    const vertex = modelWith({ baseURL: 'https://us-central1-aiplatform.googleapis.com/v1' });

    expect(vertex.provider.name).to.equal('gcp.vertex_ai');
    expect(modelWith().provider.name).to.equal('gcp.gemini');
  });

  it('needs a model and a key, which the environment may have', () => {
    const noModel = {} as GoogleChatModelOptions;

    expect(() => new GoogleChatModel(noModel)).to.throw(
      InvalidArgumentError,
      'GoogleChatModel: model must be a non-blank string',
    );
    expect(() => new GoogleChatModel({ model: 'm' })).to.throw(
      InvalidArgumentError,
      'GOOGLE_API_KEY',
    );
    process.env['GEMINI_API_KEY'] = 'k';
    expect(new GoogleChatModel({ model: 'm' }).provider.address).to.equal(
      'generativelanguage.googleapis.com',
    );
  });

  for (const mode of MODES)
    it(`returns signatures and ids with the results of tools, also from a store (${mode})`, async () => {
      const parts = [
        { thought: true, text: 'hm' },
        { functionCall: { id: 'g1', name: 'add', args: { a: 1 } }, thoughtSignature: 's1' },
        { functionCall: { id: 'g2', name: 'add', args: { a: 2 } } },
        { text: '', thoughtSignature: 's2' },
      ];
      const calls = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
      answer = (exchange) =>
        reply(exchange, exchange.index === 0 ? [calls] : [part({ text: 'so' }, 'STOP')]);
      const add = defineTool({
        name: 'add',
        input: z.object({ a: z.number() }),
        execute: ({ a }) => `${a + 1}`,
      });
      const client = ChatClient.create(modelWith({ model: 'gemini-3-pro-preview' }));

      await runSpec(mode, client.prompt('1').tools(add));

      const contents = server.exchanges[1]?.body['contents'] as readonly { parts: unknown }[];
      expect(contents.map((content) => content.parts)).to.deep.equal([
        [{ text: '1' }],
        parts,
        [
          { functionResponse: { id: 'g1', name: 'add', response: { output: '2' } } },
          { functionResponse: { id: 'g2', name: 'add', response: { output: '3' } } },
        ],
      ]);
    });

  it('returns the parts of an answer that a store has kept', async () => {
    const parts = [
      { text: 'hm', thought: true },
      { text: 'a', thoughtSignature: 's' },
    ];
    answer = (exchange) =>
      reply(exchange, [{ candidates: [{ content: { parts }, finishReason: 'STOP' }] }]);
    const model = modelWith();
    const question: Message = { role: 'user', content: '1' };

    const { message } = await model.call(new Prompt([question]));
    const kept = decodeMessage(encodeMessage(message));
    await model.call(new Prompt([question, kept, { role: 'user', content: '2' }]));

    expect(server.exchanges[1]?.body).to.have.deep.nested.property('contents[1].parts', parts);
  });

  it('enforces a schema natively, and describes it for a model that rejects that beside tools', async () => {
    const City = z.object({ city: z.string() });
    answer = (exchange) =>
      exchange.index === 1
        ? sendJson(
            exchange,
            {
              error: {
                code: 400,
                message:
                  "Function calling with a response mime type: 'application/json' is unsupported",
                status: 'INVALID_ARGUMENT',
              },
            },
            400,
          )
        : reply(exchange, [part({ text: '{"city":"Rome"}' }, 'STOP')]);
    const client = ChatClient.create(modelWith());
    const tool = defineTool({ name: 'f', execute: () => 1 });

    const native = await client.prompt('?').call().entity(City);
    const described = await client.prompt('?').tools(tool).call().entity(City);

    expect([native, described]).to.deep.equal([{ city: 'Rome' }, { city: 'Rome' }]);
    const formats = server.exchanges.map(({ body }) => 'generationConfig' in body);
    expect(formats).to.deep.equal([true, true, false]);
    expect(JSON.stringify(server.exchanges[2]?.body['contents'])).to.include('JSON Schema');
  });

  it('reports a withheld answer as a refusal of an entity', async () => {
    answer = (exchange) => reply(exchange, [{ promptFeedback: { blockReason: 'SAFETY' } }]);
    const client = ChatClient.create(modelWith());

    const error: unknown = await client
      .prompt('?')
      .call()
      .entity(z.object({}))
      .catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(StructuredOutputError).and.to.include({ reason: 'refusal' });
  });

  const quota = {
    error: {
      code: 429,
      message: 'You exceeded your current quota',
      status: 'RESOURCE_EXHAUSTED',
      details: [
        { '@type': 'type.googleapis.com/google.rpc.Help' },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '48.5s' },
      ],
    },
  };
  for (const body of [quota, [quota]])
    it(`has the delay of an error ${Array.isArray(body) ? 'in a list' : 'by itself'}`, async () => {
      answer = (exchange) => sendJson(exchange, body, 429);

      expect(await errorOf(modelWith()))
        .to.be.instanceOf(ModelCallError)
        .and.to.include({
          status: 429,
          providerMessage: 'You exceeded your current quota',
          retryable: true,
          retryAfter: 48_500,
        });
    });

  for (const retryDelay of ['soon', '-1s', 3, undefined])
    it(`has no delay for ${String(retryDelay)}, but takes the header's`, async () => {
      const error = { code: 429, details: [null, { retryDelay }] };
      answer = (exchange) =>
        sendJson(exchange, { error }, 429, exchange.index === 0 ? {} : { 'retry-after': '2' });

      expect(await errorOf(modelWith())).to.include({ retryAfter: undefined });
      expect(await errorOf(modelWith())).to.include({ retryAfter: 2_000 });
    });

  it('has the delay of an error that is reported with status 200', async () => {
    answer = (exchange) => sendJson(exchange, [part({ text: 'a' }), quota]);

    expect(await errorOf(modelWith())).to.include({ status: 429, retryAfter: 48_500 });
  });

  const streams: readonly (readonly [
    title: string,
    events: readonly object[],
    expected: object,
  ])[] = [
    [
      'an error inside',
      [part({ text: 'a' }), { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }],
      { name: 'ModelCallError', status: 503, partialText: 'a', retryable: true },
    ],
    [
      'no finish reason',
      [part({ text: 'a' })],
      { name: 'IncompleteResponseError', partialText: 'a' },
    ],
  ];
  for (const [title, events, expected] of streams)
    it(`rejects a stream with ${title}`, async () => {
      answer = (exchange) => reply(exchange, events);
      const spec = ChatClient.create(modelWith()).prompt('hi');

      const error: unknown = await runSpec('stream', spec).catch((reason: unknown) => reason);

      expect(error).to.include(expected);
    });

  it('rejects a list of events that is cut off', async () => {
    answer = ({ response }) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(`[${JSON.stringify(part({ text: 'a' }))},\n{"candidates": [`);

    expect(await errorOf(modelWith())).to.be.instanceOf(IncompleteResponseError);
  });
});
