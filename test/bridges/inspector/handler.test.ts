import { expect } from 'chai';
import { inspectorHandler } from '../../../src/bridges/inspector/inspector-handler.js';
import type { InspectorHandlerOptions } from '../../../src/bridges/inspector/handler-options.js';
import { Inspector } from '../../../src/bridges/inspector/inspector.js';
import type { ExportedTurns } from '../../../src/bridges/inspector/inspected-turn.js';
import { ChatClient, InvalidArgumentError } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { InspectedClient, ORIGIN } from '../../support/inspected-client.js';
import { printedDuring } from '../../support/printed-during.js';
import { withoutVariable } from '../../support/without-variable.js';

const clientOf = (): ChatClient =>
  ChatClient.create(new ScriptedChatModel(() => ({ text: 'An answer.' })));

describe('the handler of an inspector', () => {
  withoutVariable('NODE_ENV');

  it('opens with the token in the address once, then with a cookie of the page', async () => {
    const page = new InspectedClient();
    const { token } = page.handler;

    const first = await page.fetch(`/?token=${token}`);
    const cookie = first.headers.get('set-cookie') ?? '';
    const second = await page.fetch('/page.js', {
      headers: { cookie: cookie.split(';')[0] ?? '' },
    });

    expect(token).to.match(/^[\w-]{43}$/);
    expect([first.status, first.headers.get('location')]).to.deep.equal([303, '/']);
    expect(cookie).to.match(
      /^advisor-chain-inspector-4000=[\da-f]{64}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie).not.to.include(token);
    expect(second.status).to.be.oneOf([200, 503]); // 503: the page is not built
  });

  it('opens to programs with the token in a header', async () => {
    const page = new InspectedClient();
    for (const headers of [
      { 'x-inspector-token': page.handler.token },
      { authorization: `Bearer ${page.handler.token}` },
    ])
      expect((await page.fetch('/api/turns/x', { headers })).status).to.equal(404);
  });

  it('answers with headers under which no other page embeds, reads or keeps it', async () => {
    const page = new InspectedClient(clientOf());
    const { id } = await page.try({ text: 'Hello' });
    for (const answer of [
      await page.get(`/api/turns/${id}`),
      await page.get('/api/turns/unknown'),
      await page.fetch('/'),
      await page.fetch(`/?token=${page.handler.token}`),
    ]) {
      const { headers } = answer;
      expect(headers.get('content-security-policy')).to.equal(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      );
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
      expect(headers.get('cross-origin-opener-policy')).to.equal('same-origin');
      expect(headers.get('cross-origin-resource-policy')).to.equal('same-origin');
      expect(headers.has('access-control-allow-origin')).to.equal(false);
    }
  });

  it('answers below a path of an application', async () => {
    const page = new InspectedClient(clientOf(), { path: '/dev/inspector' });
    const { token } = page.handler;

    const opened = await page.fetch(`/dev/inspector?token=${token}`);

    expect(opened.headers.get('location')).to.equal('/dev/inspector/');
    expect(opened.headers.get('set-cookie')).to.include('; Path=/dev/inspector;');
    expect((await page.get('/dev/inspector')).headers.get('location')).to.equal('/dev/inspector/');
    expect((await page.get('/dev/inspector/api/turns/x')).status).to.equal(404);
    for (const path of ['/', '/api/events', '/dev', '/dev/inspector-2/', '/page.js'])
      expect((await page.get(path)).status, path).to.equal(404);
  });

  it('answers with a turn, its states and its file, which another one opens', async () => {
    const page = new InspectedClient(clientOf());
    const turn = await page.try({ text: 'Hello' });
    const other = new InspectedClient();

    const file = await page.get(`/api/turns/${turn.id}/export`);
    const states = await page.get(`/api/turns/${turn.id}/states`);
    const imported = await other.post('/api/import', file.text);
    const { ids } = imported.json as { readonly ids: readonly string[] };
    const opened = await other.turn(ids[0] ?? '');

    expect(turn).to.include({ source: 'page', outcome: 'answered', answerText: 'An answer.' });
    expect(states.json).to.be.an('array');
    expect(file.headers.get('content-disposition')).to.equal(
      `attachment; filename="turn-${turn.id}.json"`,
    );
    expect((file.json as ExportedTurns).format).to.equal('advisor-chain/turns');
    expect(opened).to.include({ source: 'file', isLive: false, answerText: 'An answer.' });
    expect((await other.post('/api/try', { repeat: opened.id })).status).to.equal(409);
  });

  it('forgets the turns that have ended', async () => {
    const page = new InspectedClient(clientOf());
    await page.try({ text: 'Hello' });

    const { status, json } = await page.fetch('/api/turns', {
      method: 'DELETE',
      headers: { 'x-inspector-token': page.handler.token },
    });

    expect([status, json]).to.have.nested.property('[1].kept.turns', 0);
    expect(page.inspector.turns()).to.deep.equal([]);
  });

  it('answers other paths by 404, other methods by 405', async () => {
    const page = new InspectedClient(clientOf());
    const headers = { 'x-inspector-token': page.handler.token };
    for (const path of ['/x', '/api', '/api/', '/api/turns', '/api/turns/', '/page.js/', `${ORIGIN}//page.js`, '/api/turns/a/b', '/api/turns/a/states/b', '/api/turns/%E0%A4%A', '/__proto__', '/constructor'])
      expect((await page.get(path)).status, path).to.be.oneOf(path === '/api/turns' ? [405] : [404]); // prettier-ignore
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'])
      expect((await page.fetch('/', { method, headers })).status, method).to.equal(405);
  });

  it('refuses options without showing the token', () => {
    const inspector = new Inspector();
    for (const [options, text] of [
      [{ token: 'secret-canary' }, 'token must be a text of 32 to 256 letters'],
      [{ hosts: ['http://x'] }, 'hosts must be an array of hosts'],
      [{ path: 'x' }, 'path must be a path'],
      [{ maxBodyBytes: 0 }, 'maxBodyBytes'],
      [{ client: {} }, 'client must be a ChatClient'],
      [{ tokn: 'secret-canary' }, 'there is no option `tokn`'],
    ] as const) {
      const make = (): unknown => inspectorHandler(inspector, options as object);
      expect(make).to.throw(InvalidArgumentError, text);
      expect(make).not.to.throw('secret-canary');
    }
    expect(() => inspectorHandler({} as Inspector)).to.throw('inspector must be an Inspector');
  });

  it('answers with the name of the command if the page is not built', async () => {
    const page = new InspectedClient();
    const { status, text } = await page.get('/');
    if (status === 503) expect(text).to.include('npm run build:page');
    else expect(text).to.include('<title>');
  });

  describe('with an error of the server', () => {
    const canary = new Error('canary');

    async function fails(options: InspectorHandlerOptions): Promise<string> {
      const inspector = new Inspector();
      inspector.states = () => Promise.reject(canary);
      inspector.turn = () => ({}) as ReturnType<Inspector['turn']>;
      const handler = inspectorHandler(inspector, options);
      const headers = { 'x-inspector-token': handler.token };
      const response = await handler(new Request(`${ORIGIN}/api/turns/x/states`, { headers }));
      expect(response.status).to.equal(500);
      return response.text();
    }

    it('gives it to its listener, and shows none of it', async () => {
      const errors: unknown[] = [];

      const text = await fails({ onError: (error) => errors.push(error) });

      expect(text).not.to.include('canary');
      expect(errors).to.deep.equal([canary]);
    });

    it('prints it without a listener', async () => {
      const printed = await printedDuring(() => fails({}));

      expect(printed.map(([, error]) => error)).to.deep.equal([canary]);
    });
  });
});
