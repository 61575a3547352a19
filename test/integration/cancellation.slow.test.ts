import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { describeCancellation } from '../support/cancellation-suite.js';

/** Milliseconds; the shortest timer that could be left runs for many seconds. */
const BOUND = 5_000;

describeCancellation({ every: 1 });

describe('a process that cancelled streamed turns', function () {
  this.timeout(60_000);

  it('[F103] leaves nothing that keeps a process alive', async () => {
    const child = spawn(process.execPath, [
      '--import',
      'tsx',
      fileURLToPath(new URL('../fixtures/cancellation/exits.ts', import.meta.url)),
    ]);
    let printed = '';
    let done = 0;
    child.stdout.on('data', (piece: Buffer) => {
      printed += piece.toString();
      done = performance.now();
    });
    child.stderr.on('data', (piece: Buffer) => (printed += piece.toString()));
    // the shortest timer that could be left is one of many seconds
    const timer = setTimeout(() => child.kill('SIGKILL'), 50_000);

    const code = await new Promise((resolve) => child.on('exit', resolve));
    clearTimeout(timer);

    expect(printed).to.equal('done\n');
    expect(code).to.equal(0);
    expect(performance.now() - done, 'milliseconds until the process had ended').to.be.below(BOUND);
  });
});
