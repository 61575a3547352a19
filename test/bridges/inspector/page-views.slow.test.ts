import { expect } from 'chai';
import { useInspectorPages } from '../../support/inspector-page.js';
import { ANSWERED_TURN, inspectedTurn, PAUSED_TURN } from '../../support/inspector-turns.js';

describe('views of the inspector page', function () {
  this.timeout(120_000);
  const other = inspectedTurn({
    id: 'other',
    answerText: 'Rome has 24 °C and sun. A train to Milan leaves at 15:40.',
    requests: ANSWERED_TURN.requests.slice(1),
  });
  const pages = useInspectorPages(ANSWERED_TURN, PAUSED_TURN, other);

  it('shows each request with the advisors that made its messages, and the words that changed', async () => {
    const page = await pages.open({ hash: '#/turns/trip/requests' });
    await page.getByRole('button', { name: /^Iteration 1/ }).click();

    const labels = await page.locator('.message > header .label').allInnerTexts();
    const steps = await page.locator('.path > li').allInnerTexts();
    const [removed, added] = await Promise.all(
      ['del', 'ins'].map((tag) => page.locator(`.path ${tag} bdi`).allInnerTexts()),
    );

    expect(labels).to.deep.equal([
      'added by chat-memory',
      'added by chat-memory',
      'added by chat-memory, changed by guard',
      'added by chat-memory',
    ]);
    expect(steps.map((step) => step.split('\n')[0])).to.deep.equal([
      'Application asks',
      'chat-memory added 4 messages',
      'guard changed message 4',
      'tool-search added the tool search_tools',
      'tool-calling, retry changed nothing',
      'defaults changed temperature from 1 to 0.2',
      'gpt-5-mini gets 6 messages and 3 tools',
    ]);
    expect(removed).to.deep.equal(['Anna Gray', '+49 170 5550199']);
    expect(added).to.deep.equal(['[name]', '[phone number]']);
  });

  it('names the advisor of each change since the call before', async () => {
    const page = await pages.open({ hash: '#/turns/trip/requests' });

    const changes = await page.locator('[aria-labelledby="since-title"] .change').allInnerTexts();

    expect(changes.map((text) => text.replaceAll(/\s+/g, ' ').trim())).to.deep.equal([
      '± fallback switched from gpt-5-mini to claude-haiku-5',
    ]);
  });

  it('sends decisions, and shows the resumed turn', async () => {
    pages.server.answers.set('POST turns/payment/decisions', {
      status: 200,
      body: { id: 'other' },
    });
    const page = await pages.open({ hash: '#/turns/payment/timeline' });
    const [approval, question] = await page.locator('.pending').all();
    await approval?.getByLabel('Deny').check();
    await approval?.getByLabel('Reason, which the model reads').fill('too dear');
    await question?.getByLabel('Answer').check();
    await question?.getByLabel(/^size/).selectOption('M');

    expect(await approval?.innerText()).to.include('U+202E');
    await page.getByRole('button', { name: 'Continue the turn' }).click();
    await page.waitForURL(/other/);

    expect(pages.server.posted.at(-1)).to.deep.equal({
      method: 'POST',
      path: 'turns/payment/decisions',
      body: {
        'request-1': { type: 'deny', reason: 'too dear' },
        'request-2': { type: 'answer', value: { size: 'M', count: 1, gift: false } },
      },
    });
  });

  it('runs a turn again with changes of its chain, and compares both', async () => {
    pages.server.answers.set('POST try', { status: 200, body: { id: 'other' } });
    const page = await pages.open({ hash: '#/turns/trip/try' });
    await page.getByRole('checkbox', { name: 'guard' }).uncheck();
    await page.getByRole('button', { name: 'Move retry up' }).click();
    await page.getByLabel('Options of the model (JSON)').fill('{"temperature":1}');

    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByText('Both turns have ended.').waitFor();

    expect(pages.server.posted.at(-1)?.body).to.deep.equal({
      mode: 'stream',
      repeat: 'trip',
      options: { temperature: 1 },
      advisors: [
        { name: 'guard', isPresent: false },
        { name: 'retry', order: 5_250 },
      ],
    });
    expect(await page.locator('.compare del bdi').allInnerTexts()).to.deep.equal(['14', '05']);
  });

  it('shows what the model gets of a memory', async () => {
    const page = await pages.open({ hash: '#/turns/trip/state' });
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
    const page = await pages.open({ hash: '#/turns/trip/state' });
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
    pages.server.answers.set('POST import', { status: 200, body: { ids: ['other'] } });
    const page = await pages.open();
    const file = {
      name: 'turns.json',
      mimeType: 'application/json',
      buffer: Buffer.from('{"a":1}'),
    };

    await page.locator('input[type=file]').setInputFiles(file);
    await page.waitForURL(/other/);

    expect(pages.server.posted.at(-1)).to.deep.include({ path: 'import', body: { a: 1 } });
  });
});
