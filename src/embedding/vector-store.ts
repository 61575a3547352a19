import type { ModelRun } from '../chat/chat-model.js';
import type { Vector } from './embedding-model.js';

/** A vector in a {@link VectorStore}. */
export interface VectorEntry {
  /** Unique within its namespace. */
  readonly id: string;
  readonly vector: Vector;
  /** Text of the document, returned by a search. */
  readonly text?: string | undefined;
  /** Labels for the filter of a query, returned by a search. */
  readonly metadata?: VectorMetadata | undefined;
}

/** Labels of a vector. */
export type VectorMetadata = Readonly<Record<string, string>>;

/** A search for the nearest vectors. */
export interface VectorQuery {
  readonly vector: Vector;
  /** Maximum number of matches; an integer >= 1. */
  readonly topK: number;
  /** Labels that an entry must have. @default none */
  readonly filter?: VectorMetadata | undefined;
}

/** An entry that was found. */
export interface VectorMatch {
  readonly id: string;
  /** Cosine similarity to the query, from -1 (opposite) to 1 (same direction). */
  readonly score: number;
  /** Text of the entry, if it has one. */
  readonly text?: string | undefined;
  /** Labels of the entry, if it has some. */
  readonly metadata?: VectorMetadata | undefined;
}

/**
 * Stores vectors, with their documents, and finds the nearest ones. A search never returns entries
 * of another namespace.
 */
export interface VectorStore {
  /** Adds entries; an entry with a known id replaces the previous one. */
  upsert(namespace: string, entries: readonly VectorEntry[], run?: ModelRun): Promise<void>;
  /** Returns the nearest entries, best first; none for a missing namespace. */
  search(namespace: string, query: VectorQuery, run?: ModelRun): Promise<readonly VectorMatch[]>;
  /** Deletes entries, or the whole namespace without ids; ignores missing ones. */
  delete(namespace: string, ids?: readonly string[]): Promise<void>;
}
