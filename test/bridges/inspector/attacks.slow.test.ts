import { expect } from 'chai';
import fc from 'fast-check';
import { CANARY, startAttackedInspector } from '../../support/attacked-inspector.js';
import { fuzz } from '../../support/fuzz.js';
import { hostileVersions } from '../../support/hostile-bodies.js';
import { withoutVariable } from '../../support/without-variable.js';

const ROUTES = [
  'GET /',
  'GET /page.js',
  'GET /page.css',
  'GET /api/events',
  'GET /api/turns/x',
  'GET /api/turns/x/states',
  'GET /api/turns/x/export',
  'POST /api/import',
  'POST /api/try',
  'POST /api/turns/x/decisions',
  'POST /api/turns/x/cancel',
  'DELETE /api/turns',
  'OPTIONS /api/try',
] as const;
const JSON_TYPE = { 'content-type': 'application/json' };
const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** All of the cases in each run: an answer takes a millisecond. */
function atLeast(cases: number, name: string): fc.Parameters<[string]> {
  const parameters = fuzz<[string]>(name, cases);
  return { ...parameters, numRuns: Math.max(cases, parameters.numRuns ?? 0) };
}

describe('attacks on an inspector [F92]', () => {
  withoutVariable('NODE_ENV');
  let server: Awaited<ReturnType<typeof startAttackedInspector>>;
  beforeEach(async () => (server = await startAttackedInspector()));
  afterEach(() => server.close());

  interface Sent {
    readonly status: number;
    readonly text: string;
    readonly headers: Headers;
  }

  /** Sends a request; its answer must not have anything of the process, whatever its status. */
  async function send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string | Uint8Array,
  ): Promise<Sent> {
    const url = `${server.origin}${path}`;
    const init = { method, headers, redirect: 'manual' as const, ...(body !== undefined && { body: body as string }) }; // prettier-ignore
    const response = await fetch(url, init);
    const isOpen = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (isOpen) await response.body?.cancel();
    const text = isOpen ? '' : await response.text();
    const all = `${text}\n${[...response.headers].join('\n')}`;
    const what = `${method} ${path} ${String(body).slice(0, 300)}`;
    expect(all, what).not.to.match(
      new RegExp(`${CANARY}|node:internal|/src/|node_modules|root:x:`),
    );
    return { status: response.status, text, headers: response.headers };
  }

  const withToken = (): Record<string, string> => ({ 'x-inspector-token': server.token });

  async function cookie(): Promise<string> {
    const { headers } = await send('GET', `/?token=${server.token}`, {});
    return headers.get('set-cookie')?.split(';')[0] ?? '';
  }

  function expectNothingDone(): void {
    expect(server.inspector.turns()).to.deep.equal([]);
    expect(server.model.prompts).to.deep.equal([]);
  }

  it('by a page of another site are refused on every route, with the token and the cookie', async () => {
    const own = await cookie();
    const port = server.port + 1;
    const foreign: readonly Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${port}` },
      { origin: 'http://127.0.0.1' },
      { origin: `http://localhost:${server.port}` },
      { origin: `http://127.0.0.1:${server.port}.evil.example` },
      { origin: 'file://' },
      { origin: 'chrome-extension://abcdefghijklmnop' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none, cross-site' },
      { origin: server.origin, 'sec-fetch-site': 'cross-site' },
    ];
    for (const route of ROUTES)
      for (const headers of foreign) {
        const [method = '', path = ''] = route.split(' ');
        const isPost = method === 'POST';
        const all = { ...withToken(), cookie: own, ...(isPost && JSON_TYPE), ...headers };
        const { status, headers: answered } = await send(method, path, all, isPost ? '{"text":"Pay"}' : undefined); // prettier-ignore
        expect(status, `${route} ${JSON.stringify(headers)}`).to.equal(403);
        expect(answered.has('access-control-allow-origin')).to.equal(false);
        expect(answered.has('set-cookie')).to.equal(false);
      }
    const opened = await send('GET', `/?token=${server.token}`, { 'sec-fetch-site': 'cross-site' });
    expect([opened.status, opened.headers.has('set-cookie')]).to.deep.equal([403, false]);
    expectNothingDone();
  });

  it('without the token, or with a wrong one, are refused on every route', async () => {
    const { token } = server;
    const [name = '', value = ''] = (await cookie()).split('=');
    const wrong: readonly Record<string, string>[] = [
      {},
      ...['', ' ', 'x', token.slice(0, -1), `${token}x`, token.toUpperCase(), token.split('').toReversed().join(''), value, `${token},${token}`].map((each) => ({ 'x-inspector-token': each })),
      ...[`Bearer ${token}x`, `Basic ${btoa(`x:${token}`)}`, token, `Bearer ${value}`, 'Bearer'].map((each) => ({ authorization: each })),
      ...[`${name}=${token}`, `${name}=${value}x`, `x${name}=${value}`, `${name}=`, `${name}=${value}; ${name}=x`, `${name}=${value}=`].map((each) => ({ cookie: each })),
      // a page that has the cookie does not get further with a wrong token
      { cookie: `${name}=${value}`, 'x-inspector-token': 'wrong' },
      { cookie: `${name}=${value}`, authorization: 'Bearer wrong' },
    ]; // prettier-ignore
    for (const route of ROUTES)
      for (const headers of wrong) {
        const [method = '', path = ''] = route.split(' ');
        const isPost = method === 'POST';
        const { status } = await send(method, path, { ...headers, ...(isPost && JSON_TYPE) }, isPost ? '{"text":"Pay"}' : undefined); // prettier-ignore
        expect(status, `${route} ${JSON.stringify(headers)}`).to.equal(401);
      }
    for (const query of ['token=', 'token=x', `token=${token}x`, `token=x&token=${token}`, `token=${token}&token=${token}`, `Token=${token}`, `token[]=${token}`]) {
      const { status, headers } = await send('GET', `/?${query}`, {});
      expect([query, status, headers.has('set-cookie')]).to.deep.equal([query, 401, false]);
    } // prettier-ignore
    // the address opens the page alone
    expect((await send('GET', `/api/turns/x?token=${token}`, {})).status).to.equal(401);
    expect((await send('GET', `/page.js?token=${token}`, {})).status).to.equal(401);
    expectNothingDone();
  });

  it('by names that lead to this computer are refused (DNS rebinding)', async () => {
    const { port, token } = server;
    const hosts = ['evil.example', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`, `localhost.evil.example:${port}`, `a.localhost:${port}`, `localhost.:${port}`, `0.0.0.0:${port}`, `127.0.0.2:${port}`, `[::]:${port}`, `[::ffff:127.0.0.1]:${port}`, `2130706433:${port}`, `0x7f000001:${port}`, `127.1:${port}`, `0177.0.0.1:${port}`, `evil@127.0.0.1:${port}`, `127.0.0.1:${port}@evil.example`, `127.0.0.1:${port},evil.example`, '', ' ', `127.0.0.1 :${port}`, `１２７.0.0.1:${port}`]; // prettier-ignore
    for (const host of hosts)
      for (const path of ['/', `/?token=${token}`, '/api/events', '/api/turns/x']) {
        const { status, text } = await server.raw(
          `GET ${path} HTTP/1.1\r\nconnection: close\r\nhost: ${host}\r\nx-inspector-token: ${token}\r\n\r\n`,
        );
        expect(status, `${host} ${path}`).to.be.oneOf([400, 403]);
        expect(text.toLowerCase()).not.to.include('set-cookie');
      }
    for (const header of ['x-forwarded-for: 10.0.0.7', 'forwarded: for=10.0.0.7', 'x-forwarded-host: evil.example', 'via: 1.1 proxy', 'x-real-ip: 10.0.0.7']) {
      const { status } = await server.raw(`GET /api/turns/x HTTP/1.1\r\nconnection: close\r\nhost: 127.0.0.1:${port}\r\n${header}\r\nx-inspector-token: ${token}\r\n\r\n`); // prettier-ignore
      expect(status, header).to.equal(403);
    } // prettier-ignore
    expectNothingDone();
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`]) {
      const { status } = await server.raw(`GET /api/turns/x HTTP/1.1\r\nconnection: close\r\nhost: ${host}\r\nx-inspector-token: ${token}\r\n\r\n`); // prettier-ignore
      expect(status, host).to.equal(404);
    } // prettier-ignore
  });

  it('by paths reach no other file than the page has', async () => {
    const { port, token } = server;
    const up = [
      '..',
      '%2e%2e',
      '.%2e',
      '%2E%2E',
      '..%00',
      '%252e%252e',
      '..;',
      '%c0%ae%c0%ae',
      '．．',
    ];
    const slashes = ['/', '%2f', '%5c', '\\', '%252f', '//'];
    const targets = up.flatMap((dots) =>
      slashes.flatMap((slash) => [
        `/${`${dots}${slash}`.repeat(8)}etc${slash}passwd`,
        `/page.js${slash}${`${dots}${slash}`.repeat(4)}package.json`,
        `/api/turns/${dots}${slash}${dots}${slash}events`,
        `/api/turns/${`${dots}${slash}`.repeat(6)}etc%2fpasswd/export`,
      ]),
    );
    const others = ['/package.json', '/page.js%00', '/page.js/', '/page.js.map', '/PAGE.JS', '/page-files.js', '/src/index.ts', '/.env', '/.git/config', '/api', '/api/', '/api/turns//export', '/api/turns/__proto__', '/api/turns/constructor/states', '/__proto__', '/toString', '//127.0.0.1/etc/passwd', `http://evil.example/etc/passwd`, 'file:///etc/passwd', '/%', '/%zz', '/api/turns/%', `/${'a'.repeat(10_000)}`, `/api/turns/${'a'.repeat(5_000)}`]; // prettier-ignore
    for (const target of [...targets, ...others]) {
      const { status, text } = await server.raw(
        `GET ${target} HTTP/1.1\r\nconnection: close\r\nhost: 127.0.0.1:${port}\r\nx-inspector-token: ${token}\r\n\r\n`,
      );
      // a path without dots may be one of the page: nothing else is there
      expect(status, target).to.be.oneOf([400, 404, 405]);
      expect(text, target).not.to.match(/root:|"advisor-chain"|event-stream/);
    }
  });

  it('by bodies that are no JSON objects, or too large, are refused', async () => {
    const bodies: readonly (string | Uint8Array)[] = [
      '', ' ', 'x', '{', '[]', 'null', '1', '"x"', 'NaN', '\0', 'a=b', '<xml/>', deep(10), deep(50_000), `{"text":"Pay","a":${deep(5_000)}}`,
      '{"text":"Pay","__proto__":{"repeat":"x"}}', '{"text":"Pay","options":{"__proto__":{}}}', `{"text":"${'x'.repeat(2_000_000)}"}`,
      new Uint8Array([0xff, 0xfe]), new Uint8Array([0x7b, 0x22, 0xc3, 0x28]), new Uint8Array(3_000_000),
    ]; // prettier-ignore
    const posts = ROUTES.filter((route) => route.startsWith('POST '));
    for (const route of posts)
      for (const body of bodies) {
        const path = route.slice('POST '.length);
        const { status } = await send('POST', path, { ...withToken(), ...JSON_TYPE }, body);
        expect(status, `${route} ${String(body).slice(0, 50)}`).to.be.oneOf([400, 413]);
      }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/json', 'application/jsonp', 'application/json5', 'text/plain; application/json', ''])
      for (const route of posts) {
        const headers = { ...withToken(), 'content-type': type };
        const { status } = await send('POST', route.slice(5), headers, '{"text":"Pay"}');
        expect(status, `${route} ${type}`).to.equal(400);
      } // prettier-ignore
    const head = `POST /api/try HTTP/1.1\r\nconnection: close\r\nhost: 127.0.0.1:${server.port}\r\nx-inspector-token: ${server.token}\r\ncontent-type: application/json\r\n`;
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    for (const rest of [
      `content-length: 99999999999\r\n\r\n{}`,
      `transfer-encoding: chunked\r\n\r\n${chunk.repeat(20)}0\r\n\r\n`,
      `content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}`,
      `content-length: -1\r\n\r\n{}`,
    ])
      expect((await server.raw(head + rest)).status, rest.slice(0, 60)).to.be.oneOf([400, 413]);
    expectNothingDone();
  });

  it('by changed bodies change nothing but what their fields may', async () => {
    const paused = await started('Pay');
    const file = (await send('GET', `/api/turns/${paused}/export`, withToken())).text;
    const request = server.inspector.turn(paused)?.pending[0]?.id ?? '';
    const explained = server.client.explain().toString();
    const counts = new Map<string, number>();
    const valid: Readonly<Record<string, unknown>> = {
      '/api/try': {
        text: 'Pay',
        conversationId: 'c',
        mode: 'call',
        options: { temperature: 0.5, stopSequences: ['x'] },
        advisors: [{ name: 'approval', order: 700 }, { name: 'tool-calling', isPresent: true, options: { maxIterations: 3 } }],
      },
      '/api/import': JSON.parse(file),
      [`/api/turns/${paused}/decisions`]: { [request]: { type: 'deny', reason: 'No.' } },
    }; // prettier-ignore
    for (const [path, body] of Object.entries(valid))
      await fc.assert(
        fc.asyncProperty(hostileVersions(body), async (text) => {
          const { status } = await send('POST', path, { ...withToken(), ...JSON_TYPE }, text);
          expect(status, `${path} ${text.slice(0, 2_000)}`).to.be.oneOf([200, 400, 404, 409, 410, 413, 422]); // prettier-ignore
          const key = `${path.split('/').at(-1)} ${status === 200}`;
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }),
        atLeast(300, `attacks-inspector-${path.split('/').at(-1)}`),
      );
    for (const { id } of server.inspector.turns()) {
      expect((await send('GET', `/api/turns/${id}`, withToken())).status).to.equal(200);
      expect((await send('GET', `/api/turns/${id}/states`, withToken())).status).to.equal(200);
    }
    expect(server.paid, 'no call ran').to.deep.equal([]);
    expect(server.client.explain().toString()).to.equal(explained);
    for (const key of ['try true', 'try false', 'decisions false', 'import false', 'import true'])
      expect(counts.get(key), `${key} ${JSON.stringify([...counts])}`).to.be.above(3);
  });

  it('by 600 changed requests get an answer that is none, and the server lives', async () => {
    const { port, token } = server;
    const part = fc.constantFrom('GET', 'POST', 'DELETE', 'PUT', 'TRACE', 'CONNECT', '/', '/api/try', '/api/events', '/page.js', ' ', '  ', '\r', '\n', '\r\n', '\0', ':', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', `host: 127.0.0.1:${port}`, 'host: evil.example', `x-inspector-token: ${token}`, 'cookie: a=b', 'content-length: 5', 'transfer-encoding: chunked', 'upgrade: websocket', 'expect: 100-continue', '{"text":"Pay"}', '\u00ff', 'x'.repeat(20_000)); // prettier-ignore
    let answered = 0;
    const requests = fc.array(part, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));
    const lines = fc
      .array(part, { minLength: 1, maxLength: 8 })
      .map((parts) => `GET / HTTP/1.1\r\n${parts.join('\r\n')}\r\n\r\n`);
    await fc.assert(
      fc.asyncProperty(fc.oneof(requests, lines), async (request) => {
        const { status, text } = await server.raw(`${request}\r\n\r\n`, false);
        if (status > 0) answered++;
        // the page itself is open to requests with the token
        const isOpen = status === 200 && request.includes(token) && request.startsWith('GET / ');
        if (!isOpen) expect(status, request.slice(0, 300)).not.to.be.within(200, 299);
        expect(text).not.to.match(new RegExp(`${CANARY}|node:internal|root:x:`));
      }),
      atLeast(600, 'attacks-inspector-requests'),
    );
    expect(answered).to.be.above(200);
    expect((await send('GET', '/api/turns/x', withToken())).status).to.equal(404);
    expectNothingDone();
  });

  it('in production find no inspector', async () => {
    process.env['NODE_ENV'] = 'production';
    for (const route of ROUTES) {
      const [method = '', path = ''] = route.split(' ');
      const { status } = await send(method, path, { ...withToken(), ...(method === 'POST' && JSON_TYPE) }, method === 'POST' ? '{}' : undefined); // prettier-ignore
      expect(status, route).to.equal(404);
    }
    expect((await send('GET', `/?token=${server.token}`, {})).headers.has('set-cookie')).to.equal(false); // prettier-ignore
  });

  it('find no secret in what the page shows: keys, values for tools, the token', async () => {
    const id = await started('My key is sk-ant-0123456789abcdefghij.');
    for (const path of [`/api/turns/${id}`, `/api/turns/${id}/states`, `/api/turns/${id}/export`]) {
      const { text } = await send('GET', path, withToken());
      expect(text, path).not.to.include('sk-ant-0123456789').and.not.include(server.token);
    }
  });

  async function started(text: string): Promise<string> {
    const body = JSON.stringify({ text, mode: 'call' });
    const { text: answer } = await send('POST', '/api/try', { ...withToken(), ...JSON_TYPE }, body);
    const { id } = JSON.parse(answer) as { readonly id: string };
    while (server.inspector.turn(id)?.outcome === 'running')
      await new Promise((resolve) => setImmediate(resolve));
    return id;
  }
});
