import type { AdvisorContext } from '../core/chat/context.js';
import type { Document } from '../core/chat/document.js';
import type { Message } from '../core/chat/message.js';
import type { Filter } from '../stores/vectors/filter.js';

/** A question to documents. */
export interface Query {
  readonly text: string;
  /** The documents that may be found at all. Set by the application, never by a model or a user. */
  readonly namespace: string;
  /** Narrows the search to documents with this metadata. @default all of the namespace */
  readonly filter?: Filter | undefined;
  /**
   * Number of documents that are wanted, an integer >= 1; a retriever with a `topK` of its own keeps to that.
   * A {@link HybridRetriever} asks its retrievers for more than it returns. @default the retriever decides: 4
   */
  readonly topK?: number | undefined;
  /** The conversation before the question. */
  readonly history: readonly Message[];
  /** The context of the request. */
  readonly context: AdvisorContext;
  /** Ends the search with the run that asks. */
  readonly signal: AbortSignal;
}

/** Finds documents. Stateless between queries: one object can serve concurrent requests. */
export interface DocumentRetriever {
  /** Name of what it searches, for errors and spans. @default its class */
  readonly name?: string | undefined;
  /** The best documents of the namespace, best first. */
  retrieve(query: Query): Promise<readonly Document[]>;
}

/** Changes a query before the search, such as its text. */
export type QueryTransformer = (query: Query) => Query | Promise<Query>;

/** Makes several queries of one; their results are joined. */
export type QueryExpander = (query: Query) => readonly Query[] | Promise<readonly Query[]>;

/** Joins results, one for each pair of query and retriever, each the best first. */
export type DocumentJoiner = (
  results: readonly (readonly Document[])[],
  query: Query,
) => readonly Document[] | Promise<readonly Document[]>;

/** Changes the documents that were found: their order, their number, their texts. */
export type DocumentPostProcessor = (
  documents: readonly Document[],
  query: Query,
) => readonly Document[] | Promise<readonly Document[]>;
