import {
  CHECKED_APART,
  checkOption,
  checkOptions,
  FUNCTION,
  integer,
  rule,
  TIMEOUT,
  withMethods,
} from '../../src/core/internal/options.js';
import { checkSecrets, type Secret } from '../../src/core/internal/secrets.js';
import type { ReconcileOption } from '../../src/core/tool-execution/unknown-outcome.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';

/** Options of turns that pause. */
export interface PauseOptions extends ReconcileOption {
  /**
   * Secrets of the encryption, at least 32 characters or bytes each: the first one encrypts, states of
   * the others are accepted. To rotate, put a new one first, and remove the old one after `ttl`.
   */
  readonly secrets: Secret | readonly Secret[];
  /**
   * Place of paused turns, encrypted, and of used states; share it between all processes that resume
   * turns. With an `InMemoryKeyValueStore` an id is known, and a state used once, in one process alone.
   */
  readonly store: KeyValueStore;
  /** Milliseconds in which a turn can be resumed, > 0 and <= 1e12. @default 604_800_000, 7 days */
  readonly ttl?: number | undefined;
  /**
   * Milliseconds after the end of its process until a resumed turn can be resumed again, > 0 and
   * < 2 ** 31. @default 30_000
   */
  readonly lease?: number | undefined;
  /** Maximum number of characters of a state, >= 1_000. @default 1_000_000 */
  readonly maxSize?: number | undefined;
  /**
   * Listener for the error of a store that could not keep a paused turn, which has no `id` then, or could not remove
   * one that has ended. @default none
   */
  readonly onStoreError?: ((error: unknown) => void) | undefined;
}

const WHERE = 'pause';
const RULES = {
  secrets: CHECKED_APART,
  store: CHECKED_APART,
  ttl: rule(
    'a number of milliseconds > 0 and <= 1e12',
    (value) => typeof value === 'number' && value > 0 && value <= 1e12,
  ),
  lease: TIMEOUT,
  maxSize: integer(1_000),
  reconcile: FUNCTION,
  onStoreError: FUNCTION,
};
const STORE = withMethods('a KeyValueStore', 'get', 'set', 'delete', 'add');

/**
 * @param where begins the messages
 * @throws {@link InvalidArgumentError} if an option is invalid; never shows a secret
 */
export function checkPauseOptions(options: PauseOptions, where = WHERE): void {
  checkOption(
    where,
    'the options',
    options,
    rule('an object', (value) => Object(value) === value),
  );
  checkSecrets(options.secrets, where);
  checkOption(where, 'store', options.store, STORE);
  checkOptions(where, options, RULES);
}
