import { checkOption, checkOptions, integer, rule, withMethods } from '../internal/options.js';
import type { KeyValueStore } from '../key-value/key-value-store.js';
import type { Secret } from './state-signature.js';

/** Options of turns that pause. */
export interface PauseOptions {
  /**
   * Secrets of the signature, at least 32 characters or bytes each: the first one signs, states of
   * the others are accepted. To rotate, put a new one first, and remove the old one after `ttl`.
   */
  readonly secrets: Secret | readonly Secret[];
  /**
   * Place of the used states; share it between all processes that resume turns. With an
   * `InMemoryKeyValueStore` a state can be used once in each process.
   */
  readonly store: KeyValueStore;
  /** Milliseconds in which a turn can be resumed, > 0 and <= 1e12. @default 604_800_000, 7 days */
  readonly ttl?: number | undefined;
  /** Maximum number of characters of a state, >= 1_000. @default 1_000_000 */
  readonly maxSize?: number | undefined;
}

const WHERE = 'pause';
const MIN_LENGTH = 32;
const isSecret = (value: unknown): boolean =>
  (typeof value === 'string' || value instanceof Uint8Array) && value.length >= MIN_LENGTH;
const SECRETS = rule(
  `a text of at least ${MIN_LENGTH} characters, as many bytes, or an array of such, the newest first`,
  (value) => isSecret(value) || (Array.isArray(value) && value.length > 0 && value.every(isSecret)),
);
const RULES = {
  ttl: rule(
    'a number of milliseconds > 0 and <= 1e12',
    (value) => typeof value === 'number' && value > 0 && value <= 1e12,
  ),
  maxSize: integer(1_000),
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
  // its value must not be in a message
  checkOption(where, 'secrets', SECRETS.accepts(options.secrets) ? options.secrets : {}, SECRETS);
  checkOption(where, 'store', options.store, STORE);
  checkOptions(where, options, RULES);
}

export function secretsOf({ secrets }: PauseOptions): readonly Secret[] {
  return typeof secrets === 'string' || secrets instanceof Uint8Array ? [secrets] : secrets;
}
