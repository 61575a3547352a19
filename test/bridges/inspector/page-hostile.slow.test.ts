import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { InspectedTurn } from '../../../src/bridges/inspector/inspected-turn.js';
import { ATTACKED, hostileTexts, withTexts } from '../../support/hostile-texts.js';
import { inspectedTurn, STATES } from '../../support/inspector-turns.js';
import { overflow, useInspectorPages } from '../../support/inspector-page.js';

const COUNT = 5_000;
/** Fields whose values the page decides by. */
const KEPT = new Set(['id', 'source', 'mode', 'outcome', 'place', 'kind', 'role', 'type']);
const TABS = ['timeline', 'requests', 'state', 'try'];

/** Elements that no component renders, as HTML. */
const ADDED = `[...document.body.querySelectorAll(
  'script, iframe, img, link, style, base, meta, form[action], [onerror], [onload]'
)].map((element) => element.outerHTML)`;

/** Opens advisors of the chain, rows, trees of JSON and cut texts. */
const OPEN_ALL = `(async () => {
  const boxes = location.hash.endsWith('/timeline') ? document.querySelectorAll('g.box') : [];
  for (const box of boxes) {
    box.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    await new Promise(requestAnimationFrame);
  }
  for (const button of document.querySelectorAll('button[aria-expanded=false]')) button.click();
  await new Promise(requestAnimationFrame);
  for (const details of document.querySelectorAll('details')) details.open = true;
  await new Promise(requestAnimationFrame);
  for (const link of document.querySelectorAll('main button.link')) link.click();
  await new Promise(requestAnimationFrame);
})()`;

/** Turns, and states of their advisors, with the texts in all their fields, each text once. */
function hostileTurns() {
  const texts = hostileTexts(COUNT);
  let used = 0;
  const next = (): string => texts[used++ % texts.length] ?? '';
  const turns: InspectedTurn[] = [];
  const states = new Map<string, typeof STATES>();
  while (used < texts.length) {
    const id = `turn-${turns.length}`;
    const error = { name: 'E', message: 'M', code: 'c', advisor: 'retry' };
    const turn = inspectedTurn({ id, error, reasoningText: 'R', startedAt: turns.length });
    turns.push(withTexts(turn, next, KEPT) as InspectedTurn);
    states.set(id, withTexts(STATES, next, KEPT) as typeof STATES);
  }
  return { turns, states };
}

describe('page of the inspector, with hostile texts', function () {
  this.slow(60_000);
  this.timeout(300_000);

  const pages = useInspectorPages();

  it(`runs no script and keeps its layout with ${COUNT} texts in all fields`, async () => {
    const { turns, states } = hostileTurns();
    for (const turn of turns) pages.server.turns.set(turn.id, turn);
    for (const [id, state] of states) pages.server.states.set(id, state);
    const page = await pages.open({ width: 360 });
    const wide: string[] = [];
    for (const [at, { id }] of turns.entries()) {
      await page.setViewportSize({ width: at % 2 === 0 ? 360 : 1_600, height: 900 });
      for (const tab of TABS) {
        await showPart(page, `#/turns/${id}/${tab}`);
        const over = await overflow(page);
        if (over > 0) wide.push(`${id}/${tab}: ${over} pixels`);
      }
    }
    await showPart(page, '#/');
    await page.getByRole('searchbox').fill('<script>');

    const attacked = await page.evaluate(`'${ATTACKED}' in globalThis`);
    const added = await page.evaluate(ADDED);
    expect({ attacked, added, wide }).to.deep.equal({ attacked: false, added: [], wide: [] });
  });
});

/** Shows a part of the page with all that a click opens. */
async function showPart(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  if (hash !== '#/') await page.locator(`.tabs a[href="${hash}"][aria-current]`).waitFor();
  await page.evaluate(OPEN_ALL);
}
