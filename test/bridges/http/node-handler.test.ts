import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { expect } from 'chai';
import {
  readInput,
  toHttpError,
  toNodeHandler,
  toResponse,
} from '../../../src/bridges/http/index.js';
import { IterableObservable } from '../../../src/core/client/iterable-observable.js';
import { ChatClient, ModelCallError, type ChatEvent } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import {
  FRAMEWORKS,
  listen,
  listenHttp2,
  open,
  type Handler,
  type StartedServer,
} from '../../support/http-servers.js';
import { until } from '../../support/promises.js';

const delta: ChatEvent = { type: 'text-delta', text: 'x'.repeat(1_000) };

/** Echoes the request. */
async function echo(request: Request): Promise<Response> {
  const { method, url, headers } = request;
  const { pathname, search } = new URL(url);
  const body = await request.text();
  const seen = { method, path: pathname + search, type: headers.get('content-type'), body };
  return Response.json(seen, {
    headers: [
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ],
  });
}

/** Runs work with a server. */
async function withServer(
  start: (handler: Handler) => Promise<StartedServer>,
  handler: Handler,
  work: (origin: string, port: number) => Promise<void>,
): Promise<void> {
  const server = await start(handler);
  try {
    await work(`http://127.0.0.1:${server.port}`, server.port);
  } finally {
    await server.close();
  }
}

const answer: Handler = ({ signal }) =>
  toResponse(
    ChatClient.create(new ScriptedChatModel([{ deltas: ['It is ', 'warm.'] }]))
      .prompt('Q')
      .stream(),
    { format: 'sse', signal },
  );

for (const [framework, start] of Object.entries(FRAMEWORKS))
  describe(`a handler in ${framework}`, () => {
    it('streams an answer', async () => {
      await withServer(start, answer, async (origin) => {
        const response = await fetch(`${origin}/chat`);

        expect(response.status).to.equal(200);
        expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
        expect(response.headers.get('x-accel-buffering')).to.equal('no');
        const body = await response.text();
        expect(body.match(/"text-delta"/g)).to.have.length(2);
        expect(body).to.match(/"type":"response".*\n\n$/);
      });
    });

    it('gets method, address, headers and body', async () => {
      await withServer(start, echo, async (origin) => {
        const headers = { 'content-type': 'application/json' };
        const init = { method: 'POST', headers, body: '{"a":"Hä"}' };

        const response = await fetch(`${origin}/sub/x?q=1%202`, init);

        expect(await response.json()).to.deep.equal({
          method: 'POST',
          path: '/sub/x?q=1%202',
          type: 'application/json',
          body: '{"a":"Hä"}',
        });
        expect(response.headers.getSetCookie()).to.deep.equal(['a=1', 'b=2']);
        const parsed = await fetch(`${origin}/parsed`, init);
        expect(await parsed.json()).to.deep.include({ path: '/parsed', body: '{"a":"Hä"}' });
        expect(await (await fetch(origin)).json()).to.deep.include({ method: 'GET', body: '' });
        const head = await fetch(origin, { method: 'HEAD' });
        expect([head.status, await head.text()]).to.deep.equal([200, '']);
      });
    });

    it('answers with the status of a run that failed before its first frame', async () => {
      const failing: Handler = () => {
        const error = new ModelCallError('canary', { status: 429, retryAfter: 2_000 });
        const client = ChatClient.create(new ScriptedChatModel([{ error }]));
        return toResponse(client.prompt('Q').stream(), { format: 'sse' });
      };
      await withServer(start, failing, async (origin) => {
        const response = await fetch(origin);

        expect([response.status, response.headers.get('retry-after')]).to.deep.equal([429, '2']);
        expect(await response.json()).to.have.nested.property('error.code', 'model_call');
      });
    });

    it('breaks the connection when a text fails in its middle', async () => {
      const failing: Handler = () =>
        toResponse(
          new IterableObservable<ChatEvent>((subscriber) => {
            subscriber.next(delta);
            setImmediate(() => subscriber.error(new Error('canary')));
          }),
          { format: 'text' },
        );
      await withServer(start, failing, async (origin) => {
        const response = await fetch(origin);

        const text = await response.text().catch((error: unknown) => error);
        expect(text).to.be.instanceOf(TypeError);
      });
    });

    it('ends the run when the client leaves, before and after the first frame', async () => {
      for (const isOpen of [false, true]) {
        let [runs, ends] = [0, 0];
        const waiting: Handler = ({ signal }) =>
          toResponse(
            new IterableObservable<ChatEvent>((subscriber) => {
              runs++;
              subscriber.add(() => ends++);
              if (isOpen) subscriber.next(delta);
            }),
            { format: 'sse', signal },
          );
        await withServer(start, waiting, async (origin) => {
          const leaving = new AbortController();
          const request = fetch(origin, { signal: leaving.signal });
          if (isOpen) await request;
          await until(() => runs === 1);

          leaving.abort();

          await request.catch(() => undefined);
          await until(() => ends === 1);
        });
      }
    });

    it('holds the run back for a client that does not read', async function () {
      let emitted = 0;
      const flood: Handler = ({ signal }) =>
        toResponse(
          (async function* () {
            for (; emitted < 100_000; emitted++) yield delta;
          })(),
          { format: 'sse', signal },
        );
      await withServer(start, flood, async (_origin, port) => {
        const response = await open(port);
        let before = -1;
        while (before !== emitted) {
          before = emitted;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }

        console.log(`      ${framework}: ${emitted} kB of 100,000 kB were written to the sockets`);
        expect(emitted).to.be.within(1, 20_000);
        response.destroy();
      });
    });
  });

