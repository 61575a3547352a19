/**
 * A durable turn that is killed, and continues in another process: the program of `npm run
 * example:durable`.
 *
 * The first process is ended with SIGKILL while a tool runs. The second one continues the same turn: the model calls and
 * the tool that had finished are not repeated, the tool that was running runs again, since it is idempotent.
 *
 * With DATABASE_URL, PGHOST, or a PostgreSQL at 127.0.0.1:5432 the turn is recorded there, in a schema of its own; else in a
 * folder, by the embedded database. `npm run example:durable -- --embedded` takes the folder in any case.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { Client } from 'pg';
import { DbosTurns, dbosEngine } from '../src/engines/dbos/dbos.js';
import { embeddedDatabase } from '../src/engines/embedded/embedded.js';
import { ChatClient, defineTool, DurableAdvisor } from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const SCHEMA = `advisor_chain_example_${process.pid}`;
const TURN_ID = 'order-4711';

// ---- the application: both processes run it

const { PROCESS = 'start' } = process.env;
const print = (text: string): void => console.log(`${PROCESS}: ${text}`);

function createTurns(): DbosTurns<string> {
  const findOrder = defineTool({
    name: 'find_order',
    description: 'Finds an order.',
    input: { type: 'object' },
    effect: 'read',
    execute: () => {
      print('find_order runs');
      return { total: 40 };
    },
  });
  const refund = defineTool({
    name: 'refund',
    description: 'Pays the total of an order back.',
    input: { type: 'object' },
    effect: 'idempotent', // the bank knows the idempotency key, so that a second request pays nothing
    execute: async (_, { idempotencyKey }) => {
      print(`refund runs with the key ${idempotencyKey}`);
      if (PROCESS === 'first') await sleep(60_000); // the bank takes its time
      return 'paid';
    },
  });
  const model = new ScriptedChatModel(({ messages }) => {
    const results = messages.filter(({ role }) => role === 'tool').length;
    print(`model call ${results + 1}`);
    if (results === 0) return { toolCalls: [{ id: 'call_1', name: 'find_order', arguments: {} }] };
    if (results === 1) return { toolCalls: [{ id: 'call_2', name: 'refund', arguments: {} }] };
    return 'The 40 € are on their way back to you.';
  });
  const client = ChatClient.builder(model)
    .defaultTools(findOrder, refund)
    .defaultAdvisors(new DurableAdvisor({ engine: dbosEngine }))
    .build();
  return new DbosTurns<string>({ name: 'support', run: (question) => client.prompt(question) });
}

async function runTurn(settings: string): Promise<void> {
  const turns = createTurns();
  DBOS.setConfig({
    name: 'example',
    logLevel: 'error',
    applicationVersion: '1',
    ...(JSON.parse(settings) as object),
  });
  await DBOS.launch(); // continues the turns that were under way
  await turns.start('Please refund my order.', { turnId: TURN_ID });
  print(`answer: ${(await turns.result(TURN_ID)).text}`);
  const steps = await turns.steps(TURN_ID);
  print(`steps: ${steps.map(({ name }) => name).join(', ')}`);
  await DBOS.shutdown();
}

// ---- the demonstration: a database and two processes, of which the first one is killed

interface Database {
  readonly name: string;
  readonly settings: object;
  readonly close: () => Promise<void>;
}

async function openDatabase(): Promise<Database> {
  const server = process.argv.includes('--embedded') ? undefined : await findPostgres();
  return server ?? openEmbedded();
}

async function findPostgres(): Promise<Database | undefined> {
  const { DATABASE_URL, PGHOST = '127.0.0.1', PGUSER = 'postgres', PGDATABASE } = process.env;
  const url = DATABASE_URL ?? `postgresql://${PGUSER}@${PGHOST}:5432/${PGDATABASE ?? 'postgres'}`;
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  } catch (error) {
    print(`no PostgreSQL (${String(error)})`);
    return undefined;
  }
  const settings = { systemDatabaseUrl: url, systemDatabaseSchemaName: SCHEMA };
  const close = async (): Promise<void> => {
    await client.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
    await client.end();
  };
  return { name: 'PostgreSQL', settings, close };
}

async function openEmbedded(): Promise<Database> {
  const directory = mkdtempSync(join(tmpdir(), 'advisor-chain-example-'));
  const database = await embeddedDatabase({ directory });
  const close = async (): Promise<void> => {
    await database.close();
    rmSync(directory, { recursive: true });
  };
  return { name: 'the embedded database', settings: database.dbosConfig, close };
}

function startProcess(settings: object, name: string): ChildProcess {
  const file = fileURLToPath(import.meta.url);
  // DBOS calls pg in a way that pg 9 will not allow
  const program = [...process.execArgv, '--no-deprecation', file, JSON.stringify(settings)];
  return spawn(process.execPath, program, {
    env: { ...process.env, PROCESS: name },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Prints what a process prints; resolves when it has ended. */
async function follow(child: ChildProcess, onLine: (line: string) => void): Promise<void> {
  const lines = createInterface(child.stdout as NodeJS.ReadableStream);
  lines.on('line', (line) => (console.log(line), onLine(line)));
  await new Promise((resolve) => child.once('close', resolve));
}

async function demonstrate(): Promise<void> {
  const { name, settings, close } = await openDatabase();
  console.log(`The turn is recorded in ${name}.`);
  const first = startProcess(settings, 'first');
  await follow(first, (line) => {
    if (line.includes('refund runs')) first.kill('SIGKILL');
  });
  console.log('The process was killed while the tool ran; a second one continues:');
  await follow(startProcess(settings, 'second'), () => undefined);
  await close();
}

const settings = process.argv.find((argument) => argument.startsWith('{'));
await (settings === undefined ? demonstrate() : runTurn(settings));
