import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { InvalidArgumentError } from '../../../src/index.js';
import { SqliteChatMemoryRepository } from '../../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import { itBehavesLikeAChatMemoryRepository } from '../../../src/testing/index.js';
import { turn } from '../../support/conversation.js';
import { storedTexts } from '../../support/memory-advisor.js';
import { BAD_SQL_NAMES, SQL_NAME_RULE } from '../../support/sql-names.js';

describe('SqliteChatMemoryRepository', function () {
  this.timeout(60_000);
  this.slow(10_000);

  const folder = mkdtempSync(join(tmpdir(), 'chat-memory-'));
  for (const [name, file] of [
    ['in a file', join(folder, 'memory.db')],
    ['in memory', ':memory:'],
  ] as const) {
    let store: SqliteChatMemoryRepository;
    before(async () => {
      store = await SqliteChatMemoryRepository.open(file);
    });
    after(() => store.close());
    itBehavesLikeAChatMemoryRepository({
      name: `SqliteChatMemoryRepository ${name}`,
      create: () => store,
    });
  }
  after(() => rmSync(folder, { recursive: true }));

  const database = {
    exec: () => undefined,
    prepare: () => ({ run: () => undefined, all: () => [] }),
    close: () => undefined,
  };

  for (const name of BAD_SQL_NAMES)
    it(`[F71] rejects the tablePrefix ${JSON.stringify(String(name).slice(0, 20))}`, () => {
      expect(() => new SqliteChatMemoryRepository({ database, tablePrefix: name })).to.throw(
        InvalidArgumentError,
        SQL_NAME_RULE,
      );
    });

  for (const wrong of [undefined, {}, { query: 1 }, 'file.db'])
    it(`rejects the database ${JSON.stringify(wrong)}`, () => {
      expect(() => new SqliteChatMemoryRepository({ database: wrong as never })).to.throw(
        InvalidArgumentError,
        'SqliteChatMemoryRepository: database must be an open SQLite database',
      );
    });

  it('shares a database between table prefixes', async () => {
    const { default: Database } = await import('libsql');
    const shared = new Database(':memory:');
    const [one, other] = ['one', 'other'].map(
      (tablePrefix) => new SqliteChatMemoryRepository({ database: shared, tablePrefix }),
    ) as [SqliteChatMemoryRepository, SqliteChatMemoryRepository];
    await one.migrate();
    await other.migrate();
    await other.migrate();
    await one.append('c', turn(1));
    await other.append('c', turn(2));

    expect(await storedTexts(one)).to.deep.equal(['1?', '1!']);
    expect(await storedTexts(other)).to.deep.equal(['2?', '2!']);
    await one.close();
  });

  it('fails with the missing table before migrate()', async () => {
    const { default: Database } = await import('libsql');
    const store = new SqliteChatMemoryRepository({ database: new Database(':memory:') });

    expect(await store.append('c', turn(1)).catch((error: unknown) => error))
      .to.have.property('message')
      .that.matches(/no such table/);
  });
});
