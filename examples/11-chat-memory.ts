// A conversation in a SQLite file: the second client, as after a restart, continues the
// conversation of the first.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ChatClient,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  textOf,
} from '../src/index.js';
import { SqliteChatMemoryRepository } from '../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import { ScriptedChatModel } from '../src/testing/index.js';

// a model that answers from the messages of its request alone
const model = new ScriptedChatModel(({ messages }) => {
  const texts = messages.flatMap((message) =>
    message.role === 'user' ? [textOf(message.content)] : [],
  );
  const name = texts.map((text) => /I am (\w+)/.exec(text)?.[1]).find(Boolean);
  if (texts.at(-1)?.startsWith('I am')) return `Hello, ${name}.`;
  return name ? `You are ${name}.` : 'I do not know you.';
});

const folder = mkdtempSync(join(tmpdir(), 'chat-memory-'));

/** Opens the store and creates a client, as an application does when it starts. */
async function start() {
  const repository = await SqliteChatMemoryRepository.open(join(folder, 'memory.db'));
  const chatMemory = new MessageWindowChatMemory({ repository, maxMessages: 20 });
  const client = ChatClient.builder(model)
    .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory }))
    .build();
  const ask = async (conversation: string, text: string): Promise<void> => {
    const answer = client.prompt(text).conversation(conversation).stream();
    let whole = '';
    for await (const piece of answer) whole += piece;
    console.log(`${conversation}: ${text} -> ${whole}`);
  };
  return { repository, ask };
}

const before = await start();
await before.ask('anna-1', 'I am Anna.');
await before.repository.close();

const after = await start();
await after.ask('anna-1', 'What is my name?');
await after.ask('ben-1', 'What is my name?'); // another conversation

console.log('conversations:', await after.repository.conversationIds());
const { version, messages } = await after.repository.read('anna-1');
console.log(
  `anna-1 has version ${version}: ${messages.map(({ message }) => message.role).join(', ')}`,
);
await after.repository.close();
rmSync(folder, { recursive: true });
