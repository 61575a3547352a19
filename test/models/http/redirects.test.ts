import { expect } from 'chai';
import OpenAI from 'openai';
import { ModelCallError, Prompt } from '../../../src/index.js';
import { followRedirects } from '../../../src/models/http/redirects.js';
import { OpenAIChatModel, OpenAIEmbeddingModel } from '../../../src/models/openai/index.js';
import { everythingIn } from '../../support/everything-in.js';
import { failureOf } from '../../support/modes.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';
import { completion, sendJson, WireServer } from '../../support/wire-server.js';

const KEY = 'sk-key-of-the-customer';
const PROMPT = new Prompt('the secret prompt');
const STATUSES = [301, 302, 303, 307, 308];
const HERE = 'https://api.example.com/v1/chat/completions';

/** The addresses that a request goes to when its first answer redirects. */
async function addressesAfter(
  locations: readonly string[],
  address = HERE,
  status = 307,
): Promise<{ readonly sent: readonly string[]; readonly error: unknown }> {
  const sent: string[] = [];
  const error = await failureOf(
    followRedirects(address, async (target) => {
      const location = locations[sent.length];
      sent.push(target);
      return location === undefined
        ? new Response('{}')
        : new Response(null, { status, headers: { location } });
    }),
  );
  return { sent, error };
}

describe('the address of a redirect', () => {
  const followed: Record<string, readonly [location: string, target: string]> = {
    'a path': ['/v2/chat', 'https://api.example.com/v2/chat'],
    'a relative path': ['../new', 'https://api.example.com/v1/new'],
    'a query': ['?a=1', `${HERE}?a=1`],
    'the same origin': ['https://api.example.com/x', 'https://api.example.com/x'],
    'the same host without a scheme': ['//api.example.com/x', 'https://api.example.com/x'],
    'the default port': ['https://api.example.com:443/x', 'https://api.example.com/x'],
    'another case': ['HTTPS://API.Example.COM/x', 'https://api.example.com/x'],
    'spaces around it': [' /v2 ', 'https://api.example.com/v2'],
  };
  for (const [title, [location, target]] of Object.entries(followed))
    for (const status of STATUSES)
      it(`[D46] is followed: ${title}, at a ${status}`, async () => {
        expect(await addressesAfter([location], HERE, status)).to.deep.equal({
          sent: [HERE, target],
          error: undefined,
        });
      });

  const refused: Record<string, string> = {
    'a downgrade to http': 'http://api.example.com/v1',
    'a downgrade on the same port': 'http://api.example.com:443/v1',
    'another port': 'https://api.example.com:8443/v1',
    'another host': 'https://evil.example.net/v1',
    'another host without a scheme': '//evil.example.net/v1',
    'backslashes for another host': '\\\\evil.example.net/v1',
    'three slashes for another host': '///evil.example.net/v1',
    'a sub-domain': 'https://x.api.example.com/v1',
    'the parent domain': 'https://example.com/v1',
    'a host that begins with ours': 'https://api.example.com.evil.net/v1',
    'a host after our name as user': 'https://api.example.com@evil.example.net/v1',
    'a host with a final dot': 'https://api.example.com./v1',
    'a letter that looks like ours': 'https://xn--pi-6kc.example.com/v1',
    'loopback by name': 'https://localhost/v1',
    'loopback by number': 'https://127.0.0.1/v1',
    'loopback by IPv6': 'https://[::1]/v1',
    'a metadata service': 'http://169.254.169.254/latest/meta-data',
    'credentials of the same origin': 'https://user:password-of-theirs@api.example.com/v1',
    'a user of the same origin': 'https://password-of-theirs@api.example.com/v1',
    'a file': 'file:///etc/passwd',
    data: 'data:application/json,{}',
    'a blob': 'blob:https://api.example.com/x',
    'a script': 'javascript:1',
    'a WebSocket': 'wss://api.example.com/v1',
    'no address': 'https://[',
  };
  for (const [title, location] of Object.entries(refused))
    it(`[D46] is refused: ${title}, at once and after a redirect within the origin`, async () => {
      for (const status of STATUSES)
        for (const [before, count] of [
          [[], 1],
          [['/v2'], 2],
        ] as const) {
          const { sent, error } = await addressesAfter([...before, location], HERE, status);

          expect(sent).to.have.length(count);
          expect(error).to.be.instanceOf(ModelCallError).and.include({ status, retryable: false });
          expect(everythingIn(error)).to.not.include('password-of-theirs');
        }
    });

  it('[D46] keeps the credentials of a base URL within its origin', async () => {
    const base = 'https://user:ours@api.example.com/v1';

    expect((await addressesAfter(['/v2'], base)).sent).to.deep.equal([
      base,
      'https://user:ours@api.example.com/v2',
    ]);
    expect(
      (await addressesAfter(['https://user:theirs@api.example.com/'], base)).sent,
    ).to.deep.equal([base]);
  });

  it('[D46] is upgraded to https by no redirect: a key that went in the clear is known', async () => {
    const base = 'http://api.example.com/v1';

    expect((await addressesAfter(['https://api.example.com/v1'], base)).sent).to.deep.equal([base]);
  });

  for (const status of [200, 201, 300, 304, 305, 306, 400, 401, 429, 500, 503])
    it(`[D46] is not looked at with the status ${status}`, async () => {
      const { sent } = await addressesAfter(['https://evil.example.net/'], HERE, status);

      expect(sent).to.deep.equal([HERE]);
    });
});

