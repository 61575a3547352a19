import { expect } from 'chai';
import OpenAI from 'openai';
import {
  ModelCallError,
  ModelTimeoutError,
  Prompt,
  TimeoutAdvisor,
  ChatClient,
} from '../../../src/index.js';
import { decodeError, encodeError } from '../../../src/core/chat/error-codec.js';
import { OpenAIChatModel, OpenAIEmbeddingModel } from '../../../src/models/openai/index.js';
import { rejectionOf, streamFrom } from '../../support/wire-answers.js';
import { sendJson, WireServer, type Exchange } from '../../support/wire-server.js';

const KEY = 'canary-key-4711-abcdef';
const PROMPT = new Prompt('hi');
const REFUSAL = { error: { message: 'no' } };

describe('the request in errors of models', () => {
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;

  before(async () => {
    server = await WireServer.start((exchange) => answer(exchange));
  });
  beforeEach(() => {
    answer = (exchange) => sendJson(exchange, REFUSAL, 400);
  });
  after(() => server.close());

  const modelAt = (baseURL: string, more: object = {}): OpenAIChatModel =>
    new OpenAIChatModel({ model: 'gpt-x', apiKey: KEY, baseURL, maxRetries: 0, ...more });

  for (const name of [
    'x-request-id',
    'request-id',
    'x-amzn-requestid',
    'apim-request-id',
    'mistral-correlation-id',
    'x-debug-trace-id',
    'cf-ray',
  ])
    it(`have the id of the header ${name}`, async () => {
      answer = (exchange) => sendJson(exchange, REFUSAL, 400, { [name]: ' id-7 ' });

      expect(await rejectionOf(modelAt(server.baseURL).call(PROMPT))).to.include({
        requestId: 'id-7',
      });
    });

  it('prefer the id of the provider to the one of a network in front of it', async () => {
    const headers = { 'cf-ray': 'ray', 'x-request-id': 'req' };
    answer = (exchange) => sendJson(exchange, REFUSAL, 400, headers);

    const error = await rejectionOf(modelAt(server.baseURL).call(PROMPT));

    expect(error).to.have.property('requestId', 'req');
  });

  it('have no query and no credential, whatever shows them', async () => {
    answer = (exchange) => sendJson(exchange, REFUSAL, 400, { 'x-request-id': `of ${KEY}` });

    const error = (await rejectionOf(modelAt(server.baseURL).call(PROMPT))) as ModelCallError;
    const [unreachable, withQuery] = await Promise.all(
      [`http://127.0.0.1:1/${KEY}/v1`, 'http://127.0.0.1:1/v1?token=canary-token-4711#part'].map(
        (baseURL) => rejectionOf(modelAt(baseURL).call(PROMPT)) as Promise<ModelCallError>,
      ),
    );

    expect(error.requestId).to.equal('of ***');
    expect(unreachable?.url).to.equal('http://127.0.0.1:1/***/v1/chat/completions');
    expect(unreachable?.message).to.include('http://127.0.0.1:1/***/v1/chat/completions');
    expect(withQuery?.url).to.equal('http://127.0.0.1:1/v1');
    expect(JSON.stringify([error, unreachable, withQuery])).not.to.include('canary');
  });

  it('name the request that reached a time limit, in call and stream', async () => {
    answer = () => undefined;
    const { origin } = new URL(server.baseURL);
    const slow = modelAt(server.baseURL, { timeout: 20 });

    for (const error of [
      await rejectionOf(slow.call(PROMPT)),
      await rejectionOf(streamFrom(slow, PROMPT)),
    ])
      expect(error)
        .to.be.instanceOf(ModelTimeoutError)
        .and.include({ model: 'gpt-x', url: `${origin}/v1/chat/completions` });
  });

  it('leave the reason of a cancellation to its owner', async () => {
    answer = () => undefined;
    const client = ChatClient.builder(modelAt(server.baseURL))
      .defaultAdvisors(new TimeoutAdvisor({ iteration: 20 }))
      .build();

    const error = await rejectionOf(client.prompt('hi').call().content());

    expect(error).to.be.instanceOf(ModelTimeoutError).and.include({ url: undefined });
  });

  it('name the request of a client of the openai package', async () => {
    const client = new OpenAI({ apiKey: KEY, baseURL: `${server.baseURL}/` });
    const through = new OpenAIChatModel({ model: 'gpt-x', client, maxRetries: 0 });
    answer = (exchange) => sendJson(exchange, REFUSAL, 400, { 'x-request-id': 'req-1' });

    expect(await rejectionOf(through.call(PROMPT))).to.include({
      model: 'gpt-x',
      url: `${server.baseURL}/chat/completions`,
      requestId: 'req-1',
    });
  });

  it('name the request for embeddings', async () => {
    const { baseURL } = server;
    const model = new OpenAIEmbeddingModel({ model: 'e', apiKey: KEY, baseURL, maxRetries: 0 });

    const error = await rejectionOf(model.embed(['a']));

    expect(error).to.include({ model: 'e', url: `${baseURL}/embeddings` });
  });

  it('survive the journal of a durable turn and JSON', async () => {
    answer = (exchange) => sendJson(exchange, REFUSAL, 400, { 'x-request-id': 'req-1' });
    const origin = {
      model: 'gpt-x',
      url: `${server.baseURL}/chat/completions`,
      requestId: 'req-1',
    };

    const error = await rejectionOf(modelAt(server.baseURL).call(PROMPT));

    const encoded = JSON.parse(JSON.stringify(encodeError(error))) as ReturnType<
      typeof encodeError
    >;
    expect(decodeError(encoded)).to.be.instanceOf(ModelCallError).and.include(origin);
    expect(JSON.parse(JSON.stringify(error))).to.include(origin);
  });
});
