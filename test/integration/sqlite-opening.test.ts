import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { build } from 'esbuild';

const PROCESSES = 4;
const FILES = 60;

const root = fileURLToPath(new URL('../..', import.meta.url));
// where Node finds the packages of the project
const worker = join(root, 'node_modules/.cache/advisor-chain', `sqlite-opening-${process.pid}.mjs`);

describe('SqliteChatMemoryRepository.open', function () {
  this.timeout(120_000);
  this.slow(20_000);

  const folder = mkdtempSync(join(tmpdir(), 'chat-memory-'));
  const processes: ChildProcess[] = [];

  before(async () => {
    await build({
      entryPoints: [join(root, 'test/integration/sqlite-opening-worker.ts')],
      outfile: worker,
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['libsql'],
      logLevel: 'error',
    });
    for (let at = 0; at < PROCESSES; at++) processes.push(fork(worker, { execArgv: [] }));
    await Promise.all(processes.map((child) => once(child, 'message')));
  });

  after(() => {
    for (const child of processes) child.disconnect();
    rmSync(worker);
    rmSync(folder, { recursive: true });
  });

  it(`[F64] makes a file that ${PROCESSES} processes open at once, ${FILES} times`, async () => {
    const told: unknown[] = [];
    for (let at = 0; at < FILES; at++) {
      const answers = processes.map(async (child) => ((await once(child, 'message')) as readonly unknown[])[0]);
      for (const child of processes) child.send(join(folder, `${at}.db`));
      told.push(...(await Promise.all(answers)));
    }

    expect(told.filter((answer) => answer !== 'opened')).to.deep.equal([]);
    expect(told).to.have.length(PROCESSES * FILES);
  });
});
