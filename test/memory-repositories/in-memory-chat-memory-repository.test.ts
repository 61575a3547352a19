import { expect } from 'chai';
import { InMemoryChatMemoryRepository, InvalidArgumentError, type Message } from '../../src/index.js';
import { turn, user, words } from '../memory/conversation.js';
import { collectGarbage } from '../collect-garbage.js';

async function contents(repository: InMemoryChatMemoryRepository, id: string): Promise<readonly string[]> {
  return words((await repository.read(id)).messages.map(({ message }) => message));
}

describe('InMemoryChatMemoryRepository', () => {
  it('[F69] lets go of the messages that it has dropped', async () => {
    const repository = new InMemoryChatMemoryRepository({ maxMessages: 2 });
    const heap = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed / 2 ** 20;
    };
    const before = heap();
    for (let at = 0; at < 900; at++) await repository.append('c', [{ role: 'user', content: `${at} `.repeat(20_000) }]);

    expect((await repository.read('c')).messages).to.have.length(2);
    // 900 messages of 60 to 80 kB
    expect(heap() - before).to.be.lessThan(20);
  });

  it('[MEM-18] lists the conversations that there are', async () => {
    const repository = new InMemoryChatMemoryRepository();
    await repository.append('a', turn(1));
    await repository.append('b', turn(2));
    expect(await repository.conversationIds()).to.deep.equal(['a', 'b']);
    await repository.delete('a');

    expect(await repository.conversationIds()).to.deep.equal(['b']);
  });

  it('[MEM-20] gives nothing for a conversation that is not there', async () => {
    expect(await new InMemoryChatMemoryRepository().read('a')).to.deep.equal({ version: 0, messages: [], systemMessages: [] });
  });

  it('[MEM-21] keeps what was there when more is added, and only the new when it is replaced', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const version = await repository.append('a', [user('1'), user('2')]);
    await repository.append('a', [user('3')]);
    expect(await contents(repository, 'a')).to.deep.equal(['1', '2', '3']);
    await repository.replace('a', [user('4')], { expectedVersion: version + 1 });

    expect(await contents(repository, 'a')).to.deep.equal(['4']);
  });

  it('[F69] forgets the conversation that was not used for the longest time', async () => {
    const repository = new InMemoryChatMemoryRepository({ maxConversations: 2 });
    await repository.append('a', turn(1));
    await repository.append('b', turn(2));
    await repository.read('a');
    await repository.append('c', turn(3));

    expect(await repository.conversationIds()).to.deep.equal(['a', 'c']);
  });

  it('[F69] forgets the oldest messages of a conversation, and goes on with its versions', async () => {
    const repository = new InMemoryChatMemoryRepository({ maxMessages: 3 });
    for (let at = 1; at <= 5_000; at++) await repository.append('a', [user(`${at}`)]);
    const { messages, version } = await repository.read('a');

    expect(messages.map((stored) => [stored.version, (stored.message as Message & { role: 'user' }).content])).to.deep.equal([
      [4_998, '4998'],
      [4_999, '4999'],
      [5_000, '5000'],
    ]);
    expect(version).to.equal(5_000);
    expect((await repository.read('a', { beforeVersion: 5_000, limit: 5 })).messages.map((stored) => stored.version)).to.deep.equal([
      4_998, 4_999,
    ]);
    expect((await repository.read('a', { beforeVersion: 10 })).messages).to.deep.equal([]);
  });

  it('[F69] forgets whole conversations where there are too many characters, but never the one that is written', async () => {
    const repository = new InMemoryChatMemoryRepository({ maxCharacters: 10_000 });
    for (const id of ['a', 'b', 'c', 'd']) await repository.append(id, [user('x'.repeat(3_000))]);
    expect(await repository.conversationIds()).to.deep.equal(['b', 'c', 'd']);
    await repository.append('e', [user('x'.repeat(30_000))]);

    expect(await repository.conversationIds()).to.deep.equal(['e']);
    await repository.delete('e');
    for (const id of ['a', 'b', 'c']) await repository.append(id, [user('x'.repeat(3_000))]);
    expect(await repository.conversationIds()).to.deep.equal(['a', 'b', 'c']);
  });

  it('[F69] forgets conversations that nobody used for a time', async () => {
    let now = 0;
    const repository = new InMemoryChatMemoryRepository({ maxIdle: 100, now: () => now });
    await repository.append('a', turn(1));
    now = 60;
    await repository.append('b', turn(2));
    now = 99;
    expect(await contents(repository, 'a')).to.have.length(2);
    now = 165;

    expect(await repository.conversationIds()).to.deep.equal(['a']);
    expect(await contents(repository, 'b')).to.deep.equal([]);
  });

  it('[F69] holds no more after 1,000,000 conversations than its limits say', async function () {
    this.timeout(60_000);
    const repository = new InMemoryChatMemoryRepository({ maxConversations: 100 });
    for (let at = 0; at < 1_000_000; at++) await repository.append(`${at}`, [user('x')]);

    expect(await repository.conversationIds({ limit: 1_000 })).to.have.length(100);
    expect(await contents(repository, '999999')).to.deep.equal(['x']);
  });

  it('[F65] orders by number, whatever the clock says', async () => {
    let now = 1_000;
    const repository = new InMemoryChatMemoryRepository({ now: () => (now -= 10) });
    for (let at = 1; at <= 5; at++) await repository.append('a', [user(`${at}`)]);

    expect(await contents(repository, 'a')).to.deep.equal(['1', '2', '3', '4', '5']);
  });

  for (const options of [{ maxConversations: 0 }, { maxMessages: Number.NaN }, { maxCharacters: '1' }, { maxIdle: -1 }, { now: 5 }])
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(() => new InMemoryChatMemoryRepository(options as never)).to.throw(
        InvalidArgumentError,
        /^InMemoryChatMemoryRepository: \w+ must be/,
      );
    });
});
