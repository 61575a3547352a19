import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client, Pool } from 'pg';
import { stopStarted } from '../../../src/engines/embedded/cluster.js';
import { findServer } from '../../../src/engines/embedded/server-process.js';
import { embeddedDatabase, type EmbeddedDatabase } from '../../../src/engines/embedded/embedded.js';
import { hasServer, POSTGRES } from '../../support/servers.js';

const ENTRY = new URL('../../../src/engines/embedded/embedded.ts', import.meta.url);

describe('embeddedDatabase', () => {
  let directory: string;
  const opened: EmbeddedDatabase[] = [];
  const pools: Pool[] = [];

  const open = async (onRestart?: () => void): Promise<EmbeddedDatabase> => {
    const database = await embeddedDatabase({ directory, onRestart });
    opened.push(database);
    return database;
  };
  const poolOf = ({ url }: EmbeddedDatabase, max = 5): Pool => {
    const pool = new Pool({ connectionString: url, max });
    pool.on('error', () => undefined); // of connections that are idle when the process is killed
    pools.push(pool);
    return pool;
  };
  const lock = (): string => join(directory, 'cluster', 'postmaster.pid');
  const serverPid = (): number => Number.parseInt(readFileSync(lock(), 'utf8'));

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'advisor-chain-embedded-'));
  });

  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.end()));
    for (const database of opened.splice(0)) await database.close();
  });

  after(() => rmSync(directory, { recursive: true, force: true }));

  it('keeps what was committed when it is closed, and opened again', async () => {
    const first = await open();
    await poolOf(first).query('CREATE TABLE kept AS SELECT 1 AS value');
    await pools.pop()?.end();
    await first.close();

    const { rows } = await poolOf(await open()).query('SELECT value FROM kept');

    expect(rows).to.deep.equal([{ value: 1 }]);
  });

  it('is one database for all that open the directory', async () => {
    const [first, second] = await Promise.all([open(), open()]);

    expect(second.url).to.equal(first.url);
  });

  it('keeps the statements and transactions of the connections of a pool apart', async () => {
    const pool = poolOf(await open());
    await pool.query('CREATE TABLE numbers (n int)');
    const transaction = async (n: number): Promise<unknown> => {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await client.query('INSERT INTO numbers VALUES ($1)', [n]);
        const { rows } = await client.query('SELECT $1::text AS text, $2::int AS n', ['x', n]);
        await client.query(n % 3 === 0 ? 'ROLLBACK' : 'COMMIT');
        return rows[0];
      } finally {
        client.release();
      }
    };

    const rows = await Promise.all(Array.from({ length: 60 }, (_, n) => transaction(n)));

    expect(rows).to.deep.equal(rows.map((_, n) => ({ text: 'x', n })));
    const { rows: counted } = await pool.query('SELECT count(*)::int AS count FROM numbers');
    expect(counted).to.deep.equal([{ count: 40 }]);
  });

  it('rolls back the transaction of a connection that ends, and lets others continue', async () => {
    const database = await open();
    const pool = poolOf(database);
    await pool.query('CREATE TABLE left_open (n int)');
    const client = new Client(database.url);
    client.on('error', () => undefined);
    await client.connect();
    await client.query('BEGIN');
    await client.query('INSERT INTO left_open VALUES (1)');

    const waiting = pool.query('SELECT count(*)::int AS count FROM left_open');
    (
      client as unknown as { connection: { stream: { destroy(): void } } }
    ).connection.stream.destroy();

    expect((await waiting).rows).to.deep.equal([{ count: 0 }]);
  });

  it('passes notifications on to the connection that listens', async () => {
    const database = await open();
    const listener = new Client(database.url);
    await listener.connect();
    await listener.query('LISTEN news');
    const notified = new Promise((resolve) => listener.once('notification', resolve));

    await poolOf(database).query("SELECT pg_notify('news', 'arrived')");

    expect(await notified).to.include({ channel: 'news', payload: 'arrived' });
    await listener.end();
  });

  it('answers an error of a statement, and continues', async () => {
    const pool = poolOf(await open(), 1);

    const error: unknown = await pool.query('SELECT $1::int', ['x']).catch((reason) => reason);

    expect(error).to.include({ code: '22P02' });
    expect((await pool.query('SELECT 1 AS one')).rows).to.deep.equal([{ one: 1 }]);
  });

  it('refuses a client that does not know the password', async () => {
    const { url } = await open();
    const client = new Client(url.replace(/:[0-9a-f]+@/, ':guess@'));

    const error: unknown = await client.connect().catch((reason: unknown) => reason);

    expect(error).to.include({ code: '28P01' });
  });

  it('loses nothing that was committed when its process is killed, and runs again at the same address', async () => {
    let restarted = (): void => undefined;
    const again = new Promise<void>((resolve) => (restarted = resolve));
    const database = await open(() => restarted());
    const pool = poolOf(database, 3);
    await pool.query('CREATE TABLE committed (n int)');
    let acknowledged = 0;
    let isRunning = true;
    const writer = (async () => {
      for (let n = 0; isRunning; n++)
        await pool.query('INSERT INTO committed VALUES ($1)', [n]).then(
          () => (acknowledged = n + 1),
          () => (isRunning = false),
        );
    })();
    while (acknowledged < 50) await new Promise((resolve) => setTimeout(resolve, 5));

    process.kill(serverPid(), 'SIGKILL');
    await Promise.all([writer, again]);

    const { rows } = await pool.query('SELECT count(*)::int AS count FROM committed');
    expect((rows[0] as { count: number }).count).to.be.oneOf([acknowledged, acknowledged + 1]);
  });

  it('fails if the process that holds the directory does not answer', async () => {
    const silent = { exitCode: null, signalCode: null } as ChildProcess;
    const empty = join(directory, 'missing');

    const error: unknown = await findServer(empty, () => silent, 100).catch((reason) => reason);

    expect(String(error)).to.include('no process has answered in 0.1 s');
  });

  it('starts where a killed server has left its lock, also if another process has its id', async () => {
    await (await open()).close();
    const port = 1; // on which no server listens
    writeFileSync(lock(), [process.pid, directory, 1, port, '', '', '', 'ready'].join('\n'));

    const { rows } = await poolOf(await open()).query('SELECT 1 AS one');

    expect(rows).to.deep.equal([{ one: 1 }]);
  });

  it('takes another port if another PostgreSQL, which may accept any password, has its own', async function () {
    await hasServer(this, POSTGRES);
    await (await open()).close();
    const { port } = POSTGRES.connection;
    const file = join(directory, 'cluster', 'address.json');
    const address = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...address, port }));

    const database = await open();

    expect(new URL(database.url).port).not.to.equal(String(port));
    const { rows } = await poolOf(database).query(
      "SELECT current_setting('data_directory') AS path",
    );
    expect(rows).to.deep.equal([{ path: join(directory, 'cluster') }]);
  });

  it('is not stopped by the supervisor of an earlier server', async () => {
    const pool = poolOf(await open());
    const answers = async (): Promise<unknown> => (await pool.query('SELECT 1 AS one')).rows;

    await stopStarted(directory, readFileSync(lock(), 'utf8').replace(/^\d+/, '1'));

    expect(await answers()).to.deep.equal([{ one: 1 }]);
  });

  it('ends its server when it was idle, also after the end of a process that was killed', async () => {
    const code = `const { embeddedDatabase } = await import('${ENTRY.href}');
      await embeddedDatabase({ directory: ${JSON.stringify(directory)}, idleTimeout: 300 });
      console.log('open');
      setInterval(() => undefined, 1000);`;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', code];
    const application = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(application.stdout, 'data');
    expect(existsSync(lock())).to.equal(true);

    application.kill('SIGKILL');
    while (existsSync(lock())) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});
