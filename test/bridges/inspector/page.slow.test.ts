import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../support/browser.js';
import { inspectedTurn } from '../../support/inspector-fixtures.js';
import { InspectorPageServer } from '../../support/inspector-page-server.js';
import {
  axeViolations,
  openInspectorPage,
  overflow,
  waitUntil,
  type OpeningOptions,
} from '../../support/inspector-page.js';

const BASE = inspectedTurn();
const FAILED = inspectedTurn({
  id: 'hotel',
  startedAt: BASE.startedAt - 60_000,
  question: 'Book a hotel in Milan',
  questionText: 'Book a hotel in Milan',
  answer: '',
  answerText: '',
  conversationId: 'bert-2',
  outcome: 'failed',
  duration: 900,
  cost: 0.2,
  error: { name: 'ToolError', message: 'The hotel does not answer', advisor: 'retry' },
});
const WAITING = inspectedTurn({
  id: 'payment',
  startedAt: BASE.startedAt - 120_000,
  question: 'Pay the bill',
  outcome: 'paused',
  pending: [
    {
      type: 'approval',
      id: 'a1',
      toolName: 'pay',
      callId: 'c1',
      arguments: { amount: 12 },
      argumentsText: '{"amount":12}',
      prompt: 'Pay 12 euros?',
      effect: 'write',
      scopes: ['once'],
      fingerprint: 'f',
    },
  ],
});

/** An element of a part of the page that is shown when it has its data. */
const OPENED: Readonly<Record<string, string>> = {
  '': 'nav.turns li',
  '#/try': '#detail form, #detail h2',
};

/** Name of the element that has the focus; empty without one. */
const FOCUSED = `(({ activeElement: element, body }) =>
  element === body ? '' : (element.getAttribute('aria-label') ?? element.textContent))(document)`;

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

  it('is used by the keyboard alone', async () => {
    await open();
    const press = async (...keys: readonly string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = (): Promise<string> => page.evaluate(FOCUSED);
    const tabTo = async (text: string): Promise<void> => {
      for (let tabs = 0; tabs < 60 && !(await focused()).includes(text); tabs++) await press('Tab');
      expect(await focused()).to.contain(text);
    };
    await tabTo('weather in Rome');
    await press('ArrowDown');
    await detail().getByRole('heading', { name: 'Book a hotel' }).waitFor();
    expect(await focused()).to.contain('hotel');
    await press('End', 'ArrowUp', 'Home');
    await detail()
      .getByRole('heading', { name: /weather in Rome/ })
      .waitFor();
    await tabTo('guard 2000');
    await press('Enter');
    await detail().getByRole('heading', { name: 'guard' }).waitFor();
    expect(await detail().textContent()).to.contain('onFinding: mask');
    await tabTo('advisor observability');
    await press(...Array.from({ length: 9 }, () => 'ArrowDown'), 'Enter');
    expect(await focused()).to.contain('RateLimitError');
    await detail().getByText('too many requests').waitFor();
  });

  it('leads from the list to a turn and back on a narrow page, with the focus', async () => {
    await open({ width: 360 });
    await rows().first().focus();
    await page.keyboard.press('Enter');
    await detail()
      .getByRole('heading', { name: /weather in Rome/ })
      .waitFor();
    expect(await rows().first().isVisible()).to.equal(false);
    await waitUntil(page, `document.activeElement.id === 'detail'`);
    await page.getByRole('link', { name: 'All turns' }).click();
    await rows().first().waitFor();
    await waitUntil(page, `document.activeElement.textContent.includes('weather in Rome')`);
    expect(await detail().isVisible()).to.equal(false);
  });

  it('shows a turn while it runs, and announces its end', async () => {
    await open();
    const running = { ...BASE, id: 'live', startedAt: Date.now(), outcome: 'running' as const };
    const { duration: _, ...started } = running;
    server.put({ ...started, question: 'And now?', questionText: 'And now?', answerText: 'It', timeline: BASE.timeline.slice(0, 6).map(({ end: _end, ...entry }) => entry), revision: 1 }); // prettier-ignore
    await rows().filter({ hasText: 'And now?' }).click();
    await detail().getByText('It', { exact: true }).waitFor();
    const active = detail().getByRole('button', { name: /^compaction .*at work$/ });
    await active.waitFor();

    server.put({ ...running, question: 'And now?', outcome: 'answered', answerText: 'It rains.', revision: 2 }); // prettier-ignore

    await detail().getByText('It rains.').waitFor();
    expect(await active.count()).to.equal(0);
    const live = page.locator('[aria-live=polite]').filter({ hasText: '“And now?” is answered' });
    await live.waitFor({ state: 'attached' });
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

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [360, 1_600])
      it(`has no violation of axe and no overflow: ${colorScheme}, ${width} pixels`, async () => {
        const parts = ['', '#/chain', '#/try', '#/compare/trip/hotel'];
        const tabs = ['timeline', 'requests', 'state', 'try'].map((tab) => `#/turns/trip/${tab}`);
        await open({ colorScheme, width });
        for (const hash of [...parts, ...tabs, '#/turns/hotel/timeline', '#/turns/payment/state']) {
          await page.goto(`${server.origin}/${hash}`);
          await page
            .locator(OPENED[hash] ?? '#detail h2')
            .first()
            .waitFor();
          await openParts(page);
          expect(await axeViolations(page), hash).to.deep.equal([]);
          expect(await overflow(page), hash).to.be.at.most(0);
        }
      });
});

/** Opens an advisor of the chain and a row of the timeline, if they are shown. */
async function openParts(page: Page): Promise<void> {
  const advisor = page.getByRole('button', { name: /^retry 7000/ });
  if (await advisor.isVisible()) await advisor.click();
  const part = page.locator('button.part').nth(9);
  if (await part.isVisible()) await part.click();
}
