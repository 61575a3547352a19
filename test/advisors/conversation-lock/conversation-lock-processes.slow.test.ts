import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { bundleWorker } from '../../support/bundle-worker.js';
import { startCompetitor } from '../../support/competing-processes.js';
import { dropStates, openKeyValueStore, SERVER_OF } from '../../support/key-value-stores.js';
import { hasServer } from '../../support/servers.js';

const [PROCESSES, TURNS] = [3, 20];

describe('turns of a conversation in several processes', function () {
  this.timeout(120_000);
  this.slow(60_000);

  const folder = mkdtempSync(join(tmpdir(), 'conversation-lock-'));
  const prefix = `t${randomUUID().replaceAll('-', '').slice(0, 16)}`;
  let worker: string;
  before(async () => {
    worker = await bundleWorker('conversation-lock-worker');
  });
  after(() => {
    rmSync(worker);
    rmSync(folder, { recursive: true });
  });

  for (const kind of ['sqlite', 'postgres', 'redis'] as const)
    describe(kind, () => {
      const locationOf = (name: string): string =>
        kind === 'sqlite' ? join(folder, `${name}.db`) : `${prefix}_${name}`;
      before(async function () {
        const server = SERVER_OF[kind];
        if (server) await hasServer(this, server);
      });

      it(`run one after the other: ${PROCESSES} processes with ${TURNS} turns each`, async () => {
        const location = locationOf('turns');
        const lines: string[] = [];
        const args = (name: number) => [worker, kind, location, `${name}`, `${TURNS}`];
        const all = await Promise.all(
          Array.from({ length: PROCESSES }, (_, at) =>
            startCompetitor(args(at), (line) => lines.push(line)),
          ),
        );
        for (const { start } of all) start();
        const codes = await Promise.all(all.map(({ exit }) => exit));
        const { store, close } = await openKeyValueStore(kind, location);
        const inside = await store.get('inside');
        await close();
        await dropStates(kind, location);

        expect(codes).to.deep.equal(all.map(() => 0));
        expect(lines).to.have.length(PROCESSES * TURNS * 2);
        expect(inside).to.equal(`${PROCESSES * TURNS}`);
      });

      it('continue after the lease of a process that is killed in its turn', async () => {
        const location = locationOf('killed');
        const lines: string[] = [];
        const begun = new Promise<void>((resolve) => {
          void startCompetitor([worker, kind, location, 'killed', 'hang'], (line) => {
            lines.push(line);
            resolve();
          }).then((killed) => {
            killed.start();
            void begun.then(() => killed.child.kill('SIGKILL'));
          });
        });
        await begun;
        const next = await startCompetitor([worker, kind, location, 'next', '2'], (line) =>
          lines.push(line),
        );
        next.start();
        const code = await next.exit;
        await dropStates(kind, location);

        expect(code).to.equal(0);
        expect(lines).to.deep.equal([
          'begin killed',
          'begin next',
          'end next',
          'begin next',
          'end next',
        ]);
      });
    });
});
