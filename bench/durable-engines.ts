// Steps per second of DBOS on PostgreSQL (DATABASE_URL, or the default) and on the embedded database, the work that a
// step is for the database, and the connections of turns that wait: npm run bench:durable-engines
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { Client } from 'pg';
import { DbosTurns } from '../src/engines/dbos/dbos.js';
import { embeddedDatabase } from '../src/engines/embedded/embedded.js';
import { ChatClient } from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';
import { createPostgresDatabase } from '../test/support/postgres-database.js';
import { SILENT } from '../test/support/silent-logger.js';

const STEPS = 20;
const WAITING = 100;

interface Work {
  readonly commits: number;
  readonly inserted: number;
  readonly updated: number;
  readonly connections: number;
}

async function workOf(client: Client): Promise<Work> {
  const { rows } = await client.query<Work>(
    `SELECT xact_commit::int AS commits, tup_inserted::int AS inserted, tup_updated::int AS updated,
            (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections
       FROM pg_stat_database WHERE datname = current_database()`,
  );
  return rows[0] as Work;
}

async function measure(name: string, url: string, config: object): Promise<void> {
  const client = ChatClient.create(new ScriptedChatModel(() => 'done'));
  const steps = new DbosTurns<{ readonly steps: number }>({
    name: 'steps',
    run: async ({ steps: count }, { engine }) => {
      for (let at = 0; at < count; at++) await engine.step(`step ${at}`, async () => at);
      return client.prompt('x');
    },
  });
  const waits = new DbosTurns({
    name: 'waits',
    run: async (_, { engine }) => client.prompt(JSON.stringify(await engine.waitFor('go'))),
  });
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logger: SILENT, ...config });
  await DBOS.launch();
  const observer = new Client(url);
  await observer.connect();
  const timed = async (turns: number, count: number): Promise<number> => {
    const start = performance.now();
    const ids = await Promise.all(
      Array.from({ length: turns }, () => steps.start({ steps: count })),
    );
    while ((await Promise.all(ids.map((id) => steps.status(id)))).includes('running'))
      await new Promise((resolve) => setTimeout(resolve, 20));
    return performance.now() - start;
  };
  await timed(1, STEPS);
  const none = await timed(1, 0);
  const one = await timed(1, STEPS);
  const many = await timed(20, STEPS);
  console.log(
    `${name}: ${((one - none) / STEPS).toFixed(1)} ms a step of one turn; ${Math.round((20 * STEPS * 1000) / many)} steps/s of 20 turns`,
  );
  if (name === 'PostgreSQL') {
    await new Promise((resolve) => setTimeout(resolve, 1500)); // statistics are sent once a second
    const before = await workOf(observer);
    await timed(5, 200);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const after = await workOf(observer);
    const perStep = (field: keyof Work): string =>
      ((after[field] - before[field]) / 1000).toFixed(2);
    console.log(
      `${name}: ${perStep('inserted')} rows inserted, ${perStep('updated')} updated, ${perStep('commits')} transactions a step, reads included`,
    );
  }
  const ids = await Promise.all(Array.from({ length: WAITING }, () => waits.start(null)));
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const { connections } = await workOf(observer);
  console.log(`${name}: ${connections - 1} connections while ${WAITING} turns wait`);
  const start = performance.now();
  await Promise.all(ids.map((id) => waits.send(id, 'go', 1)));
  await Promise.all(ids.map((id) => waits.result(id, { pollInterval: 100 })));
  console.log(
    `${name}: they end ${Math.round(performance.now() - start)} ms after their values were sent`,
  );
  await observer.end();
  await DBOS.shutdown({ deregister: true });
}

const postgres = process.env['DATABASE_URL']
  ? { url: process.env['DATABASE_URL'], drop: async () => undefined }
  : await createPostgresDatabase();
await measure('PostgreSQL', postgres.url, {});
await postgres.drop();
const directory = mkdtempSync(join(tmpdir(), 'advisor-chain-bench-'));
const embedded = await embeddedDatabase({ directory });
await measure('embedded', embedded.url, embedded.dbosConfig);
await embedded.close();
rmSync(directory, { recursive: true });
process.exit(0);
