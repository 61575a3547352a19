import type { Document } from '../core/chat/document.js';
import {
  checkOptions,
  integer,
  numberBetween,
  required,
  withMethods,
} from '../core/internal/options.js';
import type { KeywordIndex } from '../stores/texts/keyword-index.js';
import { narrowFilter, QUERY_FILTER, type QueryFilter } from './narrow-filter.js';
import type { DocumentRetriever, Query } from './query.js';

/** Options of a {@link KeywordRetriever}. */
export interface KeywordRetrieverOptions {
  /** A {@link KeywordIndex}, or a search of texts with its method. */
  readonly index: Pick<KeywordIndex, 'search'>;
  /** Maximum number of documents; an integer >= 1. @default the `topK` of the query, or 4 */
  readonly topK?: number | undefined;
  /** Minimum score of a document, 0 to 1. @default 0 */
  readonly minScore?: number | undefined;
  /** Narrows each search, beside the filter of the query. @default none */
  readonly filter?: QueryFilter | undefined;
}

const RULES = {
  index: required(withMethods('a KeywordIndex', 'search')),
  topK: integer(1),
  minScore: numberBetween(0, 1),
  filter: QUERY_FILTER,
};

/** Finds documents by the words of a query, in the namespace of the query. */
export class KeywordRetriever implements DocumentRetriever {
  private readonly options: KeywordRetrieverOptions;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: KeywordRetrieverOptions) {
    checkOptions('KeywordRetriever', options, RULES);
    this.options = { ...options };
  }

  /** @throws whatever the index throws */
  async retrieve(query: Query): Promise<readonly Document[]> {
    const { index, topK = query.topK ?? 4, minScore, filter: own } = this.options;
    const { text, namespace, signal } = query;
    const filter = narrowFilter(query, own);
    return index.search(namespace, { text, topK, minScore, filter }, { signal });
  }
}
