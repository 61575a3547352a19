import { inspect } from 'node:util';
import { expect } from 'chai';
import OpenAI, { AzureOpenAI } from 'openai';
import { ChatClient, InvalidArgumentError, Prompt } from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { secretsOf } from '../../../src/models/openai/client.js';
import { everythingIn } from '../../support/everything-in.js';
import { lastOf } from '../../support/recording-replay.js';
import {
  beginEvents,
  chunk,
  sendEvent,
  sendJson,
  WireServer,
  type Exchange,
} from '../../support/wire-server.js';

const KEY = 'canary-key-4711-abcdef';
const PROMPT = new Prompt('hi');

async function failuresOf(model: OpenAIChatModel): Promise<readonly unknown[]> {
  const called: unknown = await model.call(PROMPT).catch((error: unknown) => error);
  const streamed: unknown = await lastOf(model.stream(PROMPT)).catch((error: unknown) => error);
  return [called, streamed];
}

describe('secrets of a client', () => {
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;

  before(async () => {
    server = await WireServer.start((exchange) => answer(exchange));
  });
  after(() => server.close());

  const atLimit: Readonly<Record<string, readonly [status: number, type: string, body: string]>> = {
    'a truncated page': [500, 'text/html', `<p>${'x'.repeat(475)}${KEY}</p>`],
    'a truncated JSON error': [
      500,
      'application/json',
      JSON.stringify({ detail: [`${'x'.repeat(460)}${KEY}`] }),
    ],
    'a content type': [200, `text/${KEY}`, '<html></html>'],
  };
  for (const [title, [status, type, body]] of Object.entries(atLimit))
    it(`[F93] do not appear in part in the error when the server echoes the key in ${title}`, async () => {
      answer = ({ response }) => response.writeHead(status, { 'content-type': type }).end(body);
      const model = new OpenAIChatModel({
        model: 'm',
        apiKey: KEY,
        baseURL: server.baseURL,
        maxRetries: 0,
      });

      for (const error of await failuresOf(model))
        expect(everythingIn(error)).to.not.include(KEY.slice(0, 12));
    });

  const failures: readonly (readonly [title: string, answer: (exchange: Exchange) => unknown])[] = [
    [
      'an error message',
      (exchange) =>
        sendJson(
          exchange,
          { error: { message: `Incorrect API key: ${KEY}`, code: KEY, type: KEY } },
          401,
        ),
    ],
    ['a detail', (exchange) => sendJson(exchange, { detail: [{ key: KEY }] }, 422)],
    [
      'a header',
      (exchange) =>
        sendJson(exchange, { error: { message: 'no' } }, 401, { 'x-echo': `Bearer ${KEY}` }),
    ],
    [
      'a page',
      ({ response }) =>
        response.writeHead(502, { 'content-type': 'text/html' }).end(`<h1>${KEY}</h1>`),
    ],
    [
      'a page with status 200',
      ({ response }) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>${KEY}</h1>`),
    ],
    [
      'a text with status 200',
      ({ response }) => response.writeHead(200, { 'content-type': `text/plain` }).end(KEY),
    ],
    [
      'an error with status 200',
      (exchange) => sendJson(exchange, { error: { message: KEY, code: KEY } }),
    ],
    [
      'an error in a stream',
      (exchange) => {
        beginEvents(exchange);
        sendEvent(exchange, chunk({ content: `the key is ${KEY}` }));
        sendEvent(exchange, { error: { message: KEY } });
        exchange.response.end();
      },
    ],
    [
      'an event that is not JSON',
      (exchange) => {
        beginEvents(exchange);
        sendEvent(exchange, KEY);
        exchange.response.end();
      },
    ],
    [
      'a text that is cut off',
      (exchange) => {
        beginEvents(exchange);
        sendEvent(exchange, chunk({ content: `the key is ${KEY}` }));
        exchange.response.end();
      },
    ],
    ['a hang-up', ({ socket }) => socket.destroy()],
  ];
  for (const [title, how] of failures) {
    it(`[F93] do not appear in the error when the server echoes the key in ${title}`, async () => {
      answer = how;
      const model = new OpenAIChatModel({
        model: 'm',
        apiKey: KEY,
        baseURL: server.baseURL,
        maxRetries: 0,
      });

      for (const error of await failuresOf(model)) {
        expect(error).to.be.instanceOf(Error);
        expect(everythingIn(error)).to.not.include(KEY);
      }
    });

    it(`[F93] do not appear in the error when the server echoes a header of a ready client in ${title}`, async () => {
      answer = how;
      const client = new OpenAI({
        apiKey: 'sk-other-key',
        baseURL: server.baseURL,
        defaultHeaders: { 'X-Api-Key': `Token ${KEY}` },
      });

      for (const error of await failuresOf(
        new OpenAIChatModel({ model: 'm', client, maxRetries: 0 }),
      ))
        expect(everythingIn(error)).to.not.include(KEY);
    });
  }

  it('[F93] do not appear in the error for an address with credentials', async () => {
    const client = new OpenAI({
      apiKey: 'sk-other-key',
      baseURL: `http://user:${KEY}@127.0.0.1:9/v1?token=${KEY}`,
    });

    for (const error of await failuresOf(
      new OpenAIChatModel({ model: 'm', client, maxRetries: 0 }),
    ))
      expect(everythingIn(error)).to.not.include(KEY);
  });

  it('[F93] do not appear in the error for an address that the constructor rejects', () => {
    const make = (): unknown =>
      new OpenAIChatModel({
        model: 'm',
        apiKey: 'sk-other-key',
        baseURL: `http://user:${KEY}@127.0.0.1:9/v1`,
      });

    expect(make)
      .to.throw(InvalidArgumentError, 'credentials')
      .and.satisfy((error: unknown) => !everythingIn(error).includes(KEY));
  });

  it('[F93] do not appear in the error for a key that is not a valid header', async () => {
    const model = new OpenAIChatModel({
      model: 'm',
      apiKey: `${KEY}\n`,
      baseURL: server.baseURL,
      maxRetries: 0,
    });

    for (const error of await failuresOf(model)) expect(everythingIn(error)).to.not.include(KEY);
  });

  it('[F93] do not appear in a model, a client, a spec or a stream', () => {
    const model = new OpenAIChatModel({ model: 'm', apiKey: KEY, baseURL: server.baseURL });
    const client = ChatClient.create(model);

    for (const value of [
      model,
      client,
      client.prompt('hi'),
      client.prompt('hi').stream(),
      model.stream(PROMPT),
    ]) {
      expect(inspect(value, { depth: Infinity, showHidden: true })).to.not.include(KEY);
      expect(JSON.stringify(value) ?? '').to.not.include(KEY);
    }
  });

  describe('secretsOf', () => {
    const found = (options: object): readonly string[] =>
      secretsOf(new OpenAI({ apiKey: 'sk-abcdef', baseURL: 'https://x/v1', ...options }));

    it('finds the key, and credentials in headers, query and address', () => {
      const all = found({
        baseURL: 'https://someuser:pass%2Fword@x/v1?api_key=query-one',
        defaultHeaders: {
          Authorization: 'Bearer header-one',
          'x-trace': 'not-secret',
          'X-API-Key': null,
        },
        defaultQuery: { 'api-key': 'query-two', version: 'not-secret' },
      });

      expect(all).to.include.members([
        'sk-abcdef',
        'header-one',
        'query-one',
        'query-two',
        'someuser',
        'pass%2Fword',
      ]);
      expect(all).to.not.include('not-secret');
    });

    it('finds credentials in headers of any form', () => {
      expect(found({ defaultHeaders: new Headers({ cookie: 'session-one' }) })).to.include(
        'session-one',
      );
      expect(found({ defaultHeaders: [['x-token', 'token-one']] })).to.include('token-one');
    });

    it('finds the key of a client for Azure', () => {
      const client = new AzureOpenAI({
        apiKey: 'azure-key-1',
        endpoint: 'https://x.openai.azure.com',
        apiVersion: '2024-10-21',
      });

      expect(secretsOf(client)).to.include('azure-key-1');
    });

    it('ignores placeholders for servers without keys', () => {
      expect(found({ apiKey: 'none' })).to.deep.equal([]);
      expect(found({ apiKey: 'ollama' })).to.deep.equal([]);
    });

    it('accepts an invalid address', () => {
      expect(found({ baseURL: 'not an address' })).to.deep.equal(['sk-abcdef']);
    });
  });
});
