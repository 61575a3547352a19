import { expect } from 'chai';
import type { CDPSession, Page } from 'playwright-core';
import type {
  InspectedTurn,
  TimelineEntry,
} from '../../../src/bridges/inspector/inspected-turn.js';
import { inspectedTurn } from '../../support/inspector-turns.js';
import { useInspectorPages, waitUntil } from '../../support/inspector-page.js';

const TURNS = 1_000;
const EVENTS = 50;
const MAX_HEAP = 150e6;
/** Milliseconds from a click until its result is painted. */
const MAX_ANSWER = 100;
const CLICKS = 40;

/** Collects the milliseconds from each click until the frame after it is painted, by the clock of the page. */
const OBSERVE_CLICKS = `
  globalThis.answers = [];
  addEventListener('click', ({ timeStamp }) =>
    requestAnimationFrame(() => setTimeout(() => answers.push(performance.now() - timeStamp))),
    { capture: true },
  );`;
/** True if the turn of the address is shown. */
const IS_SHOWN = `document.querySelector('.tabs a[href*="/' + location.hash.split('/')[2] + '/"]') !== null
  && document.querySelector('table.timeline') !== null`;

function turnOf(at: number): InspectedTurn {
  const base = inspectedTurn();
  const more = Array.from({ length: EVENTS - base.timeline.length }, (_, index): TimelineEntry => {
    const start = 100 + index * 20;
    return { id: 1_000 + index, kind: 'event', name: `progress ${index}`, start, end: start };
  });
  const question = `Question ${at} of many, with some words`;
  return {
    ...base,
    id: `turn-${at}`,
    question,
    questionText: question,
    startedAt: base.startedAt + at * 1_000,
    timeline: [...base.timeline, ...more],
  };
}

describe('page of the inspector, with 1,000 turns', function () {
  this.slow(60_000);
  this.timeout(180_000);

  const pages = useInspectorPages();

  it('stays under 150 MB and answers a click within 100 ms while turns arrive', async () => {
    const page = await pages.open();
    const session = await page.context().newCDPSession(page);
    for (let at = 0; at < TURNS; at++) {
      pages.server.put({ ...turnOf(at), outcome: 'running', revision: 1 });
      pages.server.put({ ...turnOf(at), revision: 2 });
    }
    await page
      .getByRole('status')
      .filter({ hasText: String(TURNS) })
      .waitFor();
    await page.evaluate(OBSERVE_CLICKS);

    for (let click = 0; click < CLICKS; click++) {
      pages.server.put({ ...turnOf(TURNS + click), revision: 3 });
      await clickRow(page, click);
    }

    const answers = await page.evaluate<readonly number[]>('answers');
    const sorted = answers.toSorted((one, other) => one - other);
    const median = sorted[Math.floor(sorted.length / 2)] ?? NaN;
    const heap = await heapOf(session);
    console.log(
      `      median ${median} ms, longest ${sorted.at(-1)} ms; heap ${(heap / 1e6).toFixed(1)} MB`,
    );
    expect(answers).to.have.lengthOf(CLICKS);
    expect(median).to.be.below(MAX_ANSWER);
    expect(heap).to.be.below(MAX_HEAP);
    expect(await page.locator('nav.turns li').count()).to.be.below(60);
  });
});

/** Clicks a row, while others move it down, and waits for the turn. */
async function clickRow(page: Page, at: number): Promise<void> {
  await page
    .locator('nav.turns li a')
    .nth(at % 9)
    .click();
  await page.locator('nav.turns a[aria-current]').waitFor();
  await waitUntil(page, IS_SHOWN);
}

async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize;
}
