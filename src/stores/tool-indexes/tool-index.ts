import type { JsonSchema } from '../../core/chat/tool-definition.js';
import {
  checkOption,
  checkFields,
  integer,
  rule,
  isPlainObject,
  type JsonObject,
} from '../../core/internal/options.js';

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
  /**
   * Words of the query, in lower case, that the tool has in some form: the reason for which it was found. Set
   * by a search that compares words.
   */
  readonly matches?: readonly string[] | undefined;
}

/** The tools of a session, replacing those it had before. */
export interface ToolIndexRequest {
  /** Id of a session: a conversation, or a single turn. */
  readonly session: string;
  readonly references: readonly ToolReference[];
  /**
   * Signal of the run that needs the index. Embeddings count in the ledger of that run; they
   * continue after its end, since later runs need them too.
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
  /**
   * Weight of its ranking for a query in a `HybridToolIndex` without weights; with 0 it only fills the
   * places that others leave. @default 1
   */
  weightOf?(query: string): number;
  index(request: ToolIndexRequest): void | Promise<void>;
  /** Adds tools to a session; one of the same name is replaced. */
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

/** Maximum number of characters of a description that the model reads in a search result. */
export const MAX_DESCRIPTION = 200;
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
  checkFields(where, request, { maxResults: integer(1), category: STRING });
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
