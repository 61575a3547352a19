import type { ChatMemoryRepository } from '../memory/chat-memory-repository.js';
import { MEMORY_LAWS } from './memory-repository-laws.js';
import { globalTestRunner } from './test-runner.js';

/** A store of conversations, and what to check it as. */
export interface ChatMemoryRepositoryContract {
  /** Title of the tests. */
  readonly name: string;
  /** A store that is ready to use; may be the same one each time, and may have conversations in it. */
  readonly create: () => ChatMemoryRepository | Promise<ChatMemoryRepository>;
}

/**
 * Checks a store against the contract of {@link ChatMemoryRepository}, as tests of the runner whose `describe` and `it` are global
 * (mocha, jest, vitest with `globals`).
 * @throws InvalidArgumentError if there is no such runner
 */
export function itBehavesLikeAChatMemoryRepository(contract: ChatMemoryRepositoryContract): void {
  const { describe, it } = globalTestRunner('itBehavesLikeAChatMemoryRepository');
  describe(`${contract.name} behaves like a chat memory repository`, () => {
    for (const { title, check } of MEMORY_LAWS) it(title, async () => check(await contract.create()));
  });
}
