import type { ChatMemoryRepository } from '../../memory/chat-memory-repository.js';
import { describeLaws } from '../test-runner.js';
import { ID_LAWS } from './id-laws.js';
import { LOG_LAWS } from './log-laws.js';
import { newId } from './samples.js';

/** A {@link ChatMemoryRepository} under test. */
export interface ChatMemoryRepositoryContract {
  /** Title of the tests. */
  readonly name: string;
  /** Returns a repository that is ready to use; may be shared and may contain conversations. */
  readonly create: () => ChatMemoryRepository | Promise<ChatMemoryRepository>;
}

/**
 * Tests a repository against the contract of {@link ChatMemoryRepository}, with the global
 * `describe` and `it` (mocha, jest, vitest with `globals`).
 * @throws InvalidArgumentError without these functions
 */
export function itBehavesLikeAChatMemoryRepository(contract: ChatMemoryRepositoryContract): void {
  const title = `${contract.name} behaves like a chat memory repository`;
  const laws = { ...LOG_LAWS, ...ID_LAWS };
  describeLaws('itBehavesLikeAChatMemoryRepository', title, laws, async (law) =>
    law(await contract.create(), newId()),
  );
}
