// A process that runs turns: node --import tsx dbos-worker.ts <database url> [settings as JSON]
// It prints a line per event, starts what it reads as JSON lines, and is killed by the test.
import { createInterface } from 'node:readline';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { ChatClient } from '../../src/index.js';
import { DbosTurns, type DbosQueueOptions, type DbosTurn } from '../../src/engines/dbos/dbos.js';
import { ScriptedChatModel } from '../../src/testing/index.js';

export interface WorkerInput {
  /** Names of steps; the names in one group run at the same time. */
  readonly groups: readonly (readonly string[])[];
  /** Steps that never end in a process, until `release` is read. */
  readonly hanging?: readonly string[];
}

export interface WorkerSettings {
  readonly executorID?: string;
  readonly applicationVersion?: string;
  readonly queue?: DbosQueueOptions;
}

const [url = '', settings = '{}'] = process.argv.slice(2);
const {
  executorID = 'worker',
  applicationVersion = 'test',
  queue,
} = JSON.parse(settings) as WorkerSettings;
const released = new Set<string>();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const client = ChatClient.create(
  new ScriptedChatModel((prompt) => (prompt.messages.at(-1) as { content: string }).content),
);

async function step(name: string, { engine, signal }: DbosTurn, hangs: boolean): Promise<string> {
  return engine.step(name, async () => {
    print(`run ${name}`);
    while (hangs && !released.has(name) && !signal.aborted)
      await new Promise((resolve) => setTimeout(resolve, 10));
    signal.throwIfAborted();
    return `${name}!`;
  });
}

const turns = new DbosTurns<WorkerInput & Record<string, never>>({
  name: 'steps',
  queue,
  run: async ({ groups, hanging = [] }, turn) => {
    const values: string[] = [];
    for (const group of groups)
      values.push(
        ...(await Promise.all(group.map((name) => step(name, turn, hanging.includes(name))))),
      );
    return client.prompt(values.join(' '));
  },
});

DBOS.setConfig({
  name: 'advisor-chain',
  systemDatabaseUrl: url,
  logLevel: 'error',
  executorID,
  applicationVersion,
});
await DBOS.launch();
print('ready');
createInterface(process.stdin).on('line', (line) => {
  const { start, turnId, release } = JSON.parse(line) as {
    start?: WorkerInput & Record<string, never>;
    turnId: string;
    release?: string;
  };
  if (release !== undefined) released.add(release);
  if (start) void turns.start(start, { turnId }).then(() => print(`started ${turnId}`));
  if (!start && release === undefined)
    void turns.result(turnId).then(
      ({ text }) => print(`answer ${text}`),
      (error: unknown) => print(`failed ${String(error)}`),
    );
});
