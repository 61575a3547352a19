import { Chaos } from '../support/chaos.js';
import { inFull } from '../support/sweep.js';

describe('random turns through a full chain against a model that fails at random', function () {
  const turns = Number(process.env['CHAOS_TURNS'] ?? inFull(500, 200));
  const seed = Number(process.env['CHAOS_SEED'] ?? 20_261_123);
  this.timeout(turns * 600);

  it(`end with an answer or a typed error, valid memory, an exact ledger and no effect twice (${turns} turns)`, async () => {
    const counts = await Chaos.run(seed, turns);

    console.log(`      seed ${seed}: ${JSON.stringify(counts)}`);
  });
});
