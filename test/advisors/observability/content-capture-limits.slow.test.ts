import { expect } from 'chai';
import { MODES } from '../../support/modes.js';
import {
  expectBounded,
  oversizedTurns,
  runOversized,
  textsOf,
} from '../../support/oversized-turns.js';

for (const mode of MODES)
  describe(`ContentCapture of a ${mode} with oversized content`, function () {
    this.timeout(120_000);

    for (const [name, turn] of Object.entries(oversizedTurns(2 ** 26)))
      it(`[F98] limits ${name} of 64 MB`, async () => {
        const spans = await runOversized(mode, turn());

        expectBounded(spans);
        expect(textsOf(spans, 'gen_ai.input.messages')).to.not.be.empty;
      });
  });
