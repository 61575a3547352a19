import { expect } from 'chai';
import { attemptSweep, checkAllOperations } from '../support/attempts/attempt-sweep.js';
import type { TurnPlan } from '../support/attempts/turn-plan.js';
import { sweepCases } from '../support/case-sweep.js';
import { STORE_KINDS, SERVER_OF } from '../support/key-value-stores.js';
import { hasServer } from '../support/servers.js';
import { sweepSeed, SweepStores } from '../support/sweep-stores.js';
import { inFull } from '../support/sweep.js';

/** Cases in memory, and of each other store. */
const IN_MEMORY = Math.max(inFull(240, 80), Number(process.env['FC_RUNS'] ?? 0));
const OF_STORE = inFull(24, 8);

const EVERYTHING: TurnPlan = {
  kind: 'plain',
  mode: 'stream',
  isMemoryInside: false,
  keepsPartial: false,
  storesTools: true,
  ledger: true,
  lock: true,
  budget: true,
  guard: true,
  steering: false,
  retry: false,
  isRestarted: true,
  ids: 'fresh',
  calls: [['look', 'pay'], ['save']],
  turnsBefore: 1,
  store: 'memory',
  inspection: { order: 100, isRead: false },
};

describe('a turn that is attempted until it ends', function () {
  this.timeout(300_000);
  const stores = new SweepStores();
  after(() => stores.close());

  for (const kind of ['plain', 'paused', 'durable'] as const)
    it(`ends like an undisturbed one, whichever operation fails: ${kind}`, async () => {
      const verdicts = await checkAllOperations({ ...EVERYTHING, kind }, stores);

      const bad = verdicts.filter(({ problem }) => problem);
      expect(verdicts.length).to.be.above(60);
      expect(bad.map(({ problem }) => problem)).to.deep.equal([]);
    });

  for (const store of STORE_KINDS)
    it(`ends like an undisturbed one: random turns and disturbances, ${store}`, async function () {
      const server = SERVER_OF[store];
      if (server) await hasServer(this, server);
      const count = store === 'memory' ? IN_MEMORY : OF_STORE;

      const sweep = attemptSweep(stores, [store]);
      const { cases, bad } = await sweepCases(sweep, { seed: sweepSeed(), count });

      expect(cases).to.equal(count);
      expect(bad).to.deep.equal([]);
    });
});
