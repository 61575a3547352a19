import type { Document } from '../core/chat/document.js';
import {
  checkOptions,
  integer,
  numberBetween,
  required,
  withMethods,
} from '../core/internal/options.js';
import { embedText } from '../stores/vectors/embed-text.js';
import type { EmbeddingModel } from '../stores/vectors/embedding-model.js';
import type { VectorStore } from '../stores/vectors/vector-store.js';
import { narrowFilter, QUERY_FILTER, type QueryFilter } from './narrow-filter.js';
import type { DocumentRetriever, Query } from './query.js';

/** Options of a {@link VectorRetriever}. */
export interface VectorRetrieverOptions {
  readonly store: Pick<VectorStore, 'search'>;
  /** The model that embedded the documents. */
  readonly embeddingModel: EmbeddingModel;
  /** Maximum number of documents; an integer >= 1. @default the `topK` of the query, or 4 */
  readonly topK?: number | undefined;
  /** Minimum cosine similarity of a document, -1 to 1; useful values depend on the model. @default 0 */
  readonly minScore?: number | undefined;
  /** Narrows each search, beside the filter of the query. @default none */
  readonly filter?: QueryFilter | undefined;
}

const RULES = {
  store: required(withMethods('a VectorStore', 'search')),
  embeddingModel: required(withMethods('an EmbeddingModel', 'embed')),
  topK: integer(1),
  minScore: numberBetween(-1, 1),
  filter: QUERY_FILTER,
};

/** Finds documents by the meaning of a query, in the namespace of the query; the run that asks pays for the embedding. */
export class VectorRetriever implements DocumentRetriever {
  private readonly options: VectorRetrieverOptions;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: VectorRetrieverOptions) {
    checkOptions('VectorRetriever', options, RULES);
    this.options = { ...options };
  }

  /**
   * A blank query finds nothing, without a request.
   * @throws whatever the model or the store throws; a {@link ModelCallError} for an answer without a vector
   */
  async retrieve(query: Query): Promise<readonly Document[]> {
    const { store, embeddingModel, minScore = 0, filter: own } = this.options;
    const { text, namespace, signal } = query;
    const topK = this.options.topK ?? query.topK ?? 4;
    if (text.trim() === '') return [];
    const filter = narrowFilter(query, own);
    const vector = await embedText(embeddingModel, text, { signal });
    return store.search(namespace, { vector, topK, minScore, filter }, { signal });
  }
}
