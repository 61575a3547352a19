import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import type { InspectedTurn } from '../../src/bridges/inspector/inspected-turn.js';
import { launchBrowser } from './browser.js';
import { InspectorPageServer } from './inspector-page-server.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface OpeningOptions {
  /** Part of the page, such as `#/turns/trip/timeline`. */
  readonly hash?: string;
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
}

/** A server for each test of a suite, and pages of it in sessions of their own. */
export interface InspectorPages {
  readonly server: InspectorPageServer;
  open(options?: OpeningOptions): Promise<Page>;
}

/**
 * Starts a browser for a suite, and for each of its tests a server with these turns. A test fails by strays of its
 * pages: requests that leave the origin, errors of scripts, refusals by the policy of the page, and dialogs.
 */
export function useInspectorPages(...turns: readonly InspectedTurn[]): InspectorPages {
  let browser: Browser | undefined;
  let server: InspectorPageServer;
  const strays: string[] = [];

  before(async function () {
    browser = await launchBrowser(this);
  });
  beforeEach(async () => {
    server = await InspectorPageServer.start(...turns);
  });
  afterEach(async () => {
    await Promise.all(browser?.contexts().map((context) => context.close()) ?? []);
    await server.stop();
    expect(strays.splice(0)).to.deep.equal([]);
  });
  after(() => browser?.close());

  return {
    get server() {
      return server;
    },
    async open({ hash = '', width = 1_600, colorScheme = 'light' } = {}) {
      if (!browser) throw new Error('the browser starts before the first test');
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      collectStrays(page, server.origin, strays);
      await page.goto(`${server.origin}/${hash}`);
      await page.getByText('Live', { exact: true }).waitFor();
      return page;
    },
  };
}

function collectStrays(page: Page, origin: string, strays: string[]): void {
  page.on('request', (request) => {
    const { protocol, origin: own } = new URL(request.url());
    if (protocol !== 'data:' && own !== origin) strays.push(request.url());
  });
  page.on('pageerror', (error) => strays.push(error.stack ?? error.message));
  page.on('dialog', (dialog) => {
    strays.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    // The browser logs a connection that a test breaks, and answers that refuse.
    if (
      message.type() === 'error' &&
      !/ERR_(CONNECTION|INCOMPLETE)|status of 4/.test(message.text())
    )
      strays.push(message.text());
  });
}

/** The rows of the list of turns. */
export const rowsOf = (page: Page): Locator =>
  page.getByRole('navigation', { name: 'Turns' }).getByRole('listitem').getByRole('link');

/** The part of the page beside the list. */
export const detailOf = (page: Page): Locator => page.locator('#detail');

interface Violation {
  readonly id: string;
  readonly nodes: readonly {
    readonly target: readonly unknown[];
    readonly failureSummary?: string;
  }[];
}

/** Violations of the rules of axe, each with the elements that have it. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
  const violations = await page.evaluate<readonly Violation[]>(
    'axe.run().then(({ violations }) => violations)',
  );
  return violations.map(({ id, nodes }) => {
    const where = nodes.map(
      ({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`,
    );
    return `${id}\n${where.slice(0, 5).join('\n')}`;
  });
}

/** Pixels by which the content is wider than the page, or than one of its panes. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(OVERFLOW);
}

const OVERFLOW = `Math.max(
  document.documentElement.scrollWidth - innerWidth,
  ...[...document.querySelectorAll('#detail, .rows, .turns')].map(
    (pane) => pane.scrollWidth - pane.clientWidth,
  ),
)`;

const MAX_WAIT = 30_000;

/** Waits until an expression is true in the page, whose policy refuses the one of `waitForFunction`. */
export async function waitUntil(page: Page, expression: string): Promise<void> {
  const end = performance.now() + MAX_WAIT;
  while (!(await page.evaluate<boolean>(expression))) {
    if (performance.now() > end) throw new Error(`not true after ${MAX_WAIT} ms: ${expression}`);
    await page.waitForTimeout(20);
  }
}
