import { expect } from 'chai';
import { InMemoryChatMemoryRepository } from '../../src/index.js';
import { user } from './conversation.js';
import { storedTexts } from './memory-advisor.js';

/** Tests the limit of conversations with a number of them. */
export function itStaysWithinItsLimits(count: number): void {
  it(`[F69] stays within its limits after ${count} conversations`, async () => {
    const repository = new InMemoryChatMemoryRepository({ maxConversations: 100 });
    for (let at = 0; at < count; at++) await repository.append(`${at}`, [user('x')]);

    expect(await repository.conversationIds({ limit: 1_000 })).to.have.length(100);
    expect(await storedTexts(repository, `${count - 1}`)).to.deep.equal(['x']);
  });
}
