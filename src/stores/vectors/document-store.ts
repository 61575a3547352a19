import type { Document } from '../../core/chat/document.js';
import type { Filter } from './filter.js';

/**
 * Stores documents in namespaces, such as one for each tenant: no operation reads or changes
 * documents of another namespace. Ids have at most 512 characters and namespaces 256; neither is blank.
 * Texts and values of metadata are kept with U+FFFD in place of NUL and of unpaired surrogates, which
 * databases refuse; in ids, namespaces and keys these throw {@link InvalidArgumentError}.
 */
export interface DocumentStore {
  /**
   * Adds documents; one with a known id replaces the previous one. All of them or none are stored, and
   * readers see all of them or none.
   */
  upsert(namespace: string, documents: readonly Document[], options?: UpsertOptions): Promise<void>;
  /** Documents in ascending order of their ids (by code points), without scores. */
  list(namespace: string, query?: ListQuery): Promise<readonly Document[]>;
  /** Deletes the documents of these ids, or those that a filter accepts; ignores missing ones. */
  delete(namespace: string, selection: readonly string[] | Filter): Promise<void>;
  /** Deletes the namespace with all its documents. */
  clear(namespace: string): Promise<void>;
}

/** Options of {@link DocumentStore.upsert}. */
export interface UpsertOptions {
  /** Ends the wait; nothing is stored unless the store had begun to. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Documents to delete in the same step: those that the filter accepts and that are not among the new
   * ones. So all chunks of a file are replaced at once. @default none
   */
  readonly replaces?: Filter | undefined;
}

/** Options of {@link DocumentStore.list}. */
export interface ListQuery {
  /** @default all documents of the namespace */
  readonly filter?: Filter | undefined;
  /** Lists what follows this id, such as the last one of the page before. @default from the first one */
  readonly after?: string | undefined;
  /** Maximum number of documents of a page; an integer >= 1. @default no limit */
  readonly limit?: number | undefined;
  /** @default false */
  readonly withVectors?: boolean | undefined;
}
