import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../support/browser.js';
import { BASE, FAILED, WAITING } from '../../support/inspector-page-turns.js';
import { InspectorPageServer } from '../../support/inspector-page-server.js';
import { openInspectorPage, waitUntil, type OpeningOptions } from '../../support/inspector-page.js';

describe('page of the inspector', function () {
  this.slow(10_000);

  let browser: Browser;
  let server: InspectorPageServer;
  let page: Page;
  let strays: string[];

  before(async function () {
    browser = await launchBrowser(this);
  });
  after(() => browser?.close());
  beforeEach(async () => {
    server = await InspectorPageServer.start(BASE, FAILED, WAITING);
  });
  afterEach(async () => {
    await page?.context().close();
    await server.stop();
    expect(strays).to.deep.equal([]);
  });

  async function open(options: OpeningOptions = {}): Promise<void> {
    ({ page, strays } = await openInspectorPage(browser, server.origin, options));
  }

  const rows = () => page.getByRole('navigation', { name: 'Turns' }).getByRole('link');
  const detail = () => page.locator('#detail');

  it('lists the turns, the newest first, and shows the one that is chosen', async () => {
    await open();
    expect(await rows().count()).to.equal(3);
    await page.getByText('3 of 500 turns, 1.3 MB of 50.0 MB').waitFor();
    expect(await rows().first().textContent())
      .to.contain('weather in Rome')
      .and.contain('2.62 s');

    await rows().filter({ hasText: 'hotel' }).click();

    await detail().getByRole('heading', { name: 'Book a hotel in Milan' }).waitFor();
    expect(page.url()).to.match(/#\/turns\/hotel\/timeline$/);
    expect(await detail().textContent()).to.contain('The hotel does not answer');
    const retry = detail().getByRole('button', { name: /^retry 7000/ });
    expect(await retry.getAttribute('aria-label')).to.match(/has failed$/);
  });

  it('reduces the list by text, conversation and kind, and shows all again', async () => {
    await open();
    const filter = page.getByRole('searchbox');
    await filter.fill('bert');
    expect(await rows().allTextContents()).to.have.lengthOf(1);
    await filter.fill('no such text');
    await page.getByRole('button', { name: 'Show all turns' }).click();
    for (const [kind, text] of [
      ['failed', 'hotel'],
      ['running', 'Pay'],
      ['slow', 'weather'],
      ['costly', 'hotel'],
    ] as const) {
      await page.getByRole('button', { name: kind }).click();
      expect(await rows().first().textContent()).to.contain(text);
      await page.getByRole('button', { name: kind }).click();
    }
    expect(await rows().count()).to.equal(3);
  });

  it('leads from a call of the model to its request', async () => {
    await open({ hash: '#/turns/trip/timeline' });
    await detail()
      .getByRole('button', { name: 'model gpt-5-mini iteration 1 RateLimitError' })
      .click();
    await detail().getByRole('link', { name: 'See the request' }).click();
    const chosen = detail().locator('[aria-pressed=true], [aria-current=true], :checked');
    await detail().getByRole('heading', { name: 'What the model got' }).waitFor();
    expect((await chosen.allTextContents()).join()).to.contain('attempt 1');
  });

  it('shows a turn while it runs, and announces its end', async () => {
    await open();
    const running = { ...BASE, id: 'live', startedAt: Date.now(), outcome: 'running' as const };
    const { duration: _, ...started } = running;
    server.put({ ...started, question: 'And now?', questionText: 'And now?', answerText: 'It', timeline: BASE.timeline.slice(0, 6).map(({ end: _end, ...entry }) => entry), revision: 1 }); // prettier-ignore
    await rows().filter({ hasText: 'And now?' }).click();
    await detail().getByText('It', { exact: true }).waitFor();
    expect(await page.evaluate('document.getAnimations().length')).to.be.above(0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await waitUntil(page, 'document.getAnimations().length === 0');
    const active = detail().getByRole('button', { name: /^compaction .*at work$/ });
    await active.waitFor();

    server.put({ ...running, question: 'And now?', outcome: 'answered', answerText: 'It rains.', revision: 2 }); // prettier-ignore

    await detail().getByText('It rains.').waitFor();
    expect(await active.count()).to.equal(0);
    const live = page.locator('[aria-live=polite]').filter({ hasText: '“And now?” is answered' });
    await live.waitFor({ state: 'attached' });
  });

  it('shows a turn that the process no longer keeps, with the reason', async () => {
    await open({ hash: '#/turns/hotel/timeline' });
    await detail().getByRole('heading', { name: 'Book a hotel' }).waitFor();
    let reads = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/turns/hotel')) reads++;
    });
    server.remove('hotel');
    await detail().getByText('This turn is no longer kept').waitFor();
    server.put({ ...WAITING, revision: 41 });
    server.put({ ...BASE, question: 'The last change', revision: 41 });
    await rows().filter({ hasText: 'The last change' }).waitFor();
    expect(await detail().textContent()).to.contain('The hotel does not answer');
    expect(reads).to.equal(1);
  });

  it('connects again after its connection broke, with the turns of then', async () => {
    await open();
    server.turns.delete('hotel');
    server.disconnect();
    await waitUntil(page, `document.querySelectorAll('nav.turns li').length === 2`);
    await page.getByText('Live', { exact: true }).waitFor();
    server.remove('payment');
    await waitUntil(page, `document.querySelectorAll('nav.turns li').length === 1`);
  });

  it('names the token when the process refuses the page', async () => {
    await open();
    server.isClosed = true;
    server.disconnect();
    await page.getByText('No access: open the address that the process printed').waitFor();
    server.isClosed = false;
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('keeps the chosen theme', async () => {
    await open({ colorScheme: 'light' });
    const background = (): Promise<string> =>
      page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    await page.getByLabel('Theme').selectOption('dark');
    const dark = await background();
    await page.reload();
    expect(dark).not.to.equal(light);
    expect(await background()).to.equal(dark);
  });

  it('begins with what to do first', async () => {
    server.turns.clear();
    await open();
    await page.getByRole('heading', { name: 'Waiting for the first turn' }).waitFor();
    expect(await detail().textContent()).to.contain('Send a prompt with your client');
  });
});
