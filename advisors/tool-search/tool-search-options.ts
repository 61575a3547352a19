import { CONTEXT_KEY, CONVERSATION_ID, type ContextKey } from '../../src/core/chat/context.js';
import { PORTABLE_NAME } from '../../src/core/chat/tool-definition.js';
import { BOOLEAN, integer, required, TEXT, withMethods } from '../../src/core/internal/options.js';
import type { ToolIndex } from '../../src/stores/tool-indexes/tool-index.js';
import { type EvictionStrategy, LruEviction } from './eviction.js';

/** Options of a tool search: a `ToolSearchAdvisor` without its order in the chain. */
export interface ToolSearchOptions {
  /** Index that finds the tools. */
  readonly toolIndex: ToolIndex;
  /** Maximum number of tools of one search, >= 1; the model may ask for fewer. @default 5 */
  readonly maxResults?: number | undefined;
  /** Name of the search tool: 1 to 64 letters, digits, `_` and `-`. @default 'toolSearchTool' */
  readonly searchToolName?: string | undefined;
  /**
   * Text appended to the system message, unchanged.
   * @default an empty line and two sentences that explain when to search
   */
  readonly systemMessageSuffix?: string | undefined;
  /** Keeps the tools found before when a later search finds others. @default true */
  readonly accumulate?: boolean | undefined;
  /** Keeps the tools found in earlier turns of a session. @default true */
  readonly rememberDiscovered?: boolean | undefined;
  /** Maximum number of tools that a session keeps, the last ones found; >= 1. @default 50 */
  readonly maxRemembered?: number | undefined;
  /** Context key of the session id; a request without one gets its own session. @default CONVERSATION_ID */
  readonly sessionKey?: ContextKey<string | undefined> | undefined;
  /** Strategy that selects the sessions to remove. @default new LruEviction(1_000) */
  readonly eviction?: EvictionStrategy | undefined;
  /** Minimum number of searchable tools; a request with fewer is left unchanged; >= 0. @default 0 */
  readonly minTools?: number | undefined;
  /**
   * Searches with the text of the user before the first model call and offers what it finds, up to
   * `maxResults` tools: models often search for a goal rather than for a step. @default false
   */
  readonly searchFirst?: boolean | undefined;
}

/** {@link ToolSearchOptions} with their defaults. */
export type CheckedSearchOptions = {
  readonly [K in keyof ToolSearchOptions]-?: NonNullable<ToolSearchOptions[K]>;
};

const TOOL_INDEX = withMethods(
  'a ToolIndex, such as new KeywordToolIndex()',
  'index',
  'search',
  'clear',
);
const EVICTION = withMethods('an EvictionStrategy', 'onAccess', 'onRemoved');

/** A rule for each option. */
export const SEARCH_RULES = {
  toolIndex: required(TOOL_INDEX),
  searchToolName: PORTABLE_NAME,
  maxResults: integer(1),
  systemMessageSuffix: TEXT,
  accumulate: BOOLEAN,
  rememberDiscovered: BOOLEAN,
  maxRemembered: integer(1),
  sessionKey: CONTEXT_KEY,
  eviction: EVICTION,
  minTools: integer(0),
  searchFirst: BOOLEAN,
};

export function withSearchDefaults(options: ToolSearchOptions): CheckedSearchOptions {
  const searchToolName = options.searchToolName ?? 'toolSearchTool';
  return {
    toolIndex: options.toolIndex,
    searchToolName,
    maxResults: options.maxResults ?? 5,
    systemMessageSuffix: options.systemMessageSuffix ?? defaultSuffix(searchToolName),
    accumulate: options.accumulate ?? true,
    rememberDiscovered: options.rememberDiscovered ?? true,
    maxRemembered: options.maxRemembered ?? 50,
    sessionKey: options.sessionKey ?? CONVERSATION_ID,
    eviction: options.eviction ?? new LruEviction(),
    minTools: options.minTools ?? 0,
    searchFirst: options.searchFirst ?? false,
  };
}

function defaultSuffix(searchToolName: string): string {
  return (
    `\n\nMost of your tools are not in your list: "${searchToolName}" finds them. ` +
    'Search before you answer that something cannot be done.'
  );
}
