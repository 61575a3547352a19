import { inspect } from 'node:util';
import { expect } from 'chai';
import OpenAI, { AzureOpenAI } from 'openai';
import { ChatClient, InvalidArgumentError, Prompt } from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { redact, secretsOf, withoutSecrets } from '../../../src/models/openai/secrets.js';
import { lastOf } from '../../integration/recording-replay.js';
import { beginEvents, chunk, sendEvent, sendJson, WireServer, type Exchange } from '../../integration/wire-server.js';

const KEY = 'canary-key-4711-abcdef';
const PROMPT = new Prompt('hi');

/** All that a careless log could show of a value: its own form, and that of everything it was caused by. */
function everythingIn(value: unknown): string {
  const seen: string[] = [];
  for (let one: unknown = value; one !== undefined; one = one instanceof Error ? one.cause : undefined) {
    seen.push(inspect(one, { depth: 10, showHidden: true }), JSON.stringify(one) ?? '');
    if (one instanceof Error) seen.push(String(one), one.message, one.stack ?? '');
  }
  return seen.join('\n');
}

async function failuresOf(model: OpenAIChatModel): Promise<readonly unknown[]> {
  const called: unknown = await model.call(PROMPT).catch((error: unknown) => error);
  const streamed: unknown = await lastOf(model.stream(PROMPT)).catch((error: unknown) => error);
  return [called, streamed];
}

