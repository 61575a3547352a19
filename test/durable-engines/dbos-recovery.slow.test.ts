import { expect } from 'chai';
import { startLineProcess, type LineProcess } from '../support/line-process.js';
import { createPostgresDatabase, type PostgresDatabase } from '../support/postgres-database.js';
import { hasServer, POSTGRES } from '../support/servers.js';

const WORKER = new URL('../support/dbos-worker.ts', import.meta.url);

describe('DbosTurns after SIGKILL', () => {
  let database: PostgresDatabase;
  const processes: LineProcess[] = [];
  const startWorker = async (): Promise<LineProcess> => {
    const worker = startLineProcess(WORKER, database.url);
    processes.push(worker);
    await worker.waitFor('ready');
    return worker;
  };

  before(async function () {
    await hasServer(this, POSTGRES);
    database = await createPostgresDatabase();
  });

  after(async () => {
    await Promise.all(processes.map(({ kill }) => kill()));
    await database?.drop();
  });

  it('goes on in another process, and runs only the steps that had not finished', async () => {
    const first = await startWorker();
    const start = { groups: [['a', 'b', 'c'], ['d', 'e', 'f'], ['g']], hanging: ['e'] };
    first.write({ turnId: 'parallel', start });
    await Promise.all(['run d', 'run e', 'run f'].map((line) => first.waitFor(line)));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await first.kill();

    const second = await startWorker();
    second.write({ turnId: 'parallel', release: 'e' });
    second.write({ turnId: 'parallel' });

    expect(await second.waitFor(/^(answer|failed)/)).to.equal('answer a! b! c! d! e! f! g!');
    expect(second.lines.filter((line) => line.startsWith('run'))).to.deep.equal(['run e', 'run g']);
  });
});
