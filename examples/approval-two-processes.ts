// A turn pauses for a person, its process ends, and another process resumes it with the decisions.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import { ApprovalAdvisor, ChatClient, defineTool } from '../src/index.js';
import { SqliteKeyValueStore } from '../src/stores/key-value/sqlite-key-value-store.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const [, , role = 'both', folder = mkdtempSync(join(tmpdir(), 'approval-'))] = process.argv;
const conversation = 'bills of May';

const pay = defineTool({
  name: 'pay',
  effect: 'write',
  input: {
    type: 'object',
    properties: { to: { type: 'string' }, euros: { type: 'number' } },
    required: ['to', 'euros'],
  },
  execute: ({ to, euros }) => {
    console.log(`${role}: pays ${String(euros)} euros to ${String(to)}`);
    return 'paid';
  },
});

/** Both processes make the same client; the secret and the store belong to both. */
async function makeClient(): Promise<ChatClient> {
  const store = new SqliteKeyValueStore({ database: new Database(join(folder, 'states.db')) });
  await store.migrate();
  const model = new ScriptedChatModel(({ messages }) => {
    console.log(`${role}: the model is asked`);
    const isPaid = messages.at(-1)?.role === 'tool';
    const toolCalls = ['anna', 'ben'].map((to) => ({ name: 'pay', arguments: { to, euros: 90 } }));
    return isPaid ? 'All bills are settled.' : { toolCalls };
  });
  const pause = { secrets: 'at least 32 characters, kept secret', store };
  const approval = new ApprovalAdvisor({ pause });
  return ChatClient.builder(model).defaultTools(pay).defaultAdvisors(approval).build();
}

async function start(): Promise<void> {
  const { paused } = await (
    await makeClient()
  )
    .prompt('Pay the bills.')
    .conversation(conversation)
    .call()
    .chatResponse();
  for (const request of paused?.requests ?? [])
    if (request.type === 'approval')
      console.log(`${role}: waits for ${request.toolName} ${JSON.stringify(request.arguments)}`);
}

async function resume(): Promise<void> {
  const client = await makeClient();
  const [turn] = await client.pending(conversation);
  if (!turn) throw new Error('no turn waits');
  const [anna, ben] = turn.requests.map(({ id }) => id) as [string, string];
  const response = await client
    .resume(turn.id, {
      [anna]: { type: 'allow', by: 'carla' },
      [ben]: { type: 'edit', arguments: { to: 'ben', euros: 9 }, by: 'carla' },
    })
    .call()
    .chatResponse();
  console.log(`${role}: ${response.text}`);
}

if (role === 'first') await start();
else if (role === 'second') await resume();
else {
  const script = fileURLToPath(import.meta.url);
  for (const each of ['first', 'second'])
    spawnSync(process.execPath, [...process.execArgv, script, each, folder], { stdio: 'inherit' });
  rmSync(folder, { recursive: true });
}
