import type { JsonSchema } from '../chat/tool-definition.js';

/** What an index knows of a tool. */
export interface ToolReference {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonSchema;
  /** What a search can be narrowed by. */
  readonly category?: string | undefined;
  /** How well the tool fits; set by a search, and to be compared within one answer only. */
  readonly score?: number | undefined;
}

/** The tools that a session can find from now on, in place of those it could find before. */
export interface ToolIndexRequest {
  /** Names a session: a conversation, or one turn. */
  readonly session: string;
  readonly references: readonly ToolReference[];
}

/** What is looked for. */
export interface ToolSearchRequest {
  readonly session: string;
  /** What the tool is to do, or a pattern of its name, as the index understands it. Without words it gives the first tools. */
  readonly query: string;
  /** Most references of the answer, 1 or more. @default 10 */
  readonly maxResults?: number | undefined;
  /** Only tools of this category, whatever its case. @default all */
  readonly category?: string | undefined;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
}

/** What was found. */
export interface ToolSearchResponse {
  /** Best first. */
  readonly references: readonly ToolReference[];
}

/**
 * Finds tools by what they do. Sessions share nothing that can be seen; sessions with the same tools should share what was built of
 * them. An index says what there is; what may be called comes from the request alone.
 */
export interface ToolIndex {
  index(request: ToolIndexRequest): void | Promise<void>;
  /** A session that is not indexed finds nothing. */
  search(request: ToolSearchRequest): ToolSearchResponse | Promise<ToolSearchResponse>;
  /** Forgets a session; one that does not exist is ignored. */
  clear(session: string): void | Promise<void>;
}
