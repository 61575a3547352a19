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
  private constructor(
    private readonly settings: IngestSettings,
    /** Hash of each document that ingests have stored, by its id. */
    private readonly hashes: ReadonlyMap<string, string>,
    /** Settings of chunks that other ingests have stored. */
    readonly otherFingerprints: ReadonlySet<string>,
  ) {}

  static async read(settings: IngestSettings): Promise<StoredDocuments> {
    const { store, namespace, fingerprint } = settings;
    const hashes = new Map<string, string>();
    const others = new Set<string>();
    for await (const { metadata = {} } of pagesOf(store, namespace, { filter: { chunk: 0 } })) {
      const { document, documentHash, fingerprint: stored } = metadata;
      if (typeof stored !== 'string') continue; // not from an ingest
      if (stored === fingerprint) hashes.set(String(document), String(documentHash));
      else others.add(stored);
    }
    return new StoredDocuments(settings, hashes, others);
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
    const { store, namespace } = this.settings;
    const query = { filter: this.own(ids), withVectors: true };
    for await (const { id, vector } of pagesOf(store, namespace, query))
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
      await this.settings.store.delete(this.settings.namespace, this.own(ids));
      ids.forEach(deleted);
    }
  }

  /** Deletes the chunks of ingests with other settings. */
  async deleteOthers(): Promise<void> {
    const fingerprint = { in: [...this.otherFingerprints] };
    await this.settings.store.delete(this.settings.namespace, { fingerprint });
  }

  /** Chunks with the settings of this ingest: another one may have replaced some meanwhile. */
  private own(ids: readonly string[]): Filter {
    return { ...anyOf(ids), fingerprint: this.settings.fingerprint };
  }
}

/** The settings of any chunk that an ingest with others has stored. */
export async function otherFingerprint(settings: IngestSettings): Promise<string | undefined> {
  const { store, namespace, fingerprint } = settings;
  // a text only: what the application has under this name is of no ingest
  const filter = { chunk: 0, fingerprint: { gt: '', ne: fingerprint } };
  const [chunk] = await store.list(namespace, { filter, limit: 1 });
  return chunk && String(chunk.metadata?.['fingerprint']);
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
