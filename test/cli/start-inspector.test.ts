import { connect } from 'node:net';
import { expect } from 'chai';
import { startInspector, type StartedInspector } from '../../src/cli/start-inspector.js';
import { ChatClient, InvalidArgumentError } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { withoutVariable } from '../support/without-variable.js';

const client = ChatClient.create(new ScriptedChatModel(() => 'An answer.'));

const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail('it has started'),
    (error: unknown) => error,
  );

describe('the server of an inspector', () => {
  withoutVariable('NODE_ENV');
  let started: StartedInspector | undefined;
  afterEach(() => started?.close());

  it('gives the address of its page, which a browser opens by a cookie', async () => {
    const { url } = (started = await startInspector(client));
    const { origin, searchParams } = new URL(url);

    const first = await fetch(url, { redirect: 'manual' });
    const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
    const tried = await fetch(`${origin}/api/try`, {
      method: 'POST',
      headers: { cookie, origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      body: '{"text":"Hello"}',
    }); // prettier-ignore
    const { id } = (await tried.json()) as { readonly id: string };
    const turn = await fetch(`${origin}/api/turns/${id}`, { headers: { cookie } });

    expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}$/);
    expect(searchParams.get('token')).to.have.length(43);
    expect([first.status, first.headers.get('location')]).to.deep.equal([303, '/']);
    expect(await turn.json()).to.include({ source: 'page', question: 'Hello' });
  });

  it('ends with the events of its readers', async () => {
    started = await startInspector(client);
    const { origin, searchParams } = new URL(started.url);
    const headers = { 'x-inspector-token': searchParams.get('token') ?? '' };
    const events = await fetch(`${origin}/api/events`, { headers });
    const reader = (events.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();

    await started.close();

    expect(await refusalOf(reader.read())).to.be.instanceOf(Error);
    expect(await refusalOf(fetch(origin))).to.be.instanceOf(Error);
  });

  it('is refused in production, unless it is allowed there', async () => {
    process.env['NODE_ENV'] = 'production';
    const error = await refusalOf(startInspector(client));
    expect(error).to.be.instanceOf(InvalidArgumentError);
    expect((error as Error).message).to.include('NODE_ENV is production');

    started = await startInspector(client, { allowInProduction: true });
    expect((await fetch(new URL(started.url).origin)).status).to.equal(401);
  });

  it('names a port that is not free, or out of range', async () => {
    started = await startInspector(client);
    const port = Number(new URL(started.url).port);
    for (const wrong of [port, 70_000, -1])
      expect(await refusalOf(startInspector(client, { port: wrong })))
        .to.be.instanceOf(InvalidArgumentError)
        .with.property('message')
        .that.includes(`port ${wrong} is `);
  });

  it('answers connections of this computer alone', async () => {
    started = await startInspector(client);
    const port = Number(new URL(started.url).port);
    const reached = await new Promise<boolean>((resolve) => {
      // another address of loopback stands in place of the network
      const socket = connect({ host: '127.0.0.2', port });
      socket.on('connect', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('close', () => socket.destroy());
    });
    expect(reached).to.equal(false);
  });
});
