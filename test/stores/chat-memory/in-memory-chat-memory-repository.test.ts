import { expect } from 'chai';
import {
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  type Message,
} from '../../../src/index.js';
import { itBehavesLikeAChatMemoryRepository } from '../../../src/testing/index.js';
import { turn, user } from '../../support/conversation.js';
import { itStaysWithinItsLimits } from '../../support/memory-limits.js';
import { storedTexts } from '../../support/memory-advisor.js';
import { collectGarbage } from '../../support/collect-garbage.js';

describe('InMemoryChatMemoryRepository', () => {
  const memory = new InMemoryChatMemoryRepository();
  itBehavesLikeAChatMemoryRepository({
    name: 'InMemoryChatMemoryRepository',
    create: () => memory,
  });

  it('[F69] releases evicted messages', async () => {
    const repository = new InMemoryChatMemoryRepository({ maxMessages: 2 });
    const heap = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed / 2 ** 20;
    };
    const before = heap();
    for (let at = 0; at < 900; at++)
      await repository.append('c', [{ role: 'user', content: `${at} `.repeat(20_000) }]);

    expect((await repository.read('c')).messages).to.have.length(2);
    // 900 messages of 60 to 80 kB
    expect(heap() - before).to.be.lessThan(20);
  });

  it('[MEM-18] lists the stored conversations', async () => {
    const repository = new InMemoryChatMemoryRepository();
    await repository.append('a', turn(1));
    await repository.append('b', turn(2));
    expect(await repository.conversationIds()).to.deep.equal(['a', 'b']);
    await repository.delete('a');

    expect(await repository.conversationIds()).to.deep.equal(['b']);
  });

  it('[MEM-20] reads a missing conversation as an empty log', async () => {
    expect(await new InMemoryChatMemoryRepository().read('a')).to.deep.equal({
      version: 0,
      messages: [],
      systemMessages: [],
    });
  });

  it('[MEM-21] keeps earlier messages on append, and only the new ones on replace', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const version = await repository.append('a', [user('1'), user('2')]);
    await repository.append('a', [user('3')]);
    expect(await storedTexts(repository, 'a')).to.deep.equal(['1', '2', '3']);
    await repository.replace('a', [user('4')], { expectedVersion: version + 1 });

    expect(await storedTexts(repository, 'a')).to.deep.equal(['4']);
  });

  it('[F69] evicts the least recently used conversation', async () => {
    const repository = new InMemoryChatMemoryRepository({ maxConversations: 2 });
    await repository.append('a', turn(1));
    await repository.append('b', turn(2));
    await repository.read('a');
    await repository.append('c', turn(3));

    expect(await repository.conversationIds()).to.deep.equal(['a', 'c']);
  });

  it('[F69] evicts the oldest messages of a conversation and continues its versions', async () => {
    const repository = new InMemoryChatMemoryRepository({ maxMessages: 3 });
    for (let at = 1; at <= 5_000; at++) await repository.append('a', [user(`${at}`)]);
    const { messages, version } = await repository.read('a');

    expect(
      messages.map((stored) => [
        stored.version,
        (stored.message as Message & { role: 'user' }).content,
      ]),
    ).to.deep.equal([
      [4_998, '4998'],
      [4_999, '4999'],
      [5_000, '5000'],
    ]);
    expect(version).to.equal(5_000);
    expect(
      (await repository.read('a', { beforeVersion: 5_000, limit: 5 })).messages.map(
        (stored) => stored.version,
      ),
    ).to.deep.equal([4_998, 4_999]);
    expect((await repository.read('a', { beforeVersion: 10 })).messages).to.deep.equal([]);
  });

  it('[F69] evicts whole conversations beyond maxCharacters, except the one that is written', async () => {
    const repository = new InMemoryChatMemoryRepository({ maxCharacters: 10_000 });
    for (const id of ['a', 'b', 'c', 'd']) await repository.append(id, [user('x'.repeat(3_000))]);
    expect(await repository.conversationIds()).to.deep.equal(['b', 'c', 'd']);
    await repository.append('e', [user('x'.repeat(30_000))]);

    expect(await repository.conversationIds()).to.deep.equal(['e']);
    await repository.delete('e');
    for (const id of ['a', 'b', 'c']) await repository.append(id, [user('x'.repeat(3_000))]);
    expect(await repository.conversationIds()).to.deep.equal(['a', 'b', 'c']);
  });

  itStaysWithinItsLimits(20_000);

  it('[D29] names what is wrong with a write', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const writes: readonly (readonly [unknown, string])[] = [
      [null, 'append: messages must be an array of messages, not null'],
      [
        [{ ...user('a'), metadata: null }],
        'chat memory: `metadata` of a message must be an object, not null',
      ],
    ];

    for (const [messages, message] of writes) {
      const failure = await repository
        .append('a', messages as never)
        .catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(InvalidArgumentError).with.property('message', message);
    }
  });

  it('[F65] keeps the order when the clock goes backwards', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const { now } = Date;
    let time = 1_000;
    Date.now = () => (time -= 10);
    try {
      for (let at = 1; at <= 5; at++) await repository.append('a', [user(`${at}`)]);
    } finally {
      Date.now = now;
    }

    expect(await storedTexts(repository, 'a')).to.deep.equal(['1', '2', '3', '4', '5']);
  });

  for (const options of [
    { maxConversations: 0 },
    { maxMessages: Number.NaN },
    { maxCharacters: '1' },
  ])
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new InMemoryChatMemoryRepository(options as never)).to.throw(
        InvalidArgumentError,
        /^InMemoryChatMemoryRepository: \w+ must be/,
      );
    });
});
