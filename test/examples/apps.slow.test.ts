import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import type { Json } from '../support/cassettes.js';
import { startApp, type StartedApp } from '../support/started-app.js';
import {
  beginEvents,
  chunk,
  sendEvent,
  WireServer,
  type Exchange,
} from '../support/wire-server.js';

/** Milliseconds from a click on Stop until the socket of the model is closed. */
const MAX_STOP = 200;

describe('examples/apps in a browser', function () {
  this.slow(10_000);

  let browser: Browser;
  let model: WireServer;
  /** Requests to the model that tests have awaited. */
  let asked = 0;
  /** Running servers by their path and kind of model: each starts once. */
  const apps = new Map<string, StartedApp>();
  let page: Page;
  /** Requests of a page that leave its origin, and errors of its scripts. */
  let strays: string[];

  before(async function () {
    browser = await launchBrowser(this);
    model = await WireServer.start(() => undefined);
  });
  after(async () => {
    await browser?.close();
    await Promise.all([...apps.values()].map((app) => app.stop()));
    await model?.close();
  });
  afterEach(async () => {
    await page.context().close();
    expect(strays).to.deep.equal([]);
  });

  /** A server, whose model is this test, or the offline one. */
  async function started(path: string, kind: 'test' | 'offline'): Promise<StartedApp> {
    const env = kind === 'test' && { OPENAI_API_KEY: 'test', OPENAI_BASE_URL: model.baseURL };
    const app = apps.get(path + kind) ?? (await startApp(path, { ...env }));
    apps.set(path + kind, app);
    return app;
  }

  const portOf = async (path: string): Promise<number> =>
    Number(new URL((await started(path, 'test')).origin).port);

  interface Opened {
    readonly kind?: 'test' | 'offline';
    /** Port of a proxy before the server. */
    readonly through?: number;
  }

  /** Opens the page of a server in a new session. */
  async function open(path: string, { kind = 'test', through }: Opened = {}): Promise<void> {
    const app = await started(path, kind);
    const own = through === undefined ? app.origin : `http://127.0.0.1:${through}`;
    strays = [];
    page = await (await browser.newContext()).newPage();
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'data:' && origin !== own) strays.push(request.url());
    });
    page.on('pageerror', (error) => strays.push(error.message));
    await page.goto(own);
  }

  async function ask(text: string): Promise<void> {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  }

  /** The next request to the model, whose stream has begun. */
  async function begun(): Promise<Exchange> {
    const exchange = await model.nextExchange(++asked);
    beginEvents(exchange);
    return exchange;
  }

  const shown = (text: string) => page.getByText(text, { exact: true }).waitFor();
  const status = (text: string) =>
    page.getByRole('status').and(page.getByText(text)).waitFor({ state: 'attached' });

  describe('hono-react', () => {
    const APP = 'hono-react/server.ts';

    it('starts offline: a tool call, its result and the answer', async () => {
      await open(APP, { kind: 'offline' });
      await page.getByRole('button', { name: 'A tool' }).click();
      await page.getByRole('button', { name: 'Send' }).click();

      await page.getByText(/^get_weather: Rome: today sunny .* 17 degrees\.$/).waitFor();

      const tool = page.getByRole('region', { name: 'Tool get_weather' });
      expect(await tool.getAttribute('data-state')).to.equal('output-available');
    });

    it('streams a text, piece by piece', async () => {
      await open(APP);
      await ask('Hello');
      const answer = await begun();

      sendEvent(answer, chunk({ role: 'assistant', content: 'Good mor' }));
      await shown('Good mor');
      await status('The assistant is writing.');
      sendEvent(answer, chunk({ content: 'ning.' }));
      await shown('Good morning.');
      finish(answer);
      await page.getByRole('button', { name: 'Send' }).waitFor();
    });

    for (const [button, isAllowed] of [
      ['Allow', true],
      ['Deny', false],
    ] as const)
      it(`shows a call whose input grows, asks for approval, and obeys "${button}"`, async () => {
        await open(APP);
        await ask('Send Ben a note');
        const first = await begun();
        const tool = page.getByRole('region', { name: 'Tool send_note' });
        const input = (text: string) => tool.getByText(text).waitFor();

        sendEvent(first, callChunk('send_note', '{"to":"Ben","te'));
        await input('{ "to": "Ben" }');
        expect(await tool.getAttribute('data-state')).to.equal('input-streaming');
        sendEvent(first, callPiece('xt":"We meet'));
        await input('{ "to": "Ben", "text": "We meet" }');
        sendEvent(first, callPiece(' at ten."}'));
        finish(first, 'tool_calls');
        await status('Your decision is needed.');
        await tool.getByRole('button', { name: button }).click();

        const second = await begun();
        const result = (second.body['messages'] as readonly Json[]).at(-1);
        expect(result).to.include({ role: 'tool' });
        if (isAllowed) expect(result?.['content']).to.equal('The note to Ben is sent.');
        else expect(result?.['content']).to.match(/^Not run: the user denied this call/);
        sendEvent(second, chunk({ role: 'assistant', content: 'That is settled.' }));
        finish(second);
        await shown('That is settled.');
        expect(await tool.getAttribute('data-state')).to.equal(
          isAllowed ? 'output-available' : 'output-denied',
        );
        expect(await tool.count()).to.equal(1);
      });

    it('runs a tool of the page, and gives the model its output', async () => {
      await open(APP);
      await ask('What is my time zone?');
      const first = await begun();
      sendEvent(first, callChunk('get_time_zone', '{}'));
      finish(first, 'tool_calls');

      const second = await begun();
      const { timeZone } = await page.evaluate<{ timeZone: string }>(
        'Intl.DateTimeFormat().resolvedOptions()',
      );
      const result = (second.body['messages'] as readonly Json[]).at(-1);
      expect(result).to.include({ role: 'tool' });
      expect(JSON.parse(String(result?.['content']))).to.deep.equal({ timeZone });
      sendEvent(second, chunk({ role: 'assistant', content: 'I know it now.' }));
      finish(second);
      await shown('I know it now.');
      await page.getByRole('button', { name: 'Send' }).waitFor();
      const tool = page.getByRole('region', { name: 'Tool get_time_zone' });
      expect(await tool.getAttribute('data-state')).to.equal('output-available');
      expect(model.exchanges).to.have.lengthOf(asked);
    });

    it('survives a reload in mid-answer, without a lost or doubled character', async () => {
      await open(APP);
      await ask('Hello');
      const answer = await begun();
      sendEvent(answer, chunk({ role: 'assistant', content: 'One two ' }));
      await shown('One two');

      await page.reload();
      await shown('One two');
      sendEvent(answer, chunk({ content: 'three ' }));
      await shown('One two three');
      const loaded = page.reload();
      sendEvent(answer, chunk({ content: 'four ' }));
      await loaded;
      sendEvent(answer, chunk({ content: 'five.' }));
      finish(answer);

      await shown('One two three four five.');
      await page.getByRole('button', { name: 'Send' }).waitFor();
      const parts = page.getByRole('article', { name: 'Assistant' }).locator('p');
      expect(await parts.allTextContents()).to.deep.equal(['One two three four five.']);
      await page.reload();
      await shown('One two three four five.');
      expect(await parts.allTextContents()).to.deep.equal(['One two three four five.']);
      expect(await page.getByRole('article', { name: 'You' }).count()).to.equal(1);
    });

    it('shows a call once that was allowed before a reload', async () => {
      await open(APP);
      await ask('Send Ben a note');
      const first = await begun();
      sendEvent(first, chunk({ role: 'assistant', content: 'One moment.' }));
      sendEvent(first, callChunk('send_note', '{"to":"Ben","text":"We meet."}'));
      finish(first, 'tool_calls');
      await page.getByRole('button', { name: 'Allow' }).waitFor();
      await page.reload(); // the request is still there
      await page.getByRole('button', { name: 'Allow' }).click();
      const second = await begun();
      sendEvent(second, chunk({ role: 'assistant', content: 'It is ' }));
      await shown('It is');

      await page.reload();
      sendEvent(second, chunk({ content: 'sent.' }));
      finish(second);

      await shown('It is sent.');
      await page.getByRole('button', { name: 'Send' }).waitFor();
      const message = page.getByRole('article', { name: 'Assistant' });
      expect(await message.locator('> p').allTextContents()).to.deep.equal([
        'One moment.',
        'It is sent.',
      ]);
      expect(await page.getByRole('region').count()).to.equal(1);
      expect(await page.getByRole('button', { name: 'Allow' }).count()).to.equal(0);
    });

    it(`closes the socket of the model within ${MAX_STOP} ms after a click on Stop`, async () => {
      await open(APP);
      await page.evaluate(
        "addEventListener('click', () => { window.clickedAt = Date.now(); }, true)",
      );
      const times: number[] = [];
      // the best of three: a busy machine adds time
      for (let round = 0; round < 3; round++) {
        await ask('List all');
        const answer = await begun();
        sendEvent(answer, chunk({ role: 'assistant', content: `Once ${round}` }));
        await shown(`Once ${round}`);
        const closed = new Promise<number>((resolve) =>
          answer.socket.once('close', () => resolve(Date.now())),
        );
        await page.getByRole('button', { name: 'Stop' }).click();
        times.push((await closed) - (await page.evaluate<number>('window.clickedAt')));
        await page.getByRole('button', { name: 'Send' }).waitFor();
        await shown(`Once ${round}`);
      }
      console.log(`      from the click to the closed socket: ${times.join(', ')} ms`);
      expect(Math.min(...times)).to.be.below(MAX_STOP);
    });
  });

  // SCREENSHOTS=1 writes the pictures of the docs
  if (process.env['SCREENSHOTS'])
    it('is shown in docs/images', async () => {
      const picture = (name: string) => page.screenshot({ path: `docs/images/${name}.png` });
      await open('hono-react/server.ts');
      await page.setViewportSize({ width: 720, height: 520 });
      await page.getByRole('button', { name: 'An approval' }).click();
      await page.getByRole('button', { name: 'Send' }).click();
      const first = await begun();
      sendEvent(first, chunk({ role: 'assistant', content: 'I write the note.' }));
      sendEvent(first, callChunk('send_note', '{"to":"Ben","text":"We meet at ten, in the'));
      await page.getByText('in the"').waitFor();
      await picture('useChat-streaming');
      sendEvent(first, callPiece(' large room on the second floor."}'));
      finish(first, 'tool_calls');
      await page.getByRole('button', { name: 'Allow' }).waitFor();
      await picture('useChat-approval');
      await page.getByRole('button', { name: 'Allow' }).click();
      const second = await begun();
      sendEvent(second, chunk({ role: 'assistant', content: 'Ben has the note: you meet at ' }));
      await page.getByText('you meet at').waitFor();
      await page.reload();
      await page.getByText('you meet at').waitFor();
      sendEvent(second, chunk({ content: 'ten, in the large room.' }));
      await page.getByText('in the large room.').waitFor();
      await picture('useChat-after-a-reload');
      finish(second);
    });

  describe('express-sse', () => {
    const APP = 'express-sse/server.ts';

    async function askByForm(text: string): Promise<Exchange> {
      await page.getByLabel('Question').fill(text);
      await page.getByRole('button', { name: 'Ask' }).click();
      return begun();
    }

    it('streams an answer to an EventSource, and the whole of it after a reload', async () => {
      await open(APP);
      const answer = await askByForm('Hello');

      sendEvent(answer, chunk({ role: 'assistant', content: 'Good mor' }));
      await shown('Good mor');
      await page.reload();
      sendEvent(answer, chunk({ content: 'ning.' }));
      await shown('Good morning.');
      finish(answer);
      await page.getByRole('button', { name: 'Stop', disabled: true }).waitFor();
      await shown('Good morning.');
    });

    it('continues after the last event when the connection has broken', async () => {
      const proxy = new CuttingProxy({ host: '127.0.0.1', port: await portOf(APP) });
      try {
        await open(APP, { through: await proxy.listen() });
        const answer = await askByForm('Hello');
        sendEvent(answer, chunk({ role: 'assistant', content: 'One two ' }));
        await shown('One two');

        proxy.cutAfter({ direction: 'reply', at: 0 });
        sendEvent(answer, chunk({ content: 'three ' })); // on its way when the connection breaks
        await status('Connecting …');
        sendEvent(answer, chunk({ content: 'four.' }));
        finish(answer);

        await shown('One two three four.');
        expect(proxy.cuts).to.equal(1);
      } finally {
        proxy.close();
      }
    });

    it('ends the run by its Stop', async () => {
      await open(APP);
      const { socket } = await askByForm('Hello');
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));

      await page.getByRole('button', { name: 'Stop' }).click();

      await closed;
      await page.getByRole('button', { name: 'Stop', disabled: true }).waitFor();
    });

    it('starts offline', async () => {
      await open(APP, { kind: 'offline' });
      await page.getByRole('button', { name: 'Ask' }).click();

      await page.getByText(/^get_weather: Rome: today sunny .* rain\.$/).waitFor();
    });
  });
});

/** The beginning of a tool call. */
function callChunk(name: string, text: string): Json {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name, arguments: text } };
  return chunk({ role: 'assistant', content: null, tool_calls: [call] });
}

/** A further piece of its arguments. */
function callPiece(text: string): Json {
  return chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] });
}

function finish(exchange: Exchange, reason = 'stop'): void {
  sendEvent(exchange, chunk({}, reason));
  sendEvent(exchange, '[DONE]');
  exchange.response.end();
}
