import { expect } from 'chai';
import { ANSWERED_TURN, FAILED_TURN, PAUSED_TURN } from '../../support/inspector-turns.js';
import { detailOf, rowsOf, useInspectorPages, waitUntil } from '../../support/inspector-page.js';

describe('page of the inspector', function () {
  this.slow(10_000);

  const pages = useInspectorPages(ANSWERED_TURN, FAILED_TURN, PAUSED_TURN);

  it('lists the turns, the newest first, and shows the one that is chosen', async () => {
    const page = await pages.open();
    expect(await rowsOf(page).count()).to.equal(3);
    await page.getByText('3 of 500 turns, 1.3 MB of 50.0 MB').waitFor();
    expect(await rowsOf(page).first().textContent())
      .to.contain('weather in Rome')
      .and.contain('2.62 s');

    await rowsOf(page).filter({ hasText: 'hotel' }).click();

    await detailOf(page).getByRole('heading', { name: 'Book a hotel in Milan' }).waitFor();
    expect(page.url()).to.match(/#\/turns\/hotel\/timeline$/);
    expect(await detailOf(page).textContent()).to.contain('The hotel does not answer');
    const retry = detailOf(page).getByRole('button', { name: /^retry 7000/ });
    expect(await retry.getAttribute('aria-label')).to.match(/has failed$/);
  });

  it('reduces the list by text, conversation and kind, and shows all again', async () => {
    const page = await pages.open();
    const filter = page.getByRole('searchbox');
    await filter.fill('bert');
    expect(await rowsOf(page).allTextContents()).to.have.lengthOf(1);
    await filter.fill('no such text');
    await page.getByRole('button', { name: 'Show all turns' }).click();
    for (const [kind, text] of [
      ['failed', 'hotel'],
      ['running', 'Pay'],
      ['slow', 'weather'],
      ['costly', 'hotel'],
    ] as const) {
      await page.getByRole('button', { name: kind }).click();
      expect(await rowsOf(page).first().textContent()).to.contain(text);
      await page.getByRole('button', { name: kind }).click();
    }
    expect(await rowsOf(page).count()).to.equal(3);
  });

  it('leads from a call of the model to its request', async () => {
    const page = await pages.open({ hash: '#/turns/trip/timeline' });
    await detailOf(page)
      .getByRole('button', { name: 'model gpt-5-mini iteration 2 RateLimitError' })
      .click();
    await detailOf(page).getByRole('link', { name: 'See the request' }).click();
    const chosen = detailOf(page).locator('[aria-pressed=true], [aria-current=true], :checked');
    await detailOf(page).getByRole('heading', { name: 'What the model got' }).waitFor();
    expect((await chosen.allTextContents()).join()).to.contain('attempt 1');
  });

  it('shows a turn while it runs, and announces its end', async () => {
    const page = await pages.open();
    const running = {
      ...ANSWERED_TURN,
      id: 'live',
      startedAt: Date.now(),
      outcome: 'running' as const,
    };
    const { duration: _, ...started } = running;
    pages.server.put({ ...started, question: 'And now?', questionText: 'And now?', answerText: 'It', timeline: ANSWERED_TURN.timeline.slice(0, 6).map(({ end: _end, ...entry }) => entry), revision: 1 }); // prettier-ignore
    await rowsOf(page).filter({ hasText: 'And now?' }).click();
    await detailOf(page).getByText('It', { exact: true }).waitFor();
    expect(await page.evaluate('document.getAnimations().length')).to.be.above(0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await waitUntil(page, 'document.getAnimations().length === 0');
    const active = detailOf(page).getByRole('button', { name: /^compaction .*at work$/ });
    await active.waitFor();

    pages.server.put({ ...running, question: 'And now?', outcome: 'answered', answerText: 'It rains.', revision: 2 }); // prettier-ignore

    await detailOf(page).getByText('It rains.').waitFor();
    expect(await active.count()).to.equal(0);
    const live = page.locator('[aria-live=polite]').filter({ hasText: '“And now?” is answered' });
    await live.waitFor({ state: 'attached' });
  });

  it('shows a turn that the process no longer keeps, with the reason', async () => {
    const page = await pages.open({ hash: '#/turns/hotel/timeline' });
    await detailOf(page).getByRole('heading', { name: 'Book a hotel' }).waitFor();
    let reads = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/turns/hotel')) reads++;
    });
    pages.server.remove('hotel');
    await detailOf(page).getByText('This turn is no longer kept').waitFor();
    pages.server.put({ ...PAUSED_TURN, revision: 41 });
    pages.server.put({ ...ANSWERED_TURN, question: 'The last change', revision: 41 });
    await rowsOf(page).filter({ hasText: 'The last change' }).waitFor();
    expect(await detailOf(page).textContent()).to.contain('The hotel does not answer');
    expect(reads).to.equal(1);
  });

  it('connects again after its connection broke, with the turns of then', async () => {
    const page = await pages.open();
    pages.server.turns.delete('hotel');
    pages.server.disconnect();
    await waitUntil(page, `document.querySelectorAll('nav.turns li').length === 2`);
    await page.getByText('Live', { exact: true }).waitFor();
    pages.server.remove('payment');
    await waitUntil(page, `document.querySelectorAll('nav.turns li').length === 1`);
  });

  it('names the token when the process refuses the page', async () => {
    const page = await pages.open();
    pages.server.isClosed = true;
    pages.server.disconnect();
    await page.getByText('No access: open the address that the process printed').waitFor();
    pages.server.isClosed = false;
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('keeps the chosen theme', async () => {
    const page = await pages.open({ colorScheme: 'light' });
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
    pages.server.turns.clear();
    const page = await pages.open();
    await page.getByRole('heading', { name: 'Waiting for the first turn' }).waitFor();
    expect(await detailOf(page).textContent()).to.contain('Send a prompt with your client');
  });
});