describe('the secrets of a request', function () {
  this.timeout(20_000);
  const wire = useWireModel();
  let foreign: WireServer;

  beforeEach(async () => {
    foreign = await WireServer.start((exchange) => sendJson(exchange, completion('foreign')));
  });
  afterEach(() => foreign.close());

  const embeddings = (options: object): Promise<unknown> =>
    new OpenAIEmbeddingModel({ model: 'm', maxRetries: 1, ...options }).embed([
      'the secret prompt',
    ]);
  const direct = (): object => ({ apiKey: KEY, baseURL: wire.server.baseURL });
  const packaged = (): object => ({
    client: new OpenAI({
      apiKey: async () => KEY,
      baseURL: wire.server.baseURL,
      defaultHeaders: { 'x-api-key': KEY, cookie: `session=${KEY}` },
    }),
  });
  const uses: Record<string, () => Promise<unknown>> = {
    'a call': () => new OpenAIChatModel({ model: 'm', maxRetries: 1, ...direct() }).call(PROMPT),
    'a stream': () =>
      lastOf(new OpenAIChatModel({ model: 'm', maxRetries: 1, ...direct() }).stream(PROMPT)),
    embeddings: () => embeddings(direct()),
    'a call with a key from a function': () =>
      new OpenAIChatModel({ model: 'm', maxRetries: 1, ...packaged() }).call(PROMPT),
    'embeddings with a key from a function': () => embeddings(packaged()),
  };
  const places: Record<string, (foreignURL: URL) => string> = {
    'another port': ({ port }) => `http://127.0.0.1:${port}/v1`,
    'another name of the same machine': () => wire.server.baseURL.replace('127.0.0.1', 'localhost'),
    'another host with our address as user': ({ port }) => `http://127.0.0.1@localhost:${port}/v1`,
    'our host with credentials': () => wire.server.baseURL.replace('//', `//u:${KEY}@`),
  };

  for (const [what, ask] of Object.entries(uses))
    for (const [place, locationOf] of Object.entries(places))
      it(`[D46] of ${what} stay here at a redirect to ${place}, also with retry-after`, async () => {
        wire.answer = ({ response }) => {
          const location = locationOf(new URL(foreign.baseURL));
          response.writeHead(307, { location, 'retry-after': '0' }).end();
        };

        const error = await failureOf(ask());

        expect(error).to.be.instanceOf(ModelCallError).and.include({ retryable: false });
        expect([wire.server.exchanges.length, foreign.connections]).to.deep.equal([1, 0]);
        expect(everythingIn(error)).to.not.include(KEY).and.not.include('the secret prompt');
      });

  it('[D46] are retried here, whatever address a temporary error names', async () => {
    wire.answer = (exchange) => {
      const { index, response } = exchange;
      if (index > 0) sendJson(exchange, completion('ours'));
      else response.writeHead(503, { location: foreign.baseURL, 'retry-after': '0' }).end();
    };

    expect(await uses['a call']?.()).to.include({ text: 'ours' });
    expect(foreign.connections).to.equal(0);
  });

  it('[D46] of several hosts go to their own host alone', async () => {
    const servers = [wire.server, foreign];
    wire.answer = (exchange) => sendJson(exchange, completion('ours'));
    const models = servers.map(
      ({ baseURL }, at) => new OpenAIChatModel({ model: 'm', baseURL, apiKey: `sk-of-host-${at}` }),
    );

    await Promise.all(
      Array.from({ length: 20 }, () =>
        models.map((model, at) => model.call(new Prompt(`for host ${at}`))),
      ).flat(),
    );

    for (const [at, { exchanges }] of servers.entries()) {
      expect(exchanges).to.have.length(20);
      const seen = JSON.stringify(exchanges.map(({ headers, body }) => [headers, body]));
      expect(seen).to.include(`sk-of-host-${at}`).and.include(`for host ${at}`);
      expect(seen)
        .to.not.include(`sk-of-host-${1 - at}`)
        .and.not.include(`for host ${1 - at}`);
    }
  });

  it('[D46] are sent by a fetch of the application, which is asked not to follow redirects', async () => {
    const seen: unknown[] = [];
    const client = new OpenAI({
      apiKey: KEY,
      baseURL: 'http://api.invalid/v1',
      fetch: async (input, init) => {
        const { url } = new Request(input, { method: 'POST' });
        seen.push([url, init?.redirect, new Headers(init?.headers).get('authorization')]);
        return Response.json(completion('by proxy'));
      },
    });

    expect((await new OpenAIChatModel({ model: 'm', client }).call(PROMPT)).text).to.equal(
      'by proxy',
    );
    expect(seen).to.deep.equal([
      ['http://api.invalid/v1/chat/completions', 'manual', `Bearer ${KEY}`],
    ]);
  });

  it('[D46] are not taken in the base URL', () => {
    for (const baseURL of [
      'http://user:secret-one@127.0.0.1:1/v1',
      'http://secret-one@127.0.0.1:1/v1',
    ])
      for (const make of [
        () => new OpenAIChatModel({ model: 'm', baseURL }),
        () => new OpenAIEmbeddingModel({ model: 'm', baseURL }),
      ])
        expect(make)
          .to.throw('holds no credentials')
          .and.satisfy((error: unknown) => !everythingIn(error).includes('secret-one'));
  });
});
