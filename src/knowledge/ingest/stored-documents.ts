import type { Document } from '../../core/chat/document.js';
import type { Filter } from '../../stores/vectors/filter.js';
import type { Vector } from '../../stores/vectors/embedding-model.js';
import type { DocumentStore, ListQuery } from '../../stores/vectors/document-store.js';
import { contentHash } from './document-chunks.js';
import type { IngestSettings } from './ingest-options.js';

/** Number of documents in one request to the store. */
const PAGE = 500;

/** The documents that a namespace has, by their first chunks. */
export class StoredDocuments {
  /** Hash of each document that ingests have stored, by its id. */
  private readonly hashes: Map<string, string>;

  private constructor(
    private readonly store: DocumentStore,
    private readonly namespace: string,
    hashes: Map<string, string>,
    /** Settings of chunks that other ingests have stored. */
    readonly otherFingerprints: ReadonlySet<string>,
  ) {
    this.hashes = hashes;
  }

  static async read({ store, namespace, fingerprint }: IngestSettings): Promise<StoredDocuments> {
    const hashes = new Map<string, string>();
    const others = new Set<string>();
    for await (const { metadata = {} } of pagesOf(store, namespace, { filter: { chunk: 0 } })) {
      const { document, documentHash, fingerprint: stored } = metadata;
      if (typeof stored !== 'string') continue; // not from an ingest
      if (stored === fingerprint) hashes.set(String(document), String(documentHash));
      else others.add(stored);
    }
    return new StoredDocuments(store, namespace, hashes, others);
  }

  has(id: string): boolean {
    return this.hashes.has(id);
  }

  isUnchanged(id: string, hash: string): boolean {
    return this.hashes.get(id) === hash;
  }

  /** Vectors of chunks of these documents, by the hash of their content. */
  async vectorsOf(ids: readonly string[]): Promise<Map<string, Vector>> {
    const vectors = new Map<string, Vector>();
    if (ids.length === 0) return vectors;
    const query = { filter: anyOf(ids), withVectors: true };
    for await (const { id, vector } of pagesOf(this.store, this.namespace, query))
      if (vector) vectors.set(contentHash(id), vector);
    return vectors;
  }

  /** Deletes documents that are not in a source; calls back for each. */
  async deleteMissing(
    found: ReadonlySet<string>,
    isEnded: () => boolean,
    deleted: (id: string) => void,
  ): Promise<void> {
    const missing = [...this.hashes.keys()].filter((id) => !found.has(id));
    for (let start = 0; start < missing.length && !isEnded(); start += PAGE) {
      const ids = missing.slice(start, start + PAGE);
      await this.store.delete(this.namespace, anyOf(ids));
      ids.forEach(deleted);
    }
  }

  /** Deletes the chunks of ingests with other settings. */
  async deleteOthers(): Promise<void> {
    const fingerprint = { in: [...this.otherFingerprints] };
    await this.store.delete(this.namespace, { fingerprint });
  }
}

/** Accepts the chunks of documents. */
export function anyOf(ids: readonly string[]): Filter {
  return { document: { in: ids } };
}

async function* pagesOf(
  store: DocumentStore,
  namespace: string,
  query: ListQuery,
): AsyncGenerator<Document> {
  let after: string | undefined;
  do {
    const page = await store.list(namespace, { ...query, after, limit: PAGE });
    yield* page;
    after = page.length < PAGE ? undefined : page.at(-1)?.id;
  } while (after !== undefined);
}