describe('secrets', () => {
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;

  before(async () => {
    server = await WireServer.start((exchange) => answer(exchange));
  });
  after(() => server.close());

  const failures: readonly (readonly [title: string, answer: (exchange: Exchange) => unknown])[] = [
    ['an error message', (exchange) => sendJson(exchange, { error: { message: `Incorrect API key: ${KEY}`, code: KEY, type: KEY } }, 401)],
    ['a detail', (exchange) => sendJson(exchange, { detail: [{ key: KEY }] }, 422)],
    ['a header', (exchange) => sendJson(exchange, { error: { message: 'no' } }, 401, { 'x-echo': `Bearer ${KEY}` })],
    ['a page', ({ response }) => response.writeHead(502, { 'content-type': 'text/html' }).end(`<h1>${KEY}</h1>`)],
    ['a page with status 200', ({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>${KEY}</h1>`)],
    ['a text with status 200', ({ response }) => response.writeHead(200, { 'content-type': `text/plain` }).end(KEY)],
    ['an error with status 200', (exchange) => sendJson(exchange, { error: { message: KEY, code: KEY } })],
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
    it(`[F93] are not in the error when the server echoes the key in ${title}`, async () => {
      answer = how;
      const model = new OpenAIChatModel({ model: 'm', apiKey: KEY, baseURL: server.baseURL, maxRetries: 0 });

      for (const error of await failuresOf(model)) {
        expect(error).to.be.instanceOf(Error);
        expect(everythingIn(error)).to.not.include(KEY);
      }
    });

    it(`[F93] are not in the error when the server echoes a header of a ready client in ${title}`, async () => {
      answer = how;
      const client = new OpenAI({ apiKey: 'sk-other-key', baseURL: server.baseURL, defaultHeaders: { 'X-Api-Key': `Token ${KEY}` } });

      for (const error of await failuresOf(new OpenAIChatModel({ model: 'm', client, maxRetries: 0 })))
        expect(everythingIn(error)).to.not.include(KEY);
    });
  }

  it('[F93] are not in the error for an address with credentials', async () => {
    const client = new OpenAI({ apiKey: 'sk-other-key', baseURL: `http://user:${KEY}@127.0.0.1:9/v1?token=${KEY}` });

    for (const error of await failuresOf(new OpenAIChatModel({ model: 'm', client, maxRetries: 0 })))
      expect(everythingIn(error)).to.not.include(KEY);
  });

  it('[F93] are not in the error for an address that is refused at once', () => {
    const make = (): unknown => new OpenAIChatModel({ model: 'm', apiKey: 'sk-other-key', baseURL: `http://user:${KEY}@127.0.0.1:9/v1` });

    expect(make)
      .to.throw(InvalidArgumentError, 'credentials')
      .and.satisfy((error: unknown) => !everythingIn(error).includes(KEY));
  });

  it('[F93] are not in the error for a key that no header can hold', async () => {
    const model = new OpenAIChatModel({ model: 'm', apiKey: `${KEY}\n`, baseURL: server.baseURL, maxRetries: 0 });

    for (const error of await failuresOf(model)) expect(everythingIn(error)).to.not.include(KEY);
  });

  it('[F93] are not seen in a model, nor in what is made of it', () => {
    const model = new OpenAIChatModel({ model: 'm', apiKey: KEY, baseURL: server.baseURL });
    const client = ChatClient.create(model);

    for (const value of [model, client, client.prompt('hi'), client.prompt('hi').stream(), model.stream(PROMPT)]) {
      expect(inspect(value, { depth: Infinity, showHidden: true })).to.not.include(KEY);
      expect(JSON.stringify(value) ?? '').to.not.include(KEY);
    }
  });

  describe('of a client', () => {
    const found = (options: object): readonly string[] =>
      secretsOf(new OpenAI({ apiKey: 'sk-abcdef', baseURL: 'https://x/v1', ...options }));

    it('are its key, and credentials in headers, query and address', () => {
      const all = found({
        baseURL: 'https://someuser:pass%2Fword@x/v1?api_key=query-one',
        defaultHeaders: { Authorization: 'Bearer header-one', 'x-trace': 'not-secret', 'X-API-Key': null },
        defaultQuery: { 'api-key': 'query-two', version: 'not-secret' },
      });

      expect(all).to.include.members(['sk-abcdef', 'header-one', 'query-one', 'query-two', 'someuser', 'pass%2Fword', 'pass/word']);
      expect(all).to.not.include('not-secret');
    });

    it('are found in headers of any form', () => {
      expect(found({ defaultHeaders: new Headers({ cookie: 'session-one' }) })).to.include('session-one');
      expect(found({ defaultHeaders: [['x-token', 'token-one']] })).to.include('token-one');
    });

    it('are found for Azure', () => {
      const client = new AzureOpenAI({ apiKey: 'azure-key-1', endpoint: 'https://x.openai.azure.com', apiVersion: '2024-10-21' });

      expect(secretsOf(client)).to.include('azure-key-1');
    });

    it('are not the placeholders for servers that want no key', () => {
      expect(found({ apiKey: 'none' })).to.deep.equal([]);
      expect(found({ apiKey: 'ollama' })).to.deep.equal([]);
    });

    it('are none where the address is none', () => {
      expect(found({ baseURL: 'not an address' })).to.deep.equal(['sk-abcdef']);
    });
  });

  describe('redact', () => {
    const texts: readonly (readonly [text: string, shown: string])[] = [
      ['key sk-proj-0123456789abcdef.', 'key ***.'],
      ['gsk_0123456789abcdefgh', '***'],
      ['AIzaSyA0123456789abcdefghijklmnop', '***'],
      ['Authorization: Bearer abcdefghijkl.mnop', 'Authorization: ***'],
      ['fetch http://user:pass@host/v1', 'fetch http:***host/v1'],
      ['no Bearer token given', 'no Bearer token given'],
      ['risk-averse-and-otherwise-fine', 'risk-averse-and-otherwise-fine'],
      ['ask me@example.org', 'ask me@example.org'],
    ];
    for (const [text, shown] of texts) {
      it(`shows ${shown} for a text with what looks like a credential or does not`, () => {
        expect(redact(text, [])).to.equal(shown);
      });
    }
  });

  describe('withoutSecrets', () => {
    it('leaves an error alone that holds none', () => {
      const error = new Error('x', { cause: new Error('y') });

      expect(withoutSecrets(error, [KEY])).to.equal(error);
    });

    it('copies name, code, message, stack and causes without them', () => {
      const cause = Object.assign(new TypeError(`inner ${KEY}`), { code: 'ECONNRESET' });
      const copy = withoutSecrets(Object.assign(new Error('outer', { cause }), { code: 7 }), [KEY]) as Error;

      expect(everythingIn(copy)).to.not.include(KEY);
      expect(copy).to.be.instanceOf(Error).and.include({ name: 'Error', message: 'outer' });
      expect(copy.cause).to.include({ name: 'TypeError', message: 'inner ***', code: 'ECONNRESET' });
    });

    it('finds them in any depth, in lists and in cycles', () => {
      const error = Object.assign(new Error('x'), { request: { list: [{ headers: new Map([['a', KEY]]) }] }, self: {} });
      error.self = error;

      expect(everythingIn(withoutSecrets(error, [KEY]))).to.not.include(KEY);
    });

    it('gives up on an error that is too large to look through', () => {
      const error = Object.assign(new Error('x'), { all: Array.from({ length: 5_000 }, (_, at) => ({ at })) });

      expect(withoutSecrets(error, [KEY])).to.not.equal(error);
    });

    it('cleans what is no error', () => {
      expect(withoutSecrets(`a ${KEY}`, [KEY])).to.equal('a ***');
      expect(everythingIn(withoutSecrets({ key: KEY }, [KEY]))).to.not.include(KEY);
      expect(withoutSecrets(undefined, [KEY])).to.equal(undefined);
    });
  });
});
