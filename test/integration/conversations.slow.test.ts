import { expect } from 'chai';
import { sweepCases } from '../support/case-sweep.js';
import { conversationSweep } from '../support/conversations/conversation-sweep.js';
import { SERVER_OF, STORE_KINDS } from '../support/key-value-stores.js';
import { hasServer } from '../support/servers.js';
import { sweepSeed, SweepStores } from '../support/sweep-stores.js';
import { inFull } from '../support/sweep.js';

/** Conversations in memory, and of each other store. */
const IN_MEMORY = Math.max(inFull(500, 150), Number(process.env['FC_RUNS'] ?? 0));
const OF_STORE = inFull(40, 15);

describe('a conversation of turns that end in all ways', function () {
  this.timeout(300_000);
  const stores = new SweepStores();
  after(() => stores.close());

  for (const store of STORE_KINDS)
    it(`can always continue, complete and in order, whatever its model writes: ${store}`, async function () {
      const server = SERVER_OF[store];
      if (server) await hasServer(this, server);
      const count = store === 'memory' ? IN_MEMORY : OF_STORE;

      const sweep = conversationSweep(stores, [store]);
      const { cases, bad } = await sweepCases(sweep, { seed: sweepSeed(), count });

      expect(cases).to.equal(count);
      expect(bad).to.deep.equal([]);
    });
});
