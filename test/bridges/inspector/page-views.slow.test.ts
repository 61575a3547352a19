import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../support/browser.js';
import { axeViolations, openInspectorPage, overflow } from '../../support/inspector-page.js';
import { InspectorPageServer } from '../../support/inspector-page-server.js';
import { inspectedTurn, PENDING, STATES } from '../../support/inspector-turns.js';

describe('views of the inspector page', function () {
  this.timeout(120_000);
  let browser: Browser;
  let server: InspectorPageServer;
  const other = inspectedTurn({
    id: 'turn-3',
    answerText: 'It rains in Lisbon. A red cape in L is in stock.',
    requests: inspectedTurn().requests.slice(1),
  });
  const answered = inspectedTurn();

  before(async function () {
    browser = await launchBrowser(this);
  });
  beforeEach(async () => {
    const paused = inspectedTurn({ id: 'turn-2', outcome: 'paused', pending: PENDING });
    server = await InspectorPageServer.start(answered, paused, other);
    for (const { id } of [answered, paused, other]) server.states.set(id, STATES);
  });
  afterEach(() => server.stop());
  after(() => browser?.close());

  const open = (hash: string) => openInspectorPage(browser, server.origin, { hash });

  it('shows each request with the advisors that made its messages, and the words that changed', async () => {
    const { page, strays } = await open('#/turns/turn-1/requests');
    await page.getByRole('button', { name: /^Iteration 1/ }).click();

    const labels = await page.locator('.message > header .label').allInnerTexts();
    const steps = await page.locator('.path > li').allInnerTexts();
    const [removed, added] = await Promise.all(
      ['del', 'ins'].map((tag) => page.locator(`.path ${tag} bdi`).allInnerTexts()),
    );

    expect(labels).to.deep.equal([
      'added by memory',
      'added by memory',
      'added by memory, changed by guard',
      'added by memory',
    ]);
    expect(steps.map((step) => step.split('\n')[0])).to.deep.equal([
      'Application asks',
      'memory added 4 messages',
      'guard changed message 4',
      'tool-search added the tool search_tools',
      'tool-calling, retry changed nothing',
      'defaults changed temperature from 1 to 0.2',
      'gpt-5-mini gets 6 messages and 3 tools',
    ]);
    expect(removed).to.deep.equal(['Anna Gray', '+49 170 5550199']);
    expect(added).to.deep.equal(['[name]', '[phone number]']);
    expect(strays).to.deep.equal([]);
  });

  it('names the advisor of each change since the call before', async () => {
    const { page } = await open('#/turns/turn-1/requests');

    const changes = await page.locator('[aria-labelledby="since-title"] .change').allInnerTexts();

    expect(changes.map((text) => text.replaceAll(/\s+/g, ' ').trim())).to.deep.equal([
      '± fallback switched from gpt-5-mini to claude-haiku-5',
    ]);
  });

  it('sends decisions, and shows the resumed turn', async () => {
    server.answers.set('POST turns/turn-2/decisions', { status: 200, body: { id: 'turn-3' } });
    const { page } = await open('#/turns/turn-2/timeline');
    const [approval, question] = await page.locator('.pending').all();
    await approval?.getByLabel('Deny').check();
    await approval?.getByLabel('Reason, which the model reads').fill('too dear');
    await question?.getByLabel('Answer').check();
    await question?.getByLabel(/^size/).selectOption('M');

    expect(await approval?.innerText()).to.include('U+202E');
    await page.getByRole('button', { name: 'Continue the turn' }).click();
    await page.waitForURL(/turn-3/);

    expect(server.posted.at(-1)).to.deep.equal({
      method: 'POST',
      path: 'turns/turn-2/decisions',
      body: {
        'request-1': { type: 'deny', reason: 'too dear' },
        'request-2': { type: 'answer', value: { size: 'M', count: 1, gift: false } },
      },
    });
  });

  it('runs a turn again with changes of its chain, and compares both', async () => {
    server.answers.set('POST try', { status: 200, body: { id: 'turn-3' } });
    const { page } = await open('#/turns/turn-1/try');
    await page.getByRole('checkbox', { name: 'guard' }).uncheck();
    await page.getByRole('button', { name: 'Move retry up' }).click();
    await page.getByLabel('Options of the model (JSON)').fill('{"temperature":1}');

    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByText('Both turns have ended.').waitFor();

    expect(server.posted.at(-1)?.body).to.deep.equal({
      mode: 'stream',
      repeat: 'turn-1',
      options: { temperature: 1 },
      advisors: [
        { name: 'guard', isPresent: false },
        { name: 'retry', order: 585 },
      ],
    });
    expect(await page.locator('.compare del bdi').allInnerTexts()).to.include('M');
  });

  it('shows what the model gets of a memory', async () => {
    const { page } = await open('#/turns/turn-1/state');
    await page.locator('.memory-part').first().waitFor();

    const parts = await page.locator('.memory-part > :is(p, summary):first-child').allInnerTexts();

    expect(parts).to.deep.equal([
      '2 messages, stored, which the model does not get',
      '1 message for the model alone, in place of the messages above',
      '2 messages, stored, which the model gets',
      '1 message, stored, which the model does not get',
    ]);
  });

  it('shows why tools were found, and the steps of a durable turn', async () => {
    const { page } = await open('#/turns/turn-1/state');
    const linesOf = async (advisor: string): Promise<readonly string[]> => {
      const state = page.locator('section.state').filter({ has: page.getByRole('heading', { name: advisor, exact: true }) }); // prettier-ignore
      const text = await state.innerText();
      return text.split('\n').map((line) => line.replaceAll(/\s+/g, ' ').trim()).filter(Boolean); // prettier-ignore
    };

    const search = await linesOf('tool-search');
    const durable = await linesOf('durable');

    expect(search).to.deep.equal([
      'tool-search',
      'discovered',
      'order_product, list_orders',
      'categories',
      'none',
      'searches (2)',
      'query',
      'order something',
      'hits',
      'name score matches',
      'order_product 0.91 order',
      'list_orders 0.64 order, something',
      'query',
      'fly',
      'hits',
      'none',
    ]);
    expect(durable.slice(-3)).to.deep.equal([
      'step end was interrupted',
      'model 0 replayed',
      'tool order_product recorded yes',
    ]);
  });

  it('opens the turns of a file', async () => {
    server.answers.set('POST import', { status: 200, body: { ids: ['turn-3'] } });
    const { page } = await open('');
    const file = {
      name: 'turns.json',
      mimeType: 'application/json',
      buffer: Buffer.from('{"a":1}'),
    };

    await page.locator('input[type=file]').setInputFiles(file);
    await page.waitForURL(/turn-3/);

    expect(server.posted.at(-1)).to.deep.include({ path: 'import', body: { a: 1 } });
  });

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [360, 1_600])
      it(`has no violation of axe and no overflow: ${colorScheme}, ${width} pixels`, async () => {
        for (const hash of [
          '#/turns/turn-1/requests',
          '#/turns/turn-1/state',
          '#/turns/turn-1/try',
          '#/turns/turn-2/timeline',
          '#/compare/turn-1/turn-3',
          '#/try',
        ]) {
          const options = { hash, width, colorScheme };
          const { page, strays } = await openInspectorPage(browser, server.origin, options);
          await page.waitForTimeout(300);

          expect(await axeViolations(page), hash).to.deep.equal([]);
          expect(await overflow(page), hash).to.be.at.most(0);
          expect(strays, hash).to.deep.equal([]);
          await page.context().close();
        }
      });
});
