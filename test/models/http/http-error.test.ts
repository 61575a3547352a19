import { expect } from 'chai';
import OpenAI from 'openai';
import {
  CancelledError,
  IncompleteResponseError,
  ModelCallError,
  ModelTimeoutError,
  Prompt,
  type ChatEvent,
} from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { toModelError } from '../../../src/models/http/http-error.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';
import { beginEvents, chunk, sendEvent, sendJson, WireServer } from '../../support/wire-server.js';

const PROMPT = new Prompt('hi');
const { signal: SIGNAL } = new AbortController();

describe('errors of a model call', () => {
  const wire = useWireModel();

  /** The error by call and by stream, which must be the same. */
  async function errorOf(of = wire.model): Promise<ModelCallError> {
    const essence = (error: unknown): unknown => {
      const { name, message, status, providerCode, providerMessage, retryable } =
        error as ModelCallError;
      return { name, message, status, providerCode, providerMessage, retryable };
    };
    const called: unknown = await of.call(PROMPT).catch((error: unknown) => error);
    const streamed: unknown = await lastOf(of.stream(PROMPT)).catch((error: unknown) => error);
    expect(called).to.be.instanceOf(ModelCallError);
    expect(essence(streamed)).to.deep.equal(essence(called));
    return called as ModelCallError;
  }

  const passing = new Set([408, 409, 425, 429]);
  for (const status of [
    400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 422, 425, 429, 451, 500, 501, 502, 503, 504,
    520, 529,
  ]) {
    it(`maps status ${status} to an error with the provider's code and message and whether it is retryable`, async () => {
      wire.answer = (exchange) =>
        sendJson(
          exchange,
          { error: { message: `no ${status}`, code: 'some_code', type: 'some_type' } },
          status,
        );

      const error = await errorOf();

      expect(error).to.include({
        status,
        providerCode: 'some_code',
        providerMessage: `no ${status}`,
        retryable: passing.has(status) || status >= 500,
      });
      expect(error.message).to.include(`${status}`).and.include(`no ${status}`);
      expect(error.cause).to.include({ name: 'HttpError', status });
    });
  }

  const dialects: readonly (readonly [
    title: string,
    body: string,
    code: string | undefined,
    message: string,
  ])[] = [
    ['{error: {message, type}}', '{"error":{"message":"m","type":"t","code":null}}', 't', 'm'],
    ['{error: {message, code: number}}', '{"error":{"message":"m","code":401}}', '401', 'm'],
    ['{error: text} (Ollama)', '{"error":"m"}', undefined, 'm'],
    ['{detail} (Mistral)', '{"detail":"m"}', undefined, 'm'],
    [
      '{detail: []} (FastAPI)',
      '{"detail":[{"loc":["body"],"msg":"field required"}]}',
      undefined,
      '[{"loc":["body"],"msg":"field required"}]',
    ],
    ['{message} (Azure API management)', '{"statusCode":401,"message":"m"}', undefined, 'm'],
    [
      '{object: error, message: {detail}} (Mistral)',
      '{"object":"error","message":{"detail":"m"},"type":"t"}',
      't',
      '{"detail":"m"}',
    ],
    ['{msg}', '{"msg":"m"}', undefined, 'm'],
    [
      '[{error}] (Google)',
      '[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]',
      '400',
      'm',
    ],
    [
      'a page',
      '<html><title>Oops</title><h1>Bad request</h1></html>',
      undefined,
      'Oops Bad request',
    ],
    ['a text', 'upstream error', undefined, 'upstream error'],
  ];
  for (const [title, body, code, message] of dialects) {
    it(`reads the reason from ${title}`, async () => {
      wire.answer = ({ response }) =>
        response.writeHead(400, { 'content-type': 'text/html' }).end(body);

      const error = await errorOf();

      expect(error).to.include({ status: 400, providerCode: code, providerMessage: message });
      expect(error.message).to.include(message);
    });
  }

  for (const body of ['', '{}', '[]', 'null', '{"error":{}}']) {
    it(`reports the status for the error body ${JSON.stringify(body)}`, async () => {
      wire.answer = ({ response }) =>
        response.writeHead(418, { 'content-type': 'application/json' }).end(body);

      const error = await errorOf();

      expect(error).to.include({ status: 418, providerCode: undefined });
      expect(error.message).to.equal('The server answered 418: no reason given');
    });
  }

  it('maps errors of a ready client', async () => {
    wire.answer = (exchange) => sendJson(exchange, { error: { message: 'm', code: 'c' } }, 404);
    const client = new OpenAI({ apiKey: 'sk-test', baseURL: wire.server.baseURL });

    expect(await errorOf(new OpenAIChatModel({ client, maxRetries: 0 }))).to.include({
      status: 404,
      providerCode: 'c',
      providerMessage: 'm',
    });
  });

  for (const body of [
    { code: 'insufficient_quota' },
    { code: null, type: 'insufficient_quota' },
    { code: 'x', type: 'insufficient_quota' },
  ]) {
    it(`is not retryable for ${JSON.stringify(body)} with status 429`, async () => {
      wire.answer = (exchange) =>
        sendJson(exchange, { error: { message: 'pay first', ...body } }, 429);

      expect(await errorOf()).to.include({ status: 429, retryable: false });
    });
  }

  it('is not retryable with the header x-should-retry: false', async () => {
    wire.answer = (exchange) =>
      sendJson(exchange, { error: { message: 'm' } }, 500, { 'x-should-retry': 'false' });

    expect(await errorOf()).to.include({ status: 500, retryable: false });
  });

  it('has the delay of retry-after', async () => {
    wire.answer = (exchange) =>
      sendJson(exchange, { error: { message: 'm' } }, 429, { 'retry-after': '7' });

    expect(await errorOf()).to.include({ status: 429, retryAfter: 7_000 });
  });

  const chunks = [
    chunk({ role: 'assistant' }),
    chunk({ content: 'Hel' }),
    chunk({ content: 'lo' }),
    chunk({}, 'stop'),
  ];
  const inBand: readonly (readonly [
    title: string,
    error: unknown,
    expected: Partial<ModelCallError>,
  ])[] = [
    [
      'a code like a status',
      { code: 502, message: 'gone' },
      { status: 502, providerCode: '502', providerMessage: 'gone', retryable: true },
    ],
    [
      'a status_code',
      { code: 'x', status_code: 400, message: 'no' },
      { status: 400, providerCode: 'x', retryable: false },
    ],
    [
      'a passing code',
      { code: null, type: 'server_error', message: 'sorry' },
      { status: undefined, providerCode: 'server_error', retryable: true },
    ],
    [
      'another code',
      { code: 'content_filter', message: 'no' },
      { status: undefined, retryable: false },
    ],
    [
      'no money',
      { code: 429, type: 'insufficient_quota', message: 'no' },
      { status: 429, retryable: false },
    ],
    ['a text', 'no', { providerMessage: 'no', providerCode: undefined, retryable: false }],
  ];
  for (const [title, error, expected] of inBand) {
    for (let at = 0; at <= chunks.length; at++) {
      it(`[F56] maps an error with ${title} after ${at} chunks of a stream`, async () => {
        wire.answer = (exchange) => {
          beginEvents(exchange);
          for (const payload of [...chunks.slice(0, at), { error }, ...chunks.slice(at), '[DONE]'])
            sendEvent(exchange, payload);
          exchange.response.end();
        };
        const events: ChatEvent[] = [];

        const thrown: unknown = await lastOf(wire.model.stream(PROMPT), (event) =>
          events.push(event),
        ).catch((one: unknown) => one);

        const text = ['', '', 'Hel', 'Hello', 'Hello'][at];
        expect(thrown).to.be.instanceOf(ModelCallError);
        expect(thrown).to.include({ ...expected, partialText: text || undefined });
        expect(
          events.map((event) => (event.type === 'text-delta' ? event.text : event.type)).join(''),
        ).to.equal(text);
      });
    }
  }

  it('[F56] maps an error in a body of status 200', async () => {
    wire.answer = (exchange) => sendJson(exchange, { error: { code: 503, message: 'overloaded' } });

    expect(await errorOf()).to.include({
      status: 503,
      providerMessage: 'overloaded',
      retryable: true,
    });
  });

  it('[F44] maps a body that ends early to an IncompleteResponseError', async () => {
    wire.answer = ({ response, socket }) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"choices":[', () => socket.destroy());
    };

    expect(await errorOf())
      .to.be.instanceOf(IncompleteResponseError)
      .and.include({ retryable: true });
  });

  it('reports a refused connection', async () => {
    const gone = await WireServer.start(() => undefined);
    const { baseURL } = gone;
    await gone.close();

    const error = await errorOf(wire.modelWith({ baseURL, maxRetries: 0 }));

    expect(error).to.include({ status: undefined, retryable: true });
    expect(error.message).to.include('could not be reached').and.include('ECONNREFUSED');
  });

  it('reports a connection that the server closed', async () => {
    wire.answer = ({ socket }) => socket.destroy();

    const error = await errorOf();

    expect(error).to.include({ status: undefined, retryable: true });
    expect(error).to.not.be.instanceOf(IncompleteResponseError);
  });

  it('is not retryable when the request cannot be sent', async () => {
    const client = new OpenAI({
      apiKey: 'sk-test',
      baseURL: 'http://user:password@127.0.0.1:1/v1',
    });

    expect(await errorOf(new OpenAIChatModel({ client, maxRetries: 0 }))).to.include({
      retryable: false,
    });
  });

  it('maps errors of a second copy of the openai package by their fields', async () => {
    class APIError extends Error {
      readonly status = 429;
      readonly headers = new Headers({ 'retry-after-ms': '20' });
      readonly error = { message: 'slow down', code: 'rate_limit_exceeded' };
    }
    const client = new OpenAI({ apiKey: 'sk-test', baseURL: wire.server.baseURL });
    client.post = () => {
      throw new APIError('429 slow down');
    };

    expect(await errorOf(new OpenAIChatModel({ client, maxRetries: 0 }))).to.include({
      status: 429,
      retryAfter: 20,
      providerCode: 'rate_limit_exceeded',
      retryable: true,
    });
  });

  const packageErrors: readonly (readonly [error: Error, code: string])[] = [
    [new OpenAI.APIUserAbortError(), 'cancelled'],
    [new OpenAI.APIConnectionTimeoutError(), 'model_timeout'],
    [new OpenAI.APIConnectionError({ message: 'no route' }), 'model_call'],
  ];
  for (const [error, code] of packageErrors) {
    it(`converts the ${error.constructor.name} of a ready client`, async () => {
      const client = new OpenAI({ apiKey: 'sk-test', baseURL: wire.server.baseURL });
      client.post = () => {
        throw error;
      };
      const model = new OpenAIChatModel({ client, maxRetries: 0 });

      const thrown: unknown = await model.call(PROMPT).catch((reason: unknown) => reason);

      expect(thrown).to.include({ code });
      expect(thrown).to.be.instanceOf(Error);
    });
  }

  it('passes errors of this package through', () => {
    const error = new ModelTimeoutError('x');

    expect(toModelError(error, SIGNAL, [])).to.equal(error);
  });

  it('prefers the reason of an abort to the error that it caused', () => {
    const controller = new AbortController();
    controller.abort('enough');

    const error = toModelError(new TypeError('terminated'), controller.signal, []);

    expect(error).to.be.instanceOf(CancelledError).and.include({ cause: 'enough' });
  });

  it('wraps any other thrown value', () => {
    expect(toModelError('a text', SIGNAL, []))
      .to.be.instanceOf(ModelCallError)
      .and.include({ retryable: false });
    expect(toModelError(undefined, SIGNAL, [])).to.be.instanceOf(ModelCallError);
  });
});
