import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ANSWERED_TURN, FAILED_TURN, PAUSED_TURN } from '../../support/inspector-turns.js';
import {
  axeViolations,
  detailOf,
  overflow,
  rowsOf,
  useInspectorPages,
  waitUntil,
} from '../../support/inspector-page.js';

/** Parts of the page, each with an element that is shown when it has its data. */
const PARTS: Readonly<Record<string, string>> = {
  '': 'nav.turns li',
  '#/chain': '#detail h2',
  '#/try': 'section.try',
  '#/compare/trip/hotel': '.compare del',
  '#/turns/trip/timeline': 'table.timeline',
  '#/turns/trip/requests': '.path',
  '#/turns/trip/state': '.memory-part',
  '#/turns/trip/try': 'section.try',
  '#/turns/hotel/timeline': 'table.timeline',
  '#/turns/payment/timeline': '.pending',
};

/** Name of the element that has the focus; empty without one. */
const FOCUSED = `(({ activeElement: element, body }) =>
  element === body ? '' : (element.getAttribute('aria-label') ?? element.textContent))(document)`;

describe('access to the page of the inspector', function () {
  this.slow(10_000);

  const pages = useInspectorPages(ANSWERED_TURN, FAILED_TURN, PAUSED_TURN);

  it('is used by the keyboard alone', async () => {
    const page = await pages.open();
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
    await detailOf(page).getByRole('heading', { name: 'Book a hotel' }).waitFor();
    expect(await focused()).to.contain('hotel');
    await press('End', 'ArrowUp', 'Home');
    await detailOf(page)
      .getByRole('heading', { name: /weather in Rome/ })
      .waitFor();
    await tabTo('guard 2000');
    await press('Enter');
    await detailOf(page).getByRole('heading', { name: 'guard' }).waitFor();
    expect(await detailOf(page).textContent()).to.contain('onFinding: mask');
    await tabTo('advisor observability');
    await press(...Array.from({ length: 17 }, () => 'ArrowDown'), 'Enter');
    expect(await focused()).to.contain('RateLimitError');
    await detailOf(page).getByText('too many requests').waitFor();
  });

  it('leads from the list to a turn and back on a narrow page, with the focus', async () => {
    const page = await pages.open({ width: 360 });
    await rowsOf(page).first().focus();
    await page.keyboard.press('Enter');
    await detailOf(page)
      .getByRole('heading', { name: /weather in Rome/ })
      .waitFor();
    expect(await rowsOf(page).first().isVisible()).to.equal(false);
    await waitUntil(page, `document.activeElement.id === 'detail'`);
    await page.getByRole('link', { name: 'All turns' }).click();
    await rowsOf(page).first().waitFor();
    await waitUntil(page, `document.activeElement.textContent.includes('weather in Rome')`);
    expect(await detailOf(page).isVisible()).to.equal(false);
  });

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [360, 1_600])
      it(`has no violation of axe and no overflow: ${colorScheme}, ${width} pixels`, async () => {
        const page = await pages.open({ colorScheme, width });
        for (const [hash, shown] of Object.entries(PARTS)) {
          await page.goto(`${pages.server.origin}/${hash}`);
          await page.locator(shown).first().waitFor();
          await openParts(page);
          expect(await axeViolations(page), hash).to.deep.equal([]);
          expect(await overflow(page), hash).to.be.at.most(0);
        }
      });
});

/** Opens an advisor of the chain, a row of the timeline, and all that is folded, if they are shown. */
async function openParts(page: Page): Promise<void> {
  const advisor = page.getByRole('button', { name: /^retry 7000/ });
  if (await advisor.isVisible()) await advisor.click();
  const part = page.locator('button.part').filter({ hasText: 'RateLimitError' }).first();
  if (await part.isVisible()) await part.click();
  await page.evaluate(`for (const each of document.querySelectorAll('details')) each.open = true`);
}
