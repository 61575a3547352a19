import { expect } from 'chai';
import type { InspectorEvent } from '../../../src/bridges/inspector/page-messages.js';
import { ChatClient } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { InspectedClient } from '../../support/inspected-client.js';
import { resourcesLeftBy } from '../../support/held-resources.js';
import { settled } from '../../support/promises.js';
import { VirtualTime } from '../../support/virtual-time.js';
import { withoutVariable } from '../../support/without-variable.js';

const clientOf = (): ChatClient =>
  ChatClient.create(new ScriptedChatModel(() => ({ text: 'An answer.' })));

function turnIn(events: readonly InspectorEvent[]) {
  const last = events.at(-1);
  return last?.type === 'turn' ? last.turn : expect.fail(`no turn in ${JSON.stringify(events)}`);
}

describe('the events of an inspector', () => {
  withoutVariable('NODE_ENV');

  describe('read as they come', () => {
    const time = new VirtualTime();
    beforeEach(() => time.start());
    afterEach(() => time.restore());

    it('begin with all turns and the chain, then have each change', async () => {
      const page = new InspectedClient(clientOf());
      const reader = await page.events();

      const [hello] = await reader.next();
      const next = reader.next();
      await page.post('/api/try', { text: 'Hello' });
      const { value: events } = await time.until(next);

      expect(reader.response.headers.get('content-type')).to.match(/^text\/event-stream/);
      expect(hello).to.include({ type: 'hello', canTry: true });
      expect(hello).to.have.nested.property('chain.advisors[0].name', 'tool-calling');
      expect(turnIn(events)).to.include({ source: 'page', question: 'Hello' });
      reader.leave();
    });

    it('have of each turn the latest change alone, at most ten in a second', async () => {
      const model = new ScriptedChatModel(() => ({
        deltas: Array.from({ length: 200 }, (_, at) => `${at} `),
        delay: 10,
      }));
      const page = new InspectedClient(ChatClient.create(model));
      const reader = await page.events();
      await reader.next();

      await page.post('/api/try', { text: 'Hello' });
      let [count, waited] = [0, 0];
      let last: ReturnType<typeof turnIn> | undefined;
      while (last?.outcome !== 'answered') {
        const { value, time: milliseconds } = await time.until(reader.next());
        count += value.length;
        waited += milliseconds;
        last = turnIn(value);
      }

      expect(count).to.be.within(10, waited / 100 + 1);
      expect(last.answer).to.include('0 1 2 3');
      reader.leave();
    });

    it('keep for a reader that does not read the latest change of each turn alone', async () => {
      const page = new InspectedClient(clientOf());
      const reader = await page.events();
      await reader.next();

      for (let at = 0; at < 50; at++) await page.post('/api/try', { text: `Question ${at}` });
      await time.pass(1_000);
      page.inspector.clear();
      await page.post('/api/try', { text: 'Last' });
      await time.pass(1_000);
      const events = await reader.next();

      expect(events.map(({ type }) => type)).to.deep.equal(['removed', 'turn']);
      expect(turnIn(events)).to.include({ question: 'Last', outcome: 'answered' });
      reader.leave();
    });

    it('have a comment after a silence', async () => {
      const page = new InspectedClient(clientOf(), { heartbeat: 5_000 });
      const reader = await page.events();
      await reader.next();

      const { value, time: waited } = await time.until(reader.text());

      expect(value).to.equal(': \n\n');
      expect(waited).to.be.within(5_000, 5_100);
      reader.leave();
    });
  });

  for (const way of ['leave', 'cancel'] as const)
    it(`ends the events of a reader with its request, without a timer (${way})`, async () => {
      await settled(); // the timer of the test itself has begun
      const left = await resourcesLeftBy(async () => {
        const page = new InspectedClient(clientOf());
        const reader = await page.events();
        await reader.next();
        const waiting = reader.text();
        await reader[way]();
        expect(await waiting).to.equal(undefined);
        await page.try({ text: 'Hello', mode: 'call' });
      }, /change-reports/);
      expect(left).to.deep.equal([]);
    });
});
