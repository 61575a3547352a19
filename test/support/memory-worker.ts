/**
 * A process that runs turns with a memory, for tests with several processes.
 *
 * `node memory-worker.js <store> <location> <conversation> <writer> <rounds> <turns>` runs `turns`
 * concurrent turns in each of `rounds` rounds, and prints the name of each completed turn.
 */
import {
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  textOf,
  type Message,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { openStore } from './memory-stores.js';

const [kind = '', location = '', conversation = '', writer = '', rounds = '1', turns = '1'] =
  process.argv.slice(2);
const { repository, close } = await openStore(kind, location);

const isFirst = (messages: readonly Message[]): boolean => messages.at(-1)?.role === 'user';
const model = new ScriptedChatModel(({ messages }) => {
  const question = messages.findLast((message) => message.role === 'user');
  const name = question ? textOf(question.content) : '';
  return isFirst(messages)
    ? { toolCalls: [{ id: `call-${name}`, name: 'look', arguments: { name } }] }
    : `answer to ${name}`;
});
const look = defineTool({
  name: 'look',
  input: { type: 'object' },
  execute: ({ name }) => `result of ${String(name)}`,
});
const client = ChatClient.builder(model)
  .defaultTools(look)
  .defaultAdvisors(
    new MessageChatMemoryAdvisor({
      chatMemory: new MessageWindowChatMemory({ repository }),
      storeToolMessages: true,
    }),
  )
  .build();

for (let round = 0; round < Number(rounds); round++) {
  await Promise.all(
    Array.from({ length: Number(turns) }, async (_, at) => {
      const name = `${writer}.${round}.${at}`;
      await client
        .prompt(name)
        .advisors((a) => a.param(CONVERSATION_ID, conversation))
        .call()
        .content();
      process.stdout.write(`${name}\n`);
    }),
  );
}
await close();
