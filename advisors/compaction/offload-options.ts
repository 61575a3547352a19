import { PORTABLE_NAME } from '../../src/core/chat/tool-definition.js';
import {
  checkOption,
  checkOptions,
  integer,
  PLAIN_OBJECT,
  POSITIVE,
  required,
  withMethods,
} from '../../src/core/internal/options.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';

/** Options for results that are kept outside of the conversation. */
export interface OffloadOptions {
  /** Place for the results; an `InMemoryKeyValueStore` if one process answers a conversation. */
  readonly store: KeyValueStore;
  /** Maximum number of characters of a result that the model gets whole, >= 2000. @default 20_000 */
  readonly over?: number | undefined;
  /** Milliseconds for which a result can be read, > 0; `Infinity` for ever. @default 86_400_000 */
  readonly ttl?: number | undefined;
  /** Name of the tool that reads them. @default 'read_result' */
  readonly toolName?: string | undefined;
}

/** Data of the event `result-offloaded`. */
export interface ResultOffloaded {
  readonly toolName: string;
  readonly callId: string;
  /** Number of characters of the whole result. */
  readonly length: number;
  /** Id of the kept result; undefined if it could not be kept. */
  readonly id?: string | undefined;
  /** The error of the store; the model got the result as it was. */
  readonly error?: unknown;
}

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    'result-offloaded': ResultOffloaded;
  }
}

/** Options with their defaults. */
export type CheckedOffloadOptions = {
  readonly [K in keyof OffloadOptions]-?: NonNullable<OffloadOptions[K]>;
};

const STORE = withMethods('a KeyValueStore', 'get', 'set');
const RULES = {
  store: required(STORE),
  over: integer(2_000),
  ttl: POSITIVE,
  toolName: PORTABLE_NAME,
};

/**
 * @param where begins the messages of errors
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function checkOffloadOptions(where: string, options: OffloadOptions): CheckedOffloadOptions {
  checkOption(where, 'offload', options, PLAIN_OBJECT);
  checkOptions(where, options, RULES, 'offload.');
  const { store, over = 20_000, ttl = 86_400_000, toolName = 'read_result' } = options;
  return { store, over, ttl, toolName };
}
