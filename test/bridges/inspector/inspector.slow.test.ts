import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  InMemoryKeyValueStore,
  type ApprovalAdvisorOptions,
} from '../../../src/index.js';
import type { Inspector } from '../../../src/bridges/inspector/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { launchBrowser } from '../../support/browser.js';
import { InspectedApp } from '../../support/inspected-app.js';
import { changedTurns, runInspected, type ChangedTurn } from '../../support/inspected-changes.js';
import { tripClient } from '../../support/inspected-trip.js';
import { failureOf } from '../../support/modes.js';
import { axeViolations, overflow } from '../../support/inspector-page.js';

const OTHERS = ['Will it rain in Kiel tonight?', 'And at the weekend?', 'Thank you, and in Bonn?'];

describe('the whole inspector in a browser', function () {
  this.slow(20_000);

  let browser: Browser;
  let page: Page;
  /** Requests that leave the origin, and errors of scripts and of the policy of the page. */
  let strays: string[];
  const apps: InspectedApp[] = [];

  before(async function () {
    browser = await launchBrowser(this);
  });
  after(() => browser?.close());
  beforeEach(() => {
    strays = [];
  });
  afterEach(async () => {
    await page?.context().close();
    await Promise.all(apps.splice(0).map((app) => app.stop()));
    expect(strays).to.deep.equal([]);
  });

  async function start(clientOf?: (inspector: Inspector) => ChatClient): Promise<InspectedApp> {
    const app = await InspectedApp.start(clientOf);
    apps.push(app);
    return app;
  }

  /** Opens the page of an inspector in a new session, as its address is clicked in a terminal. */
  async function open(app: InspectedApp, settings: BrowserContextOptions = {}): Promise<void> {
    await page?.context().close();
    page = await (await browser.newContext(settings)).newPage();
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'data:' && protocol !== 'blob:' && origin !== app.origin)
        strays.push(request.url());
    });
    page.on('pageerror', (error) => strays.push(error.stack ?? error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') strays.push(message.text());
    });
    await page.goto(app.address);
    await page.getByText('Live', { exact: true }).waitFor();
  }

  const rows = (): Locator =>
    page.getByRole('navigation', { name: 'Turns' }).getByRole('listitem').getByRole('link');
  const outcome = (word: string): Promise<void> =>
    page.locator('.turn-head .outcome').getByText(word, { exact: true }).waitFor();
  const tab = (name: string): Promise<void> =>
    page.getByRole('navigation', { name: 'Parts of the turn' }).getByText(name).click();
  /** Kinds and names of the timeline, such as `tool weather`. */
  const entries = async (): Promise<readonly string[]> =>
    page
      .locator('button.part')
      .evaluateAll((parts) =>
        parts.map((part) =>
          ['.kind', '.part-name'].map((each) => part.querySelector(each)?.textContent).join(' '),
        ),
      );

  it('shows a turn with three tools, a retry and a retract while it runs, and all of it at its end', async () => {
    const trip = tripClient();
    const app = await start(trip.clientOf);
    await open(app);
    await page.getByText('No turns yet.').waitFor();

    const answer = trip.ask();
    await rows().first().click();
    await outcome('running');
    while ((await entries()).filter((each) => each === 'tool weather').length < 3)
      await page.waitForTimeout(20);
    await page.locator('tr.tool-call.ongoing').first().waitFor();
    trip.endTools();
    await page.locator('.answer.streaming').getByText('Sun in', { exact: false }).waitFor();
    trip.breakOff();
    await outcome('answered');

    expect(await answer).to.equal('Sun in all three towns.');
    await page.locator('.answer').getByText('Sun in all three towns.', { exact: true }).waitFor();
    const shown = await entries();
    for (const part of ['retry retry', 'retract retract', 'advisor tool-calling'])
      expect(shown).to.include(part);
    expect(shown.filter((each) => each === 'tool weather')).to.have.length(3);
    expect(shown.filter((each) => each === 'model scripted')).to.have.length(3);
    await rows().first().getByText('Sun in all three towns.').waitFor();
    expect(await page.locator('tr.ongoing').count()).to.equal(0);
  });

  it('names the advisor of each of ten kinds of changes', async () => {
    const app = await start();
    const turns = await changedTurns();
    await open(app);
    for (const [name, turn] of Object.entries<ChangedTurn>(turns)) {
      await runInspected(app.inspector, turn, { name });
      await rows().first().getByText(name).waitFor();
      await rows().first().click();
      await page.getByRole('heading', { name }).first().waitFor();
      await tab('Requests');
      const path = page.locator('ol.path > li').filter({ hasText: turn.line });
      await path.first().waitFor();
      if (turn.detail === undefined) continue;
      const details = path.first().locator('details');
      if ((await details.getAttribute('open')) === null) await details.locator('summary').click();
      await details.getByText(turn.detail).first().waitFor();
    }
    expect(Object.keys(turns)).to.have.length(10);
  });

  /** A client whose model pays a bill, with the payments that were made. */
  function paying(options: ApprovalAdvisorOptions) {
    const paid: unknown[] = [];
    const pay = defineTool({
      name: 'pay',
      input: { type: 'object', properties: { amount: { type: 'number' } } },
      effect: 'write',
      execute: (input) => {
        paid.push(input);
        return 'paid';
      },
    });
    const clientOf = (inspector: Inspector): ChatClient => {
      const model = new ScriptedChatModel([
        { toolCalls: [{ name: 'pay', arguments: { amount: 12 } }] },
        'It is paid.',
      ]);
      return ChatClient.builder(model)
        .defaultTools(pay)
        .defaultAdvisors(inspector, new ApprovalAdvisor(options))
        .build();
    };
    return { paid, clientOf };
  }

  it('resumes a turn whose approval is answered on the page', async () => {
    const pause = { secrets: 'x'.repeat(32), store: new InMemoryKeyValueStore() };
    const { paid, clientOf } = paying({ pause });
    const app = await start(clientOf);
    await open(app);
    await page.getByRole('link', { name: 'Try a prompt' }).click();
    await page.getByRole('textbox', { name: 'Prompt' }).fill('Pay the bill.');
    await page.keyboard.press('Control+Enter');
    await outcome('paused');
    expect(paid).to.deep.equal([]);

    await page.getByRole('radio', { name: 'Allow', exact: true }).check();
    await page.getByRole('button', { name: 'Continue the turn' }).click();

    await page.locator('.answer').getByText('It is paid.').waitFor();
    await outcome('answered');
    expect(paid).to.deep.equal([{ amount: 12 }]);
    await rows().nth(1).waitFor();
    expect(await rows().count()).to.equal(2);
  });

  it('decides for a function of the application, whose turn waits', async () => {
    const { paid, clientOf } = paying({ decide: () => new Promise(() => undefined) });
    const app = await start(clientOf);
    const running = clientOf(app.inspector).prompt('Pay the bill.').call().content();
    await open(app);
    await rows().first().getByText('waits for a decision').waitFor();
    await rows().first().click();
    await page.getByRole('heading', { name: 'The turn waits for a decision' }).waitFor();
    await outcome('running');

    await page.getByRole('radio', { name: 'Allow', exact: true }).check();
    await page.getByRole('button', { name: 'Continue the turn' }).click();

    await outcome('answered');
    expect(await running).to.equal('It is paid.');
    expect(paid).to.deep.equal([{ amount: 12 }]);
    await page.getByRole('heading', { name: 'The turn waits' }).waitFor({ state: 'detached' });
    expect(await rows().count()).to.equal(1);
  });

  it('cancels a turn of the application', async () => {
    const { paid, clientOf } = paying({ decide: () => new Promise(() => undefined) });
    const app = await start(clientOf);
    const failure = failureOf(clientOf(app.inspector).prompt('Pay the bill.').call().content());
    await open(app);
    await rows().first().click();

    await page.getByRole('button', { name: 'Cancel', exact: true }).click();

    await outcome('cancelled');
    expect(await failure).to.include({ code: 'cancelled' });
    expect(paid).to.deep.equal([]);
  });

  it('runs a turn again with and without an advisor, and shows both side by side', async () => {
    const trip = tripClient({ isAtOnce: true });
    const app = await start(trip.clientOf);
    await trip.ask();
    await open(app);
    await rows().first().click();
    await outcome('answered');
    await tab('Try it');
    await page
      .getByLabel('Afterwards')
      .selectOption({ label: 'run a second one (A and B), and compare them' });
    await page
      .getByRole('group', { name: 'B', exact: true })
      .getByRole('checkbox', { name: 'tone' })
      .uncheck();
    await page.getByRole('button', { name: 'Run A and B' }).click();

    await page.getByRole('heading', { name: 'A and B' }).waitFor();
    await page.getByText('Both turns have ended.').waitFor();
    await page.getByText('tone', { exact: false }).first().waitFor();
    const [second, first] = app.inspector
      .turns()
      .map(({ id }) => app.inspector.turn(id))
      .toReversed();
    expect(first?.chain.advisors.map(({ name }) => name)).to.include('tone');
    expect(second?.chain.advisors.map(({ name }) => name)).to.not.include('tone');
    expect([first?.source, second?.source]).to.deep.equal(['page', 'page']);
  });

  it('opens its file in a second inspector, which shows the same', async () => {
    const trip = tripClient({ isAtOnce: true });
    const [app, other] = [await start(trip.clientOf), await start()];
    await trip.ask();
    await open(app);
    await rows().first().click();
    await outcome('answered');
    const views = async (): Promise<readonly (string | null)[]> => {
      const texts: (string | null)[] = [];
      for (const name of ['Timeline', 'Requests', 'State']) {
        await tab(name);
        await page.waitForTimeout(200);
        texts.push(await page.locator('main section').last().textContent());
      }
      return texts;
    };
    const shown = await views();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export' }).click(),
    ]);
    // the context of a page removes its downloads
    const buffer = readFileSync(await download.path());
    const name = download.suggestedFilename();

    await open(other);
    await page
      .locator('input[type=file]')
      .setInputFiles({ name, buffer, mimeType: 'application/json' });
    await rows().first().click();
    await outcome('answered');

    expect(await views()).to.deep.equal(shown);
    expect(await page.locator('.turn-head').textContent()).to.include('opened from a file');
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`has no violation of axe, and fits, in ${colorScheme}`, async () => {
      const trip = tripClient({ isAtOnce: true });
      const app = await start(trip.clientOf);
      await trip.ask();
      for (const width of [1_600, 360]) {
        await open(app, { colorScheme, viewport: { width, height: 900 } });
        await rows().first().click();
        await outcome('answered');
        for (const name of ['Timeline', 'Requests', 'State', 'Try it']) {
          await tab(name);
          await page.waitForTimeout(100);
          expect(await axeViolations(page), `${name}, ${width} pixels`).to.deep.equal([]);
          expect(await overflow(page), `${name}, ${width} pixels`).to.be.at.most(0);
        }
      }
    });

  // SCREENSHOTS=1 writes the pictures of the docs
  if (process.env['SCREENSHOTS'])
    it('is shown in docs/images', async () => {
      const trip = tripClient({ isAtOnce: true });
      const app = await start(trip.clientOf);
      const others = tripClient({ isAtOnce: true });
      others.clientOf(app.inspector);
      for (const [at, question] of OTHERS.entries()) await others.ask(question, `ben-${at}`);
      await trip.ask();
      const desk = { viewport: { width: 1_280, height: 860 } };
      const picture = (name: string) => page.screenshot({ path: `docs/images/${name}.png` });
      for (const colorScheme of ['light', 'dark'] as const) {
        await open(app, { ...desk, colorScheme });
        await rows().first().click();
        await outcome('answered');
        await picture(`inspector-${colorScheme}`);
      }
      await open(app, desk);
      await rows().first().click();
      await tab('Requests');
      await page.locator('ol.path').scrollIntoViewIfNeeded();
      await picture('inspector-requests');
      await tab('State');
      await page.locator('.memory-part').first().waitFor();
      await page.evaluate(`document.querySelector('.tabs').scrollIntoView()`);
      await picture('inspector-state');
      await open(app, { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2 });
      await rows().first().click();
      await outcome('answered');
      await picture('inspector-phone');
    });
});
