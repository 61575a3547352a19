import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { expect } from 'chai';
import { readInput, toResponse, type FormatName } from '../../../src/bridges/http/index.js';
import { ChatClient, defineAdvisor, type Advisor } from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { collectGarbage } from '../../support/collect-garbage.js';
import { FRAMEWORKS, open, type Handler, type StartedServer } from '../../support/http-servers.js';
import { until } from '../../support/promises.js';
import { Random } from '../../support/random.js';
import { WireServer } from '../../support/wire-server.js';

const CLIENTS = 1_000;
const AT_ONCE = 50;
const FORMATS: readonly FormatName[] = ['sse', 'ndjson', 'text'];
const SECRET = 'canary-secret-4711';
const start = FRAMEWORKS['node:http'] as (handler: Handler) => Promise<StartedServer>;

/** Counts the runs that have begun and not ended. */
class RunCounter {
  live = 0;
  begun = 0;
  cancelled = 0;
  readonly advisor: Advisor = defineAdvisor({
    name: 'counter',
    order: 0,
    around: async (request, next) => {
      this.begun++;
      this.live++;
      request.signal.addEventListener('abort', () => {
        this.cancelled++;
        this.live--;
      });
      const response = await next(request);
      if (!request.signal.aborted) this.live--;
      return response;
    },
  });
}

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Timers and sockets that keep the process alive. */
function held(): readonly string[] {
  return process.getActiveResourcesInfo().filter((type) => /Timeout|TCPSocket/.test(type));
}

/** Reads some of a response, then leaves; or all of it. */
async function visit(port: number, random: Random): Promise<'left' | 'read'> {
  const response = await open(port);
  const wanted = random.below(40);
  let chunks = 0;
  for await (const _chunk of response) if (++chunks > wanted) return 'left'; // destroys it
  return 'read';
}

describe('1,000 clients that leave at random', () => {
  it('leave no socket, timer or run', async function () {
    this.timeout(120_000);
    const counter = new RunCounter();
    const model = new ScriptedChatModel(() => ({
      deltas: Array.from({ length: 25 }, (_, at) => `word ${at} `),
      delay: 1,
    }));
    const client = ChatClient.create(model);
    const random = new Random(1);
    const handler: Handler = ({ signal }) => {
      model.prompts.length = 0;
      const stream = client.prompt('Q').advisors(counter.advisor).stream();
      return toResponse(stream, { format: random.pick(FORMATS), signal });
    };
    const server = await start(handler);
    const before = held().length;

    const ends = { left: 0, read: 0 };
    const visits = async (): Promise<void> => {
      for (let count = 0; count < CLIENTS / AT_ONCE; count++)
        ends[await visit(server.port, random)]++;
    };
    await Promise.all(Array.from({ length: AT_ONCE }, visits));

    await until(() => counter.live === 0);
    await until(() => held().length <= before);
    console.log(
      `      ${ends.left} left, ${ends.read} read all; ${counter.cancelled} of ${counter.begun} runs were cancelled`,
    );
    expect(counter.begun).to.equal(CLIENTS);
    expect(ends.left).to.be.above(100);
    expect(ends.read).to.be.above(100);
    await server.close();
  });
});

describe('a slow reader', () => {
  it("holds the model's socket back", async function () {
    this.timeout(60_000);
    const piece = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(1_000) } }] })}\n\n`;
    let sent = 0;
    const flood = (response: ServerResponse): void => {
      if (response.destroyed) return;
      do sent += piece.length;
      while (response.write(piece));
    };
    const upstream = await WireServer.start(({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      flood(response.on('drain', () => flood(response)));
    });
    const model = new OpenAIChatModel({ apiKey: 'k', model: 'm', baseURL: upstream.baseURL });
    const server = await start(({ signal }) =>
      toResponse(ChatClient.create(model).prompt('Q').stream(), { format: 'sse', signal }),
    );

    const response = await open(server.port);
    const heap = heapUsed();
    for (let before = -1; before !== sent;) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    const grown = (heapUsed() - heap) / 2 ** 20;
    console.log(
      `      the model has sent ${(sent / 2 ** 20).toFixed(1)} MB, then nothing; the heap has ${grown.toFixed(1)} MB more`,
    );
    expect(sent).to.be.within(1, 40 * 2 ** 20);
    expect(grown).to.be.below(10);

    response.destroy();
    const { socket } = await upstream.nextExchange(1);
    await until(() => socket.destroyed);
    await server.close();
    await upstream.close();
  });
});

/** A request that is wrong in a way that is chosen at random. */
function malformed(random: Random): string {
  const junk = Array.from({ length: random.below(200) }, () => String.fromCharCode(random.below(256))).join(''); // prettier-ignore
  const head = `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n`;
  const withBody = (body: string, type = 'application/json'): string =>
    `${head}Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body, 'latin1')}\r\n\r\n${body}`;
  return random.pick([
    () => withBody(junk),
    () => withBody(`{"question": ${'['.repeat(random.below(50_000))}`),
    () => withBody(JSON.stringify({ question: { toString: 1, __proto__: null } })),
    () => withBody('{"question":"\\ud800"}').replace('Content-Length: ', 'Content-Length: 1'),
    () => `POST ${encodeURIComponent(junk)} HTTP/1.1\r\nHost: ${junk}\r\n\r\n`,
    () =>
      `GET http://${junk.replaceAll(/\s/g, '')}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    () => `${random.pick(['TRACE', 'CONNECT', 'PROPFIND', 'x'])} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`, // prettier-ignore
    () => `${head}Transfer-Encoding: chunked\r\n\r\n${random.below(99)}\r\n${junk}`,
    () => `GET / HTTP/1.1\r\nHost: ${random.pick(['', 'a b', 'a/b', 'a@b', '[::', 'a:99999'])}\r\nConnection: close\r\n\r\n`, // prettier-ignore
    () => junk,
  ])();
}

describe('200 malformed requests', () => {
  it('are answered by 4xx or a closed connection, without a secret, and the server answers on', async function () {
    this.timeout(120_000);
    const client = ChatClient.create(new ScriptedChatModel(() => ({ text: SECRET })));
    let handled = 0;
    const server = await start(async (request) => {
      handled++;
      const { question } = await readInput(
        async () => (await request.json()) as { question: string },
      );
      const stream = client.prompt(readInput(() => checked(question))).stream();
      return toResponse(stream, { format: 'sse', signal: request.signal });
    });
    const random = new Random(7);
    const statuses: Record<string, number> = {};

    for (let count = 0; count < 200; count++) {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.end(Buffer.from(malformed(random), 'latin1'));
      const answer = await readAll(socket).catch(() => '');
      const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'closed';
      statuses[status] = (statuses[status] ?? 0) + 1;
      expect(status, answer).to.match(/^4\d\d$|^closed$/);
      expect(answer).not.to.match(/canary|at .*\.ts|node:internal/);
    }

    console.log(`      ${JSON.stringify(statuses)}; ${handled} came to the handler`);
    const body = JSON.stringify({ question: 'Q' });
    const answer = await fetch(`http://127.0.0.1:${server.port}`, { method: 'POST', body });
    expect(await answer.text()).to.include(SECRET);
    await server.close();
  });
});

function checked(question: unknown): string {
  if (typeof question !== 'string') throw new SyntaxError('no question');
  return question;
}
