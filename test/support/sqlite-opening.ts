import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { bundleWorker } from './bundle-worker.js';

/** Tests that processes may open the same new database file at the same time. */
export function describeConcurrentOpening(scale: {
  readonly processes: number;
  readonly files: number;
}): void {
  describe('SqliteChatMemoryRepository.open', function () {
    this.timeout(120_000);
    this.slow(20_000);

    const folder = mkdtempSync(join(tmpdir(), 'chat-memory-'));
    const processes: ChildProcess[] = [];
    let worker: string;

    before(async () => {
      worker = await bundleWorker('sqlite-opening-worker');
      for (let at = 0; at < scale.processes; at++) processes.push(fork(worker, { execArgv: [] }));
      await Promise.all(processes.map((child) => once(child, 'message')));
    });

    after(() => {
      for (const child of processes) child.disconnect();
      rmSync(worker);
      rmSync(folder, { recursive: true });
    });

    it(`[F64] creates a file that ${scale.processes} processes open concurrently, ${scale.files} times`, async () => {
      const results: unknown[] = [];
      for (let at = 0; at < scale.files; at++) {
        const answers = processes.map(
          async (child) => ((await once(child, 'message')) as readonly unknown[])[0],
        );
        for (const child of processes) child.send(join(folder, `${at}.db`));
        results.push(...(await Promise.all(answers)));
      }

      expect(results.filter((result) => result !== 'opened')).to.deep.equal([]);
      expect(results).to.have.length(scale.processes * scale.files);
    });
  });
}
