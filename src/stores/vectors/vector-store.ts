import type { ModelRun } from '../../core/chat/chat-model.js';
import type { Document } from '../../core/chat/document.js';
import type { DocumentStore } from './document-store.js';
import type { Vector } from './embedding-model.js';
import type { Filter } from './filter.js';

/** A search for the documents with the nearest vectors. */
export interface VectorQuery {
  readonly vector: Vector;
  /** Maximum number of documents; an integer >= 1. */
  readonly topK: number;
  /** Minimum score, from -1 to 1. @default none */
  readonly minScore?: number | undefined;
  /** @default all documents of the namespace */
  readonly filter?: Filter | undefined;
}

/**
 * Stores documents with their vectors, and finds the nearest ones. All vectors of a namespace have the
 * same number of dimensions. Stores may keep a vector scaled to length 1, as its direction is all that
 * counts.
 */
export interface VectorStore extends DocumentStore {
  /**
   * The nearest documents, best first, without their vectors; none for a missing namespace. A score is
   * the cosine similarity to the query: from -1 (opposite) to 1 (same direction), 0 for a zero vector.
   * The filter applies before `topK`.
   */
  search(namespace: string, query: VectorQuery, run?: ModelRun): Promise<readonly Document[]>;
}
