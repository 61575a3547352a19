import { expect } from 'chai';
import Database from 'libsql';
import {
  ChatClient,
  InvalidArgumentError,
  MemoryReadError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  type Message,
} from '../../../src/index.js';
import { PostgresChatMemoryRepository } from '../../../src/stores/chat-memory/postgres-chat-memory-repository.js';
import { RedisChatMemoryRepository } from '../../../src/stores/chat-memory/redis-chat-memory-repository.js';
import { SqliteChatMemoryRepository } from '../../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import type { DecodingOptions, UnreadableMessage } from '../../../src/stores/chat-memory/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { assistant, system, turn } from '../../support/conversation.js';
import { inConversation, sentTexts, storedTexts } from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';

/** An empty answer, which the advisor does not send. */
const NOTHING: Message = { role: 'assistant', content: null };

/** Texts that a later version, another program or a damaged disk may leave in a row. */
const TEXTS: Readonly<Record<string, string>> = {
  'no JSON': '{"role":"assist',
  'another role': '{"role":"critic","text":"1!"}',
  'another part': '{"role":"user","content":[{"type":"hologram"}]}',
  'another type': '7',
};

/** A store with three turns, whose message of version 4 has this text. */
async function damagedStore(text: string, options: DecodingOptions = {}) {
  const database = new Database(':memory:');
  const store = new SqliteChatMemoryRepository({ ...options, database });
  await store.migrate();
  for (const number of [1, 2, 3]) await store.append('c', turn(number));
  const update = `UPDATE chat_memory_message SET message = ? WHERE version = 4`;
  database.prepare(update).run([text]);
  const textOfRow = (): unknown =>
    database.prepare('SELECT message FROM chat_memory_message WHERE version = 4').all();
  return { store, database, textOfRow };
}

describe('a stored message that cannot be decoded', () => {
  for (const [title, text] of Object.entries(TEXTS)) {
    it(`[D59] is named by the error of the read: ${title}`, async () => {
      const { store } = await damagedStore(text);
      const error = await failureOf(store.read('c'));

      expect(error).to.be.instanceOf(MemoryReadError);
      expect(error).to.include({ code: 'memory_read', conversationId: 'c', version: 4 });
      expect(error).to.have.property('message').that.includes('message 4 cannot be decoded');
      expect(error).to.have.property('cause').that.is.instanceOf(Error);
    });

    it(`[D59] is replaced by the message of onUnreadable, and stays in the store: ${title}`, async () => {
      const seen: UnreadableMessage[] = [];
      const onUnreadable = (unreadable: UnreadableMessage): Message => {
        seen.push(unreadable);
        return assistant('2, decoded otherwise');
      };
      const { store, textOfRow } = await damagedStore(text, { onUnreadable });
      const log = await store.read('c');

      expect(log.messages.map(({ version }) => version)).to.deep.equal([1, 2, 3, 4, 5, 6]);
      expect(await storedTexts(store)).to.deep.equal([
        '1?',
        '1!',
        '2?',
        '2, decoded otherwise',
        '3?',
        '3!',
      ]);
      expect(seen[0]).to.deep.include({ conversationId: 'c', version: 4, text });
      expect(seen[0]?.cause).to.be.instanceOf(Error);
      expect(textOfRow()).to.deep.equal([{ message: text }]);
    });
  }

  for (const mode of MODES)
    it(`[D59] does not end the conversation with onUnreadable, ${mode}`, async () => {
      const { store, textOfRow } = await damagedStore('?', { onUnreadable: () => NOTHING });
      const model = new ScriptedChatModel(['4!']);
      const chatMemory = new MessageWindowChatMemory({ repository: store });
      const client = ChatClient.builder(model)
        .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory }))
        .build();
      await runSpec(mode, inConversation(client.prompt('4?')));

      expect(sentTexts(model)).to.deep.equal([['1?', '1!', '2?', '3?', '3!', '4?']]);
      expect((await store.read('c')).version).to.equal(8);
      expect(textOfRow()).to.deep.equal([{ message: '?' }]);
    });

  it('[D59] ends a turn with the error of the read, before a model is called', async () => {
    const { store } = await damagedStore('?');
    const model = new ScriptedChatModel([]);
    const chatMemory = new MessageWindowChatMemory({ repository: store });
    const client = ChatClient.builder(model)
      .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory }))
      .build();
    const error = await failureOf(runSpec('call', inConversation(client.prompt('4?'))));

    expect(error).to.be.instanceOf(MemoryReadError);
    expect(error).to.include({ conversationId: 'c', version: 4 });
    expect(model.prompts).to.deep.equal([]);
  });

  it('[D59] does not affect pages without it', async () => {
    const { store } = await damagedStore('?');
    const after = await store.read('c', { limit: 2 });
    const before = await store.read('c', { beforeVersion: 4 });

    expect([before, after].map((log) => log.messages.map(({ version }) => version))).to.deep.equal([
      [1, 2, 3],
      [5, 6],
    ]);
  });

  for (const text of ['["{}"]', '{"role":', '[7]'])
    it(`[D59] may be a system message: ${text}`, async () => {
      const unreadable: unknown[] = [];
      const onUnreadable = ({ version }: UnreadableMessage): Message => {
        unreadable.push(version);
        return system('again');
      };
      const { store, database } = await damagedStore('?', { onUnreadable });
      const strict = new SqliteChatMemoryRepository({ database });
      database.prepare('UPDATE chat_memory_conversation SET system = ?').run([text]);
      const error = await failureOf(strict.read('c', { limit: 1 }));
      const log = await store.read('c', { limit: 1 });

      expect(error).to.include({ code: 'memory_read', conversationId: 'c', version: 'system' });
      expect(log.systemMessages).to.deep.equal([system('again')]);
      expect(unreadable).to.deep.equal(['system']);
    });

  it('[D59] is not replaced by something that is no message', async () => {
    const { store } = await damagedStore('?', { onUnreadable: () => 'gone' as never });

    expect(await failureOf(store.read('c'))).to.be.instanceOf(InvalidArgumentError);
  });

  for (const [name, create] of Object.entries({
    SqliteChatMemoryRepository: (options: DecodingOptions) =>
      new SqliteChatMemoryRepository({ ...options, database: new Database(':memory:') }),
    PostgresChatMemoryRepository: (options: DecodingOptions) =>
      new PostgresChatMemoryRepository({ ...options, client: { query: () => undefined } as never }),
    RedisChatMemoryRepository: (options: DecodingOptions) =>
      new RedisChatMemoryRepository({ ...options, client: { call: async () => undefined } }),
  }))
    it(`[D59] ${name} checks onUnreadable`, () => {
      expect(() => create({ onUnreadable: 'skip' as never })).to.throw(
        InvalidArgumentError,
        `${name}: onUnreadable must be a function`,
      );
    });
});
