import { randomUUID } from 'node:crypto';
import type { TurnLog } from '../../stores/turn-logs/turn-log.js';
import { describeLaws, type TestRunner } from '../test-runner.js';
import { RUN_LAWS } from './run-laws.js';
import { ENTRY_LAWS } from './entry-laws.js';

/** A {@link TurnLog} under test. */
export interface TurnLogContract {
  /** Title of the tests. */
  readonly name: string;
  /**
   * Returns a log that is ready to use; may be shared and may contain runs. What two of them keep is
   * the same; they should have connections of their own.
   */
  readonly create: () => TurnLog | Promise<TurnLog>;
}

/**
 * Tests a log against the contract of {@link TurnLog}.
 * @param runner functions of the test runner. @default the globals `describe` and `it`
 * @throws {@link InvalidArgumentError} without these functions
 */
export function itBehavesLikeATurnLog(contract: TurnLogContract, runner?: TestRunner): void {
  const title = `${contract.name} behaves like a turn log`;
  const laws = { ...RUN_LAWS, ...ENTRY_LAWS };
  describeLaws('itBehavesLikeATurnLog', title, laws, runner, async (law) =>
    law(await contract.create(), `law ${randomUUID()}`, await contract.create()),
  );
}
