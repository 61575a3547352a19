/**
 * A process whose turns share a conversation, for tests with several processes.
 *
 * `node conversation-lock-worker.js <store> <location> <name> <turns>` runs turns under a lock, and prints
 * when each begins and ends; `hang` in place of the number begins one that does not end.
 */
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  ConversationLockAdvisor,
  defineAdvisor,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { openKeyValueStore, type StoreKind } from './key-value-stores.js';

const [kind = '', location = '', name = '', turns = '0'] = process.argv.slice(2);
const { store, close } = await openKeyValueStore(kind as StoreKind, location);
const write = (line: string): boolean => process.stdout.write(`${line}\n`);

const inside = defineAdvisor({
  name: 'inside',
  order: AdvisorOrder.TOOL_CALLING + 1,
  around: async (request, next) => {
    // a counter without a lock of its own: concurrent turns would see the same value
    const before = Number((await store.get('inside')) ?? 0);
    write(`begin ${name}`);
    if (turns === 'hang') await new Promise((resolve) => setTimeout(resolve, 600_000));
    await new Promise((resolve) => setTimeout(resolve, 2));
    await store.set('inside', `${before + 1}`);
    write(`end ${name}`);
    return next(request);
  },
});
// Short where a test waits for its end, and otherwise longer than a busy machine may stop a process.
const lease = turns === 'hang' ? 1_000 : 10_000;
const client = ChatClient.builder(new ScriptedChatModel(() => 'done'))
  .defaultAdvisors(new ConversationLockAdvisor({ store, lease }), inside)
  .build();

write('ready');
await new Promise((resolve) => process.stdin.once('data', resolve));
const ask = () =>
  client
    .prompt('?')
    .advisors((a) => a.param(CONVERSATION_ID, 'shared'))
    .call()
    .content();
const count = turns === 'hang' ? 1 : Number(turns);
await Promise.all(Array.from({ length: count }, ask));
await close();
process.stdin.destroy();
