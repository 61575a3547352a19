// Side effects once: a turn runs again after a crash, reads are cached per user, and a rehearsal changes nothing.
import {
  ChatClient,
  ContextKey,
  defineTool,
  dryRun,
  InMemoryKeyValueStore,
  textOf,
  ToolCacheAdvisor,
  ToolLedgerAdvisor,
  type Advisor,
  type ToolContext,
} from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const USER = new ContextKey<string | undefined>('example.user');
// in production a store in PostgreSQL, Redis or SQLite, which outlives the process
const store = new InMemoryKeyValueStore();

const order = defineTool({
  name: 'find_order',
  effect: 'read',
  execute: () => {
    console.log('  the database reads order 42');
    return { total: '30 €' };
  },
});
let breaks = false;
let calls = 0;
const call = (name: string) => ({ name, id: `${name}_${++calls}` });
const refund = defineTool({
  name: 'refund',
  effect: 'write',
  execute: (_args: unknown, { idempotencyKey }: ToolContext) => {
    console.log(`  the bank pays 30 € (key ${idempotencyKey.length} characters)`);
    if (breaks) throw new Error('socket hang up');
    return 'Refunded.';
  },
});

/** A turn of a new client, as in another process: the provider gives the calls other ids. */
async function turn(title: string, turnId: string, ...advisors: readonly Advisor[]): Promise<void> {
  console.log(title);
  const model = new ScriptedChatModel([
    { toolCalls: [call('find_order'), call('refund')] },
    'Order 42 is refunded.',
  ]);
  const events = ChatClient.create(model)
    .prompt('Refund order 42.')
    .tools(order, refund)
    .toolContext(USER, 'anna')
    .turnId(turnId) // of the message that the turn answers
    .advisors(...advisors)
    .stream()
    .events();
  for await (const event of events) {
    if (event.type === 'tool-result' && event.toolName === 'refund')
      console.log(`  the model reads: ${textOf(event.result.content)}`);
    if (event.type === 'custom')
      console.log(`  event: ${event.name} ${JSON.stringify(event.data)}`);
  }
}

const cache = new ToolCacheAdvisor({ scope: ({ context }) => context.get(USER) });
const ledger = new ToolLedgerAdvisor({ store });

await turn('first delivery', 'message-1', cache, ledger);
await turn('second delivery of the same message', 'message-1', cache, ledger);
breaks = true;
await turn('the connection to the bank breaks', 'message-2', cache, ledger);
breaks = false;
await turn('its second delivery', 'message-2', cache, ledger);
await turn('a rehearsal', 'message-3', cache, ledger, dryRun({ answer: () => 'Refunded.' }));
