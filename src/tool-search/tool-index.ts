import { CONTEXT_KEY, CONVERSATION_ID, type ContextKey } from '../chat/context.js';
import { PORTABLE_NAME, type JsonSchema } from '../chat/tool-definition.js';
import {
  BOOLEAN,
  TEXT,
  checkOption,
  checkOptions,
  integer,
  rule,
  withMethods,
  isPlainObject,
  type JsonObject,
} from '../internal/options.js';
import { type EvictionStrategy, LruEviction } from './eviction.js';

/** A tool as an index sees it. */
export interface ToolReference {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonSchema;
  /** Category that a search can be restricted to. */
  readonly category?: string | undefined;
  /** Relevance, set by a search; comparable only within one response. */
  readonly score?: number | undefined;
}

/** The tools of a session, replacing those it had before. */
export interface ToolIndexRequest {
  /** Id of a session: a conversation, or a single turn. */
  readonly session: string;
  readonly references: readonly ToolReference[];
  /**
   * Signal of the run that needs the index. Embeddings count in the ledger of that run; they go on
   * after its end, since later runs need them too.
   */
  readonly signal?: AbortSignal | undefined;
}

/** Tools to remove from a session. */
export interface ToolRemovalRequest {
  readonly session: string;
  readonly names: readonly string[];
}

/** A search in the tools of a session. */
export interface ToolSearchRequest {
  readonly session: string;
  /** Text or pattern, depending on the index. A query without words returns the first tools. */
  readonly query: string;
  /** Maximum number of references of the response, >= 1. @default 10 */
  readonly maxResults?: number | undefined;
  /** Restricts the search to one category, ignoring case. @default all categories */
  readonly category?: string | undefined;
  /** Aborts when the response is no longer needed. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of a search. */
export interface ToolSearchResponse {
  /** Best match first. */
  readonly references: readonly ToolReference[];
}

/**
 * Finds tools by what they do. Sessions are isolated from each other; an index should share its
 * data structures between sessions with the same tools. An index only ranks tools: which of them
 * may be called is decided by the request.
 */
export interface ToolIndex {
  index(request: ToolIndexRequest): void | Promise<void>;
  /** Adds tools to those of a session; one of the same name is replaced. */
  add?(request: ToolIndexRequest): void | Promise<void>;
  /** Removes tools from a session by their names; unknown names are ignored. */
  remove?(request: ToolRemovalRequest): void | Promise<void>;
  /** Returns no references for a session without an index. */
  search(request: ToolSearchRequest): ToolSearchResponse | Promise<ToolSearchResponse>;
  /** Removes a session; does nothing if there is none. */
  clear(session: string): void | Promise<void>;
  /** Removes all sessions, and what they have stored elsewhere; the index can be used again. */
  close?(): void | Promise<void>;
}

const ARRAY = rule('an array', Array.isArray);
const STRING = rule('a string', isString);
export const NON_EMPTY = rule('a non-empty string', (value) => isString(value) && value !== '');

const REFERENCE_RULES = Object.entries({
  name: NON_EMPTY,
  description: STRING,
  inputSchema: rule('a plain object', isPlainObject),
  category: rule('a string', (value) => value === undefined || isString(value)),
});

/** @throws {@link InvalidArgumentError} if the session or a reference is invalid */
export function checkIndexRequest({ session, references }: ToolIndexRequest, where: string): void {
  checkOption(where, 'session', session, NON_EMPTY);
  checkOption(where, 'references', references, ARRAY);
  const list: readonly (object | null | undefined)[] = references;
  for (const [at, reference] of list.entries())
    for (const [field, rule] of REFERENCE_RULES) {
      const value = (reference as JsonObject | null | undefined)?.[field];
      if (!rule.accepts(value)) checkOption(where, `references[${at}].${field}`, value, rule);
    }
}

/** A search with its defaults. */
export interface CheckedSearchRequest extends ToolSearchRequest {
  readonly maxResults: number;
  /** True for a tool of the category of the search. */
  readonly accepts: (reference: ToolReference) => boolean;
}

/** @throws {@link InvalidArgumentError} if a field is invalid */
export function checkSearchRequest(
  request: ToolSearchRequest,
  where: string,
): CheckedSearchRequest {
  checkOption(where, 'session', request.session, NON_EMPTY);
  checkOption(where, 'query', request.query, STRING);
  checkOptions(where, request, { maxResults: integer(1), category: STRING });
  const wanted = request.category?.toLowerCase();
  return {
    ...request,
    maxResults: request.maxResults ?? 10,
    accepts: ({ category }) => wanted === undefined || category?.toLowerCase() === wanted,
  };
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** Options of a tool search: those of a `ToolSearchAdvisor` without its order in the chain. */
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

const WHERE = 'ToolSearchAdvisor';
const TOOL_INDEX = withMethods(
  'a ToolIndex, such as new KeywordToolIndex()',
  'index',
  'search',
  'clear',
);
const EVICTION = withMethods('an EvictionStrategy', 'onAccess', 'onRemoved');

/** @throws {@link InvalidArgumentError} if an option is invalid */
export function checkSearchOptions(options: ToolSearchOptions): CheckedSearchOptions {
  const toolIndex = (options as Partial<ToolSearchOptions> | undefined)?.toolIndex;
  checkOption(WHERE, 'toolIndex', toolIndex, TOOL_INDEX);
  const searchToolName = options.searchToolName ?? 'toolSearchTool';
  const checked: CheckedSearchOptions = {
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
  checkOptions(WHERE, checked, {
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
  });
  return checked;
}

function defaultSuffix(searchToolName: string): string {
  return (
    `\n\nMost of your tools are not in your list: "${searchToolName}" finds them. ` +
    'Search before you answer that something cannot be done.'
  );
}
