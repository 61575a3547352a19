import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { bundleWorker } from '../../support/bundle-worker.js';
import { startCompetitor } from '../../support/competing-processes.js';
import { dropStates, openKeyValueStore, SERVER_OF } from '../../support/key-value-stores.js';
import { hasServer } from '../../support/servers.js';

const [KEYS, PROCESSES] = [300, 3];

describe('a key-value store shared by processes', function () {
  this.timeout(120_000);
  this.slow(60_000);

  const folder = mkdtempSync(join(tmpdir(), 'key-value-'));
  const name = `t${randomUUID().replaceAll('-', '').slice(0, 16)}`;
  let worker: string;
  before(async () => {
    worker = await bundleWorker('key-value-worker');
  });
  after(() => {
    rmSync(worker);
    rmSync(folder, { recursive: true });
  });

  for (const kind of ['sqlite', 'postgres', 'redis'] as const)
    it(`has one winner for each of ${KEYS} keys, and counts all attempts, in ${kind}`, async function () {
      const server = SERVER_OF[kind];
      if (server) await hasServer(this, server);
      const location = kind === 'sqlite' ? join(folder, 'states.db') : name;
      const wins = await compete(worker, kind, location);
      const { store, close } = await openKeyValueStore(kind, location);
      const sums = await store.add('attempts', { all: 0, won: 0 });
      const owners = await Promise.all(wins.map(([key]) => store.get(key)));
      await close();
      await dropStates(kind, location);

      expect(wins.map(([key]) => key).toSorted()).to.deep.equal(
        Array.from({ length: KEYS }, (_, at) => `key ${at}`).toSorted(),
      );
      expect(owners).to.deep.equal(wins.map(([, owner]) => owner));
      expect(sums).to.deep.equal({ all: KEYS * PROCESSES, won: KEYS });
    });
});

/** Starts processes, lets them begin together, and returns the keys with the process that has won each. */
async function compete(
  worker: string,
  kind: string,
  location: string,
): Promise<readonly (readonly [key: string, owner: string])[]> {
  const wins: (readonly [string, string])[] = [];
  const all = await Promise.all(
    Array.from({ length: PROCESSES }, (_, at) =>
      startCompetitor([worker, kind, location, `${at}`, `${KEYS}`], (key) =>
        wins.push([key, `${at}`]),
      ),
    ),
  );
  for (const { start } of all) start();
  const codes = await Promise.all(all.map(({ exit }) => exit));
  expect(codes).to.deep.equal(all.map(() => 0));
  return wins;
}
