import { expect } from 'chai';
import { growth, soak } from '../support/soak.js';

describe('many turns through the full chain', function () {
  this.timeout(600_000);

  it('[F54] [F69] leave heap, listeners, timers and handles constant (8,000 turns)', async () => {
    expect(growth(await soak(8_000))).to.deep.equal([]);
  });
});
