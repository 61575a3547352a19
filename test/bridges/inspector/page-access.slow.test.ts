import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../support/browser.js';
import { BASE, FAILED, WAITING } from '../../support/inspector-page-turns.js';
import { InspectorPageServer } from '../../support/inspector-page-server.js';
import {
  axeViolations,
  openInspectorPage,
  overflow,
  waitUntil,
  type OpeningOptions,
} from '../../support/inspector-page.js';

/** An element of a part of the page that is shown when it has its data. */
const OPENED: Readonly<Record<string, string>> = {
  '': 'nav.turns li',
  '#/try': '#detail form, #detail h2',
};

/** Name of the element that has the focus; empty without one. */
const FOCUSED = `(({ activeElement: element, body }) =>
  element === body ? '' : (element.getAttribute('aria-label') ?? element.textContent))(document)`;

describe('access to the page of the inspector', function () {
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
