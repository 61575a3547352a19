import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { embeddedDatabase, type EmbeddedDatabase } from '../../../src/engines/embedded/embedded.js';
import { startLineProcess, type LineProcess } from '../../support/line-process.js';

const WORKER = new URL('../../support/dbos-worker.ts', import.meta.url);

describe('DbosTurns on the embedded database', () => {
  let directory: string;
  let database: EmbeddedDatabase;
  let restarts = 0;
  const processes: LineProcess[] = [];

  const startWorker = async (): Promise<LineProcess> => {
    const worker = startLineProcess(WORKER, database.url);
    processes.push(worker);
    await worker.waitFor('ready');
    return worker;
  };
  const killDatabase = (): void => {
    const lock = readFileSync(join(directory, 'cluster', 'postmaster.pid'), 'utf8');
    process.kill(Number.parseInt(lock), 'SIGKILL');
  };
  const runs = ({ lines }: LineProcess): readonly string[] =>
    lines.filter((line) => line.startsWith('run'));

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'advisor-chain-turns-'));
    database = await embeddedDatabase({ directory, onRestart: () => void restarts++ });
  });

  afterEach(async () => {
    await Promise.all(processes.splice(0).map(({ kill }) => kill()));
  });

  after(async () => {
    await database?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('continues a turn whose database is killed while a step runs, and runs no step twice', async () => {
    const worker = await startWorker();
    const start = { groups: [['a'], ['b'], ['c']], hanging: ['b'] };
    worker.write({ turnId: 'waits', start });
    await worker.waitFor('run b');

    killDatabase();
    worker.write({ turnId: 'waits', release: 'b' });
    worker.write({ turnId: 'waits' });

    expect(await worker.waitFor(/^(answer|failed)/)).to.equal('answer a! b! c!');
    expect(runs(worker)).to.deep.equal(['run a', 'run b', 'run c']);
    expect(restarts).to.equal(1);
  });

  it('loses no turn whose database and process are killed at once', async () => {
    const first = await startWorker();
    first.write({ turnId: 'both', start: { groups: [['a'], ['b'], ['c']], hanging: ['b'] } });
    await first.waitFor('run b');
    const before = restarts;

    killDatabase();
    await first.kill();
    while (restarts === before) await new Promise((resolve) => setTimeout(resolve, 20));
    const second = await startWorker();
    second.write({ turnId: 'both', release: 'b' });
    second.write({ turnId: 'both' });

    expect(await second.waitFor(/^(answer|failed)/)).to.equal('answer a! b! c!');
    expect(runs(second)).to.deep.equal(['run b', 'run c']);
  });
});
