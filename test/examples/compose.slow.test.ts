import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { FleetModelServer } from '../support/fleet/fleet-model-server.js';
import { createPostgresDatabase, type PostgresDatabase } from '../support/postgres-database.js';
import { hasServer, POSTGRES } from '../support/servers.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'examples/compose');

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** Reads a file of Compose, with a package that DBOS depends on. */
function readCompose(path: string): ComposeFile {
  const { resolve } = createRequire(import.meta.url);
  const { parse } = createRequire(resolve('@dbos-inc/dbos-sdk'))('yaml') as {
    parse: (text: string, options: object) => ComposeFile;
  };
  return parse(readFileSync(path, 'utf8'), { merge: true });
}

describe('examples/compose', () => {
  const { services, volumes } = readCompose(join(folder, 'compose.yml'));
  const all = Object.entries(services);
  const workers = all.filter(([name]) => name.startsWith('worker'));

  it('has services whose files, dependencies and volumes exist', () => {
    for (const [
      ,
      { image, build, command = [], depends_on: needs = {}, volumes: used = [] },
    ] of all) {
      expect(image ?? build?.dockerfile).to.be.a('string');
      if (build) expect(existsSync(join(folder, build.context, build.dockerfile))).to.equal(true);
      for (const path of command.filter((word) => word.endsWith('.ts')))
        expect(existsSync(join(root, path))).to.equal(true);
      expect(services).to.include.keys(...Object.keys(needs), 'postgres');
      for (const volume of used) expect(volumes).to.have.property(volume.split(':')[0] ?? '');
    }
  });

  it('gives each process an id of its own, and workers more time than drain takes', () => {
    const ids = all.flatMap(([, { environment }]) => environment['WORKER_ID'] ?? []);
    expect(ids)
      .to.deep.equal([...new Set(ids)])
      .and.have.lengthOf(all.length - 1);
    const [, limit] =
      /TIME_LIMIT = ([\d_]+)/.exec(readFileSync(join(folder, 'worker.ts'), 'utf8')) ?? [];
    for (const [, { stop_grace_period: grace = '' }] of workers)
      expect(parseInt(grace) * 1000).to.be.above(Number(limit?.replace('_', '')) + 2000);
  });
});

describe('the processes of examples/compose', () => {
  let database: PostgresDatabase;
  let model: FleetModelServer;
  const children: ChildProcess[] = [];

  before(async function () {
    await hasServer(this, POSTGRES);
    database = await createPostgresDatabase();
    model = await FleetModelServer.start(0);
  });

  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await model?.close();
    await database?.drop();
  });

  /** Starts a file of the example; resolves once it has printed that it is ready, after lines of DBOS. */
  async function start(
    file: string,
    ready: RegExp,
    environment: Readonly<Record<string, string>>,
  ): Promise<{ readonly child: ChildProcess; readonly line: string }> {
    const env = {
      ...process.env,
      DATABASE_URL: database.url,
      OPENAI_BASE_URL: model.baseURL,
      OPENAI_API_KEY: 'k',
      ...environment,
    };
    const args = ['--import', 'tsx', join(folder, file)];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    children.push(child);
    for await (const line of createInterface(child.stdout)) {
      if (!ready.test(line)) continue;
      // later lines, which a closed reader leaves in the pipe, must not block the process
      child.stdout.resume();
      return { child, line };
    }
    throw new Error(`${file} ended before it printed ${ready.source}`);
  }

  it('answer turns in order, start none twice, and end after SIGTERM', async () => {
    const web = await start('web.ts', /"port":\d+/, { PORT: '0', WORKER_ID: 'web' });
    const worker = await start('worker.ts', /runs turns$/, { WORKER_ID: 'worker-1' });
    const { port } = JSON.parse(web.line) as { port: number };
    const address = `http://127.0.0.1:${port}`;
    const post = async (at: number): Promise<string> => {
      const response = await fetch(`${address}/conversations/anna/turns`, {
        method: 'POST',
        body: `question ${at} of anna`,
        headers: { 'idempotency-key': `anna-${at}` },
      });
      return ((await response.json()) as { turnId: string }).turnId;
    };

    const ids = [await post(0), await post(0), await post(1)];
    const answers = await Promise.all(
      ids.map(async (id) => (await fetch(`${address}/turns/${id}`)).json()),
    );

    expect(answers).to.deep.equal([
      { answer: 'question 0 of anna, after 0' },
      { answer: 'question 0 of anna, after 0' },
      { answer: 'question 1 of anna, after 1' },
    ]);
    for (const { child } of [web, worker]) {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await exit).to.deep.equal([0, null]);
    }
  });
});
