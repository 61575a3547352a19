import { CONVERSATION_ID, type ContextKey } from '../chat/context.js';
import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import { isPortableName, PORTABLE_NAME_RULE } from '../tool/portable-names.js';
import { LruEviction, type EvictionStrategy } from './eviction.js';
import type { ToolIndex } from './tool-index.js';

/** How tools are searched for; the options of a `ToolSearchAdvisor` without its place in the chain. */
export interface ToolSearchOptions {
  /** Finds the tools. */
  readonly toolIndex: ToolIndex;
  /** Most tools that one search gives, 1 or more; the model may ask for fewer. @default 5 */
  readonly maxResults?: number | undefined;
  /** What the model calls to search: 1 to 64 letters, digits, `_` and `-`. @default 'toolSearchTool' */
  readonly searchToolName?: string | undefined;
  /** Put behind the system message, just as it is. @default two sentences that say when to search, after an empty line */
  readonly systemMessageSuffix?: string | undefined;
  /** Whether what was found stays when something else is found. @default true */
  readonly accumulate?: boolean | undefined;
  /** Whether what was found in a turn is there in the later turns of its session. @default true */
  readonly rememberDiscovered?: boolean | undefined;
  /** Most tools that a session remembers, those that were found last; 1 or more. @default 50 */
  readonly maxRemembered?: number | undefined;
  /** Where a request has its session; one without has a session of its own, for the turn. @default CONVERSATION_ID */
  readonly sessionKey?: ContextKey<string | undefined> | undefined;
  /** Which sessions are forgotten. @default new LruEviction(1_000) */
  readonly eviction?: EvictionStrategy | undefined;
  /** A request with fewer tools than these is left as it is; 0 or more. @default 0 */
  readonly minTools?: number | undefined;
}

/** Options with their defaults. */
export type CheckedSearchOptions = { readonly [K in keyof ToolSearchOptions]-?: NonNullable<ToolSearchOptions[K]> };

/** @throws {@link InvalidArgumentError} if an option cannot be used */
export function checkSearchOptions(given: ToolSearchOptions): CheckedSearchOptions {
  const options = given ?? ({} as ToolSearchOptions);
  const { searchToolName = 'toolSearchTool', toolIndex } = options;
  const checked = {
    toolIndex,
    searchToolName,
    maxResults: options.maxResults ?? 5,
    systemMessageSuffix: options.systemMessageSuffix ?? defaultSuffix(searchToolName),
    accumulate: options.accumulate ?? true,
    rememberDiscovered: options.rememberDiscovered ?? true,
    maxRemembered: options.maxRemembered ?? 50,
    sessionKey: options.sessionKey ?? CONVERSATION_ID,
    eviction: options.eviction ?? new LruEviction(),
    minTools: options.minTools ?? 0,
  };
  for (const [name, [rule, holds]] of Object.entries(RULES) as readonly (readonly [keyof ToolSearchOptions, Rule])[])
    if (!holds(checked[name])) throw new InvalidArgumentError(`ToolSearchAdvisor: ${name} must be ${rule}, not ${describe(checked[name])}`);
  return checked;
}

/** An empty line parts it from the system message; a request without one gets it, trimmed. */
function defaultSuffix(searchToolName: string): string {
  return `\n\nMost of your tools are not in your list: "${searchToolName}" finds them. Search before you say that something cannot be done.`;
}

type Rule = readonly [rule: string, holds: (value: unknown) => boolean];

const FLAG: Rule = ['true or false', (value) => typeof value === 'boolean'];

const RULES: Readonly<Record<keyof ToolSearchOptions, Rule>> = {
  toolIndex: ['a ToolIndex, such as new KeywordToolIndex()', (value) => hasMethods(value, 'index', 'search', 'clear')],
  maxResults: ['a whole number of 1 or more', (value) => isCount(value, 1)],
  searchToolName: [PORTABLE_NAME_RULE, isPortableName],
  systemMessageSuffix: ['a non-blank text', (value) => typeof value === 'string' && value.trim() !== ''],
  accumulate: FLAG,
  rememberDiscovered: FLAG,
  maxRemembered: ['a whole number of 1 or more', (value) => isCount(value, 1)],
  sessionKey: ['a ContextKey', (value) => typeof (value as Partial<ContextKey<unknown>>).name === 'string'],
  eviction: ['an EvictionStrategy, such as new LruEviction()', (value) => hasMethods(value, 'onAccess', 'onRemoved')],
  minTools: ['a whole number of 0 or more', (value) => isCount(value, 0)],
};

function isCount(value: unknown, min: number): boolean {
  return Number.isInteger(value) && (value as number) >= min;
}

function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  const methods = (value ?? {}) as Readonly<Record<string, unknown>>;
  return names.every((name) => typeof methods[name] === 'function');
}
