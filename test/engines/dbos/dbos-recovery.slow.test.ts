import { expect } from 'chai';
import { Client } from 'pg';
import type { WorkerSettings } from '../../support/dbos-worker.js';
import { startLineProcess, type LineProcess } from '../../support/line-process.js';
import { createPostgresDatabase, type PostgresDatabase } from '../../support/postgres-database.js';
import { hasServer, POSTGRES } from '../../support/servers.js';

const WORKER = new URL('../../support/dbos-worker.ts', import.meta.url);

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('DbosTurns in several processes', () => {
  let database: PostgresDatabase;
  const processes: LineProcess[] = [];
  const startWorker = async (settings: WorkerSettings = {}): Promise<LineProcess> => {
    const worker = startLineProcess(WORKER, database.url, JSON.stringify(settings));
    processes.push(worker);
    await worker.waitFor('ready');
    return worker;
  };

  const query = async (sql: string, turnId: string): Promise<Record<string, unknown>> => {
    const client = new Client(database.url);
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(sql, [turnId]);
    await client.end();
    return rows[0] ?? {};
  };
  const versionOf = (turnId: string): Promise<unknown> =>
    query(
      'SELECT status, application_version AS version FROM dbos.workflow_status WHERE workflow_uuid = $1',
      turnId,
    );
  const recordedStepsOf = async (turnId: string): Promise<number> => {
    const sql =
      'SELECT count(*)::int AS count FROM dbos.operation_outputs WHERE workflow_uuid = $1';
    return Number((await query(sql, turnId))['count']);
  };

  before(async function () {
    await hasServer(this, POSTGRES);
    database = await createPostgresDatabase();
  });

  afterEach(async () => {
    await Promise.all(processes.splice(0).map(({ kill }) => kill()));
  });

  after(() => database?.drop());

  it('continues in another process, and runs only the unfinished steps', async () => {
    const first = await startWorker();
    const start = { groups: [['a', 'b', 'c'], ['d', 'e', 'f'], ['g']], hanging: ['e'] };
    first.write({ turnId: 'parallel', start });
    await Promise.all(['run d', 'run e', 'run f'].map((line) => first.waitFor(line)));
    while ((await recordedStepsOf('parallel')) < 5) await pause(20); // all but the step that hangs
    await first.kill();

    const second = await startWorker();
    second.write({ turnId: 'parallel', release: 'e' });
    second.write({ turnId: 'parallel' });

    expect(await second.waitFor(/^(answer|failed)/)).to.equal('answer a! b! c! d! e! f! g!');
    expect(second.lines.filter((line) => line.startsWith('run'))).to.deep.equal(['run e', 'run g']);
  });

  it('continues only in a process with its application version, also after another one has started', async () => {
    const old = await startWorker({ applicationVersion: '1' });
    old.write({ turnId: 'old', start: { groups: [['a'], ['b']], hanging: ['b'] } });
    await old.waitFor('run b');
    await old.kill();

    const newer = await startWorker({ applicationVersion: '2' });
    newer.write({ turnId: 'new', start: { groups: [['n']] } });
    await newer.waitFor('started new');
    newer.write({ turnId: 'new' });
    await newer.waitFor('answer n!');
    expect(await versionOf('old')).to.deep.equal({ status: 'PENDING', version: '1' });
    expect(newer.lines).to.not.include('run b');

    const again = await startWorker({ applicationVersion: '1' });
    again.write({ turnId: 'old', release: 'b' });
    again.write({ turnId: 'old' });

    expect(await again.waitFor(/^(answer|failed)/)).to.equal('answer a! b!');
    expect(again.lines).to.not.include('run a');
  });

  it('runs no more turns at once than the queue allows, in all processes together', async () => {
    const queue = { concurrency: 2, workerConcurrency: 2, pollInterval: 50 };
    const workers = await Promise.all(
      ['one', 'two', 'three'].map((executorID) => startWorker({ executorID, queue })),
    );
    const names = Array.from({ length: 6 }, (_, at) => `s${at}`);
    for (const name of names)
      workers[0]?.write({ turnId: name, start: { groups: [[name]], hanging: [name] } });
    const begun = (): readonly string[] =>
      workers.flatMap(({ lines }) => lines.filter((line) => line.startsWith('run')));
    const ended: string[] = [];

    while (ended.length < names.length) {
      const running = Math.min(2, names.length - ended.length);
      while (begun().length < ended.length + running) await pause(20);
      await pause(300); // several looks at the queue
      expect(begun()).to.have.length(ended.length + running);
      const name = begun()
        .map((line) => line.slice('run '.length))
        .find((each) => !ended.includes(each)) as string;
      for (const worker of workers) worker.write({ turnId: name, release: name });
      ended.push(name);
    }
  });
});
