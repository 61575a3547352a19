import { randomUUID } from 'node:crypto';
import type { KeyValueStore } from '../../stores/key-value/key-value-store.js';
import { describeLaws, type TestRunner } from '../test-runner.js';
import { COUNTER_LAWS } from './counter-laws.js';
import { VALUE_LAWS } from './value-laws.js';

/** A {@link KeyValueStore} under test. */
export interface KeyValueStoreContract {
  /** Title of the tests. */
  readonly name: string;
  /**
   * Returns a store that is ready to use; may be shared and may contain keys. What two of them keep
   * is the same; they should have connections of their own.
   */
  readonly create: () => KeyValueStore | Promise<KeyValueStore>;
}

/**
 * Tests a store against the contract of {@link KeyValueStore}.
 * @param runner functions of the test runner. @default the globals `describe` and `it`
 * @throws {@link InvalidArgumentError} without these functions
 */
export function itBehavesLikeAKeyValueStore(
  contract: KeyValueStoreContract,
  runner?: TestRunner,
): void {
  const title = `${contract.name} behaves like a key-value store`;
  const laws = { ...VALUE_LAWS, ...COUNTER_LAWS };
  describeLaws('itBehavesLikeAKeyValueStore', title, laws, runner, async (law) =>
    law(await contract.create(), `law ${randomUUID()}`, await contract.create()),
  );
}
