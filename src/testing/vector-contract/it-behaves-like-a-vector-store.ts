import { randomUUID } from 'node:crypto';
import type { VectorStore } from '../../stores/vectors/vector-store.js';
import { describeLaws, type TestRunner } from '../test-runner.js';
import { DOCUMENT_LAWS } from './document-laws.js';
import { FILTER_LAWS } from './filter-laws.js';
import { SEARCH_LAWS } from './search-laws.js';

/** A {@link VectorStore} under test. */
export interface VectorStoreContract {
  /** Title of the tests. */
  readonly name: string;
  /**
   * Returns a store that is ready to use; may be shared and may contain documents. What two of them keep
   * is the same; they should have connections of their own.
   */
  readonly create: () => VectorStore | Promise<VectorStore>;
}

/**
 * Tests a store against the contract of {@link VectorStore}, with an exact search.
 * @param runner functions of the test runner. @default the globals `describe` and `it`
 * @throws {@link InvalidArgumentError} without these functions
 */
export function itBehavesLikeAVectorStore(
  contract: VectorStoreContract,
  runner?: TestRunner,
): void {
  const title = `${contract.name} behaves like a vector store`;
  const laws = { ...DOCUMENT_LAWS, ...SEARCH_LAWS, ...FILTER_LAWS };
  describeLaws('itBehavesLikeAVectorStore', title, laws, runner, async (law) =>
    law(await contract.create(), `law ${randomUUID()}`, await contract.create()),
  );
}
