import { expect } from 'chai';
import { InvalidArgumentError } from '../../src/index.js';
import { PostgresChatMemoryRepository } from '../../src/memory-repositories/postgres-chat-memory-repository.js';
import { RedisChatMemoryRepository } from '../../src/memory-repositories/redis-chat-memory-repository.js';
import { SqliteChatMemoryRepository } from '../../src/memory-repositories/sqlite-chat-memory-repository.js';
import { turn, words } from '../memory/conversation.js';

const NAMES = ['', '1a', 'a b', 'a"b', "a'b", 'a;DROP TABLE x', 'a.b', 'ü', 'a-b', 'x'.repeat(64), 'a\0', 7, null, {}, '"a"', 'a--'];

describe('the options of the stores', () => {
  const client = { query: () => Promise.resolve({ rows: [] }) };
  const database = { exec: () => undefined, prepare: () => ({ run: () => undefined, all: () => [] }), close: () => undefined };

  for (const name of NAMES as unknown as readonly string[])
    it(`[F71] refuse ${JSON.stringify(String(name).slice(0, 20))} as a name`, () => {
      const rule = /must be a letter or "_" and then up to 39 letters, digits or "_"/;
      expect(() => new PostgresChatMemoryRepository({ client, schema: name })).to.throw(InvalidArgumentError, rule);
      expect(() => new PostgresChatMemoryRepository({ client, tablePrefix: name })).to.throw(InvalidArgumentError);
      expect(() => new SqliteChatMemoryRepository({ database, tablePrefix: name })).to.throw(InvalidArgumentError);
    });

  it('refuse what is no client or database', () => {
    for (const wrong of [undefined, {}, { query: 1 }, 'file.db']) {
      expect(() => new PostgresChatMemoryRepository({ client: wrong as never })).to.throw(InvalidArgumentError, 'client must');
      expect(() => new SqliteChatMemoryRepository({ database: wrong as never })).to.throw(InvalidArgumentError, 'database must');
      expect(() => new RedisChatMemoryRepository({ client: wrong as never })).to.throw(InvalidArgumentError, 'client must');
    }
  });

  it('refuse key prefixes and times to live that cannot be used', () => {
    const redis = { sendCommand: () => Promise.resolve(null) };
    for (const keyPrefix of ['', 'a{b}', 7])
      expect(() => new RedisChatMemoryRepository({ client: redis, keyPrefix: keyPrefix as string })).to.throw(InvalidArgumentError);
    for (const ttl of [0, -1, 1.5, '9'])
      expect(() => new RedisChatMemoryRepository({ client: redis, ttl: ttl as number })).to.throw(InvalidArgumentError);
  });

  it('let two applications share a database', async () => {
    const one = await SqliteChatMemoryRepository.open(':memory:', { tablePrefix: 'one' });
    const other = new SqliteChatMemoryRepository({
      database: (one as unknown as { options: { database: typeof database } }).options.database,
      tablePrefix: 'other',
    });
    await other.migrate();
    await other.migrate();
    await one.append('c', turn(1));
    await other.append('c', turn(2));

    expect(words((await one.read('c')).messages.map(({ message }) => message))).to.deep.equal(['1?', '1!']);
    expect(words((await other.read('c')).messages.map(({ message }) => message))).to.deep.equal(['2?', '2!']);
    await one.close();
  });

  it('say what is missing before migrate()', async () => {
    const { default: Database } = await import('libsql');
    const store = new SqliteChatMemoryRepository({ database: new Database(':memory:') });

    expect(await store.append('c', turn(1)).catch((error: unknown) => error))
      .to.have.property('message')
      .that.matches(/no such table/);
  });
});
