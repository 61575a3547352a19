import type { ChatMemoryRepository } from '../../stores/chat-memory/chat-memory-repository.js';
import { describeLaws, type TestRunner } from '../test-runner.js';
import { ID_LAWS } from './id-laws.js';
import { LOG_LAWS } from './log-laws.js';
import { newId } from './samples.js';
import { TURN_LAWS } from './turn-laws.js';
import { WRITE_LAWS } from './write-laws.js';

/** A {@link ChatMemoryRepository} under test. */
export interface ChatMemoryRepositoryContract {
  /** Title of the tests. */
  readonly name: string;
  /** Returns a repository that is ready to use; may be shared and may contain conversations. */
  readonly create: () => ChatMemoryRepository | Promise<ChatMemoryRepository>;
}

/**
 * Tests a repository against the contract of {@link ChatMemoryRepository}.
 * @param runner functions of the test runner. @default the globals `describe` and `it`
 * @throws {@link InvalidArgumentError} without these functions
 */
export function itBehavesLikeAChatMemoryRepository(
  contract: ChatMemoryRepositoryContract,
  runner?: TestRunner,
): void {
  const title = `${contract.name} behaves like a chat memory repository`;
  const laws = { ...LOG_LAWS, ...WRITE_LAWS, ...TURN_LAWS, ...ID_LAWS };
  describeLaws('itBehavesLikeAChatMemoryRepository', title, laws, runner, async (law) =>
    law(await contract.create(), newId()),
  );
}
