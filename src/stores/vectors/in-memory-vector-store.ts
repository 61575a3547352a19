import type { Document } from '../../core/chat/document.js';
import { cancelledError } from '../../core/internal/cancellation.js';
import { SharedTimeSlice } from '../../core/internal/time-slice.js';
import {
  CheckedVectorStore,
  type CheckedVectorQuery,
  type EmbeddedDocument,
} from './checked-vector-store.js';
import type { Condition } from './condition.js';
import type { CheckedListQuery, Selection } from './document-checks.js';
import { matcherOf } from './filter.js';
import { NearestDocuments } from './nearest-documents.js';
import { pageOf } from './page-of.js';
import { VectorTable } from './vector-table.js';

/**
 * Stores documents and their vectors in this process. A search is exact: it compares every vector that
 * the filter accepts, 10,000 of 384 numbers in some milliseconds. Long searches let the process answer
 * others meanwhile, and see the documents as they were when the search began. Equal scores are in
 * insertion order.
 */
export class InMemoryVectorStore extends CheckedVectorStore {
  protected readonly where = 'InMemoryVectorStore';
  private readonly namespaces = new Map<string, VectorTable>();
  private readonly slice = new SharedTimeSlice();

  protected write(
    namespace: string,
    documents: readonly EmbeddedDocument[],
    replaces: Condition | undefined,
  ): void {
    const table = this.namespaces.get(namespace);
    const added = new Set(documents.map(({ id }) => id));
    const replaced = table && replaces ? table.accepted(matcherOf(replaces)) : [];
    const gone = new Set(replaced.filter((id) => !added.has(id)));
    const dimensions = documents[0]?.vector.length ?? table?.dimensions ?? 1;
    const kept = table?.dimensions === dimensions ? table : new VectorTable(dimensions);
    if (table && kept !== table && hasOthers(table, added, gone))
      this.checkDimensions(namespace, 'documents[0].vector', dimensions, table.dimensions);
    for (const id of gone) kept.delete(id);
    for (const { vector, ...document } of documents) kept.set(document, vector);
    this.changed(namespace, kept);
  }

  protected async nearest(
    namespace: string,
    { vector, topK, minScore, condition }: CheckedVectorQuery,
    signal: AbortSignal | undefined,
  ): Promise<readonly Document[]> {
    const table = this.namespaces.get(namespace);
    if (!table) return [];
    this.checkDimensions(namespace, 'vector', vector.length, table.dimensions);
    const matches = condition && matcherOf(condition);
    const nearest = new NearestDocuments({ vector, topK, minScore, matches });
    const chunks = [...table.chunks];
    for (const chunk of chunks) {
      const searched = this.slice.run(() => {
        if (signal?.aborted) throw cancelledError(signal.reason);
        nearest.search(chunk);
      });
      if (!searched) continue;
      for (const each of chunks) each.isShared = true;
      await searched;
    }
    return nearest.documents;
  }

  protected page(namespace: string, query: CheckedListQuery): readonly Document[] {
    const table = this.namespaces.get(namespace);
    if (!table) return [];
    return pageOf(table, query).map((document) => {
      const vector = query.withVectors ? table.vectorOf(document.id) : undefined;
      return { ...document, ...(vector && { vector }) };
    });
  }

  protected remove(namespace: string, selection: Selection): void {
    const table = this.namespaces.get(namespace);
    if (!table) return;
    const ids = 'type' in selection ? table.accepted(matcherOf(selection)) : selection;
    for (const id of ids) table.delete(id);
    this.changed(namespace, table);
  }

  protected removeAll(namespace: string): void {
    this.namespaces.delete(namespace);
  }

  private changed(namespace: string, table: VectorTable): void {
    if (table.size > 0) this.namespaces.set(namespace, table);
    else this.namespaces.delete(namespace);
  }
}

/** Returns whether any document stays in the table. */
function hasOthers(
  table: VectorTable,
  added: ReadonlySet<string>,
  gone: ReadonlySet<string>,
): boolean {
  for (const id of table.ids()) if (!added.has(id) && !gone.has(id)) return true;
  return false;
}
