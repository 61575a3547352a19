import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Cost } from '../support/long-loop.js';

const ITERATIONS = 100_000;
const PROGRAM = fileURLToPath(new URL('../support/long-loop.ts', import.meta.url));

/** Runs a long turn in a process of its own, where the garbage can be collected before the heap is measured. */
async function measure(
  iterations: number,
  mode: 'call' | 'stream',
  keepHistory: boolean,
): Promise<Cost> {
  const args = [
    '--expose-gc',
    '--import',
    'tsx',
    PROGRAM,
    String(iterations),
    mode,
    String(keepHistory),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Cost;
}

describe('a very long turn', function () {
  this.timeout(120_000);

  for (const [mode, keepHistory] of [
    ['call', true],
    ['stream', false],
  ] as const) {
    it(`[F10] runs ${ITERATIONS} iterations with a synchronous model; memory grows by the transcript, the record and the kept results alone (${mode}, keepHistory ${keepHistory})`, async () => {
      const short = await measure(ITERATIONS / 10, mode, keepHistory);
      const long = await measure(ITERATIONS, mode, keepHistory);
      console.log(
        `      ${ITERATIONS} iterations: ${Math.round(long.milliseconds)} ms, ${Math.round(long.bytesPerIteration)} bytes per iteration`,
      );

      expect([long.executions, long.text]).to.deep.equal([ITERATIONS, 'Done.']);
      // the messages are some 450 bytes, the step and the entry of the ledger some 600, the kept result some 200, the id in a set of all ids some 35; a prompt or a subscription kept each time is more
      expect(long.bytesPerIteration).to.be.lessThan(1_450);
      // ten times as many iterations cost about ten times as much; with work that grows with the history it would be a hundred times
      expect(long.milliseconds / short.milliseconds).to.be.lessThan(40);
    });
  }
});