describe('a handler of Node.js', () => {
  const start = FRAMEWORKS['node:http'] as (handler: Handler) => Promise<StartedServer>;

  it('answers an error of its own without its text, and reports it', async () => {
    const reported: unknown[] = [];
    const handler = toNodeHandler(
      () => {
        throw new TypeError('canary');
      },
      { onError: (error, { status }) => reported.push(String(error), status) },
    );
    const server = await listen(
      createServer((request, response) => void handler(request, response)),
    );

    const response = await fetch(`http://127.0.0.1:${server.port}`);

    expect(response.status).to.equal(500);
    expect(await response.text()).not.to.include('canary');
    expect(reported).to.deep.equal(['TypeError: canary', 500]);
    await server.close();
  });

  it('answers 400 for an invalid body, host or method', async () => {
    const handler: Handler = async (request) =>
      Response.json(await readInput(async () => (await request.json()) as object));
    await withServer(start, handler, async (origin, port) => {
      const invalid = await fetch(origin, { method: 'POST', body: '{' });
      expect([invalid.status, await invalid.json()]).to.deep.equal([
        400,
        { error: { status: 400, code: 'invalid_argument', message: 'It is not JSON.' } },
      ]);
      for (const request of [
        'GET / HTTP/1.1\r\nHost: a@evil/x?\r\n\r\n',
        'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n',
      ]) {
        const socket = connect(port, '127.0.0.1').end(request);
        expect(await readAll(socket)).to.match(/^HTTP\/1.1 400 /);
      }
    });
  });

  it('takes the host of the connection for a request in the form of a proxy', async () => {
    let url = '';
    await withServer(
      start,
      (request) => ((url = request.url), new Response()),
      async (_o, port) => {
        const socket = connect(port, '127.0.0.1');
        socket.end(
          'GET http://evil.example/a?b HTTP/1.1\r\nHost: mine:1\r\nConnection: close\r\n\r\n',
        );
        await readAll(socket);

        expect(url).to.equal('http://mine:1/a?b');
        await fetch(`http://127.0.0.1:${port}//evil.example/a`);
        expect(new URL(url).hostname).to.equal('127.0.0.1');
      },
    );
  });

  it('reads a body on demand, and ends with the client in its middle', async () => {
    let failure: unknown;
    const handler: Handler = async (request) => {
      await request.text().catch((error: unknown) => (failure = error));
      return new Response();
    };
    await withServer(start, handler, async (_origin, port) => {
      const request = httpRequest({ port, host: '127.0.0.1', method: 'POST' });
      request.on('error', () => undefined);
      request.write('abc');
      await once(request, 'socket');
      setTimeout(() => request.destroy(), 50);

      await until(() => failure !== undefined);
      expect(toHttpError(failure)).to.include({ status: 499, code: 'cancelled' });
    });
  });

  it('serves HTTP/2', async () => {
    await withServer(listenHttp2, echo, async (origin) => {
      const session = connectHttp2(origin);
      const stream = session.request({ ':path': '/a?b', ':method': 'POST' });
      stream.end('body');

      expect(JSON.parse(await readAll(stream))).to.include({ path: '/a?b', body: 'body' });
      session.close();
    });
  });
});
