import type { ModelRun } from '../chat/chat-model.js';
import type { Vector } from './embedding-model.js';

/** A vector that a {@link VectorStore} keeps. */
export interface VectorEntry {
  /** Unique within its namespace. */
  readonly id: string;
  readonly vector: Vector;
  /** What a search can be narrowed by. */
  readonly metadata?: VectorMetadata | undefined;
}

/** Labels of a vector. */
export type VectorMetadata = Readonly<Record<string, string>>;

/** What is looked for. */
export interface VectorQuery {
  readonly vector: Vector;
  /** Most matches, 1 or more. */
  readonly topK: number;
  /** Only entries whose metadata has all of these values. @default every entry */
  readonly filter?: VectorMetadata | undefined;
}

/** A vector that was found. */
export interface VectorMatch {
  readonly id: string;
  /** Cosine of the angle to what was looked for, from -1 (opposite) to 1 (the same). */
  readonly score: number;
}

/** Keeps vectors and finds the nearest. Namespaces share nothing: no search sees the entries of another one. */
export interface VectorStore {
  /** Adds entries; those whose id is there are replaced. */
  upsert(namespace: string, entries: readonly VectorEntry[], run?: ModelRun): Promise<void>;
  /** The nearest entries, best first; none in a namespace that does not exist. */
  search(namespace: string, query: VectorQuery, run?: ModelRun): Promise<readonly VectorMatch[]>;
  /** Removes entries, or the whole namespace if no ids are given; what does not exist is ignored. */
  delete(namespace: string, ids?: readonly string[]): Promise<void>;
}
