// Memory right of the tool loop: every iteration is stored at once, and the loop takes its history from there.
import { z } from 'zod';
import {
  AdvisorOrder,
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  textOf,
  type Message,
} from '../src/index.js';
import { trimToolResults } from '../src/stores/chat-memory/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const readPage = defineTool({
  name: 'read_page',
  description: 'Reads a page of the handbook.',
  input: z.object({ page: z.number().int() }),
  execute: ({ page }) => `Page ${page}: ${'long text '.repeat(50)}`,
});

const repository = new InMemoryChatMemoryRepository();
const chatMemory = new MessageWindowChatMemory({
  repository,
  trim: trimToolResults({ keepLast: 1 }),
});
const memory = new MessageChatMemoryAdvisor({ chatMemory, order: AdvisorOrder.TOOL_CALLING + 1 });

const call = (page: number) => ({
  toolCalls: [{ id: `page_${page}`, name: 'read_page', arguments: { page } }],
});
const model = new ScriptedChatModel([
  call(1),
  call(2),
  call(3),
  new Error('the model is down'),
  'It is on page 2.',
]);
const client = ChatClient.builder(model).defaultTools(readPage).defaultAdvisors(memory).build();
console.log(client.explain().toString());

const ask = (text: string) => client.prompt(text).conversation('c').call().content();

await ask('Where is it?').catch((error: Error) =>
  console.log(`The turn failed in its fourth iteration: ${error.message}.`),
);
const { messages } = await repository.read('c');
console.log(`Stored all the same: ${messages.map(({ message }) => message.role).join(', ')}`);

// the last result never reached the log: the history is repaired before it is sent; and old results are cut
console.log(`The next turn: ${await ask('And now?')}`);
for (const message of model.prompts.at(-1)?.messages ?? [])
  console.log(`  ${message.role.padEnd(9)} ${inShort(message)}`);

function inShort(message: Message): string {
  if (message.role === 'assistant' && message.toolCalls)
    return message.toolCalls.map(({ id }) => `calls ${id}`).join();
  return textOf(message).slice(0, 85);
}
