import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface OpenedPage {
  readonly page: Page;
  /** Requests that left the origin, errors of scripts, refusals by the policy of the page, and dialogs. */
  readonly strays: string[];
}

export interface OpeningOptions {
  /** Part of the page, such as `#/turns/trip/timeline`. */
  readonly hash?: string;
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
}

/** Opens the page of an inspector in a session of its own. */
export async function openInspectorPage(
  browser: Browser,
  origin: string,
  { hash = '', width = 1_600, height = 900, colorScheme = 'light' }: OpeningOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  const page = await context.newPage();
  const strays: string[] = [];
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
  await page.goto(`${origin}/${hash}`);
  await page.getByText('Live', { exact: true }).waitFor();
  return { page, strays };
}

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
