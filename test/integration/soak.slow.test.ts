import { expect } from 'chai';
import { growth, soak } from '../support/soak.js';
import { inFull } from '../support/sweep.js';

const TURNS = inFull(8_000, 3_000);

describe('many turns through the full chain', function () {
  this.timeout(600_000);

  it(`[F54] [F69] leave heap, listeners, timers and handles constant (${TURNS} turns)`, async () => {
    expect(growth(await soak(TURNS))).to.deep.equal([]);
  });
});
