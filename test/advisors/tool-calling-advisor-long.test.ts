import { expect } from 'chai';
import { longLoop } from '../support/long-loop.js';

describe('a long turn', () => {
  for (const [mode, keepHistory] of [
    ['call', true],
    ['stream', false],
  ] as const)
    it(`[F10] runs 1,000 iterations with a synchronous model (${mode}, keepHistory ${keepHistory})`, async () => {
      const { executions, text } = await longLoop(1_000, mode, keepHistory);

      expect([executions, text]).to.deep.equal([1_000, 'Done.']);
    });
});
