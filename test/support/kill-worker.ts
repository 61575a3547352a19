// A process that runs the reference turn of the kill matrix, and ends itself at a place:
// node kill-worker.mjs <settings as JSON>. It prints lines, and reads commands as lines of JSON.
import { createInterface } from 'node:readline';
import { DBOS } from '@dbos-inc/dbos-sdk';
import pg from 'pg';
import type { ChatEvent, ChatMemoryRepository, Decision, SteeringMode } from '../../src/index.js';
import { embeddedDatabase } from '../../src/engines/embedded/embedded.js';
import { DbosTurns } from '../../src/engines/dbos/dbos.js';
import { PostgresChatMemoryRepository } from '../../src/stores/chat-memory/postgres-chat-memory-repository.js';
import { SqliteChatMemoryRepository } from '../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import {
  addDatabasePoints,
  addStepPoints,
  addWaitPoints,
  answerFaster,
  recoverFaster,
} from './kill-dbos.js';
import { KillPoints } from './kill-points.js';
import { killClient } from './kill-turn.js';

export interface WorkerSettings {
  /** Address of PostgreSQL, or folder of an embedded database, for the steps. */
  readonly database: { readonly url: string } | { readonly directory: string };
  readonly baseURL: string;
  readonly effectsFile: string;
  readonly mode: 'call' | 'stream';
  readonly isMemoryInside: boolean;
  /** Handling of interrupted write tools. @default asks the other system if there is an effect */
  readonly onUnknown?: 'ask' | 'refuse' | undefined;
  /** Mode of a message that the user sends while the turn runs. @default sends none */
  readonly steering?: SteeringMode | undefined;
  /** Part of the ids of its turns. */
  readonly lane: string;
  /** File of the memory beside an embedded database. PostgreSQL has it, too. */
  readonly memoryFile: string;
  /** Place at which a recovered turn ends the process. */
  readonly kill?: string | undefined;
}

export type WorkerCommand =
  | { readonly start: string; readonly kill?: string | undefined }
  | { readonly result: string }
  | { readonly decide: string; readonly turnId: string; readonly decision: Decision };

const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings;
const print = (kind: string, value: unknown): void =>
  void process.stdout.write(`${kind} ${JSON.stringify(value)}\n`);
const points = new KillPoints((point) => print('point', point));

async function openPostgresMemory(url: string): Promise<ChatMemoryRepository> {
  const connection = new pg.Client(url);
  await connection.connect();
  const query = (sql: string, values?: unknown[]) =>
    points.aroundCall(`memory ${sql.trim().split(/\s/)[0]}`, () => connection.query(sql, values));
  return new PostgresChatMemoryRepository({ client: { query } });
}

async function openSqliteMemory(file: string): Promise<ChatMemoryRepository> {
  const repository = await SqliteChatMemoryRepository.open(file);
  const { sqlite } = repository as unknown as { readonly sqlite: object };
  points.addToMethods('memory', sqlite, ['run', 'all', 'read', 'transaction']);
  return repository;
}

const { database } = settings;
const isEmbedded = 'directory' in database;

const client = killClient({
  ...settings,
  points,
  repository: await (isEmbedded
    ? openSqliteMemory(settings.memoryFile)
    : openPostgresMemory(database.url)),
  onReport: (report) => print('report', report),
});
/** Prints an event without its response, which refers to the run. */
function printEvent(event: ChatEvent): void {
  print('event', { ...event, response: undefined, context: undefined, run: undefined });
}

const turns = new DbosTurns<string>({
  name: 'orders',
  run: (input, { turnId }) => {
    points.reach('turn: opened');
    return client.prompt(input).toolContext({ turnId });
  },
  ...(settings.mode === 'stream' && { onEvent: printEvent }),
});
addStepPoints(points);
addWaitPoints(points, (wait) => print('waiting', wait));
addDatabasePoints(points);

DBOS.setConfig({
  name: 'advisor-chain',
  ...(isEmbedded
    ? (await embeddedDatabase(database)).dbosConfig
    : { systemDatabaseUrl: database.url }),
  logLevel: 'error',
  executorID: 'worker',
  applicationVersion: 'test',
});
points.arm(settings.kill);
recoverFaster();
await DBOS.launch();
answerFaster();
print('ready', '');

let starting: Promise<string> | undefined;

async function run(command: WorkerCommand): Promise<void> {
  if ('start' in command) {
    const { start: turnId, kill } = command;
    points.arm(kill);
    const conversationId = `conversation ${turnId}`;
    starting = turns.start(`Do the work of ${turnId}.`, { turnId, conversationId });
    await starting;
  } else if ('result' in command) {
    await starting;
    print('answer', await turns.result(command.result));
  } else {
    await points.aroundCall('decision', () =>
      turns.decide(command.turnId, command.decide, command.decision),
    );
  }
}

createInterface(process.stdin).on('line', (line) => {
  run(JSON.parse(line) as WorkerCommand).catch((error: unknown) => print('failed', String(error)));
});
