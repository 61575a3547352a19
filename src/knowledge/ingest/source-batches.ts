import type { Document } from '../../core/chat/document.js';
import { checkOption, ID, isPlainObject, rule } from '../../core/internal/options.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { describe } from '../../core/errors/describe.js';
import { TimeSlice } from '../../core/internal/time-slice.js';
import { chunksOf, documentHash, storable, type Chunk } from './document-chunks.js';
import { WHERE, type DocumentSource, type IngestSettings } from './ingest-options.js';
import type { StoredDocuments } from './stored-documents.js';

/** A document to write. */
export interface PendingDocument {
  readonly id: string;
  readonly chunks: readonly Chunk[];
  /** True for a document that has chunks in the store. */
  readonly isStored: boolean;
}

/** Receives the documents that need no write. */
export interface SourceListener {
  readonly unchanged: (id: string) => void;
  /** May throw to end the ingest. */
  readonly failed: (id: string, error: unknown) => void;
}

const STRING = rule('a string', (value) => typeof value === 'string');

/** The documents of a source that need a write, in batches. */
export class SourceBatches {
  /** Ids of all documents that were read. */
  readonly found = new Set<string>();
  private readonly iterator: Iterator<Document> | AsyncIterator<Document>;
  private last: Promise<unknown> = Promise.resolve();
  private readonly slice = new TimeSlice();
  private ended = false;
  /** An error of the source. */
  failure: { readonly cause: unknown } | undefined;

  constructor(
    source: DocumentSource,
    private readonly settings: IngestSettings,
    private readonly stored: StoredDocuments,
    private readonly listener: SourceListener,
  ) {
    this.iterator =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  }

  /** The next batch, empty at the end; may be requested while another one is read. */
  next(): Promise<readonly PendingDocument[]> {
    const batch = this.last.then(() => this.read());
    this.last = batch.catch(() => undefined); // the caller gets the rejection
    return batch;
  }

  /** Ends the source, unless it has ended. */
  close(): void {
    if (this.ended) return;
    this.ended = true;
    // a source that waits may never settle this; what it throws when it is closed changes nothing
    void Promise.resolve()
      .then(() => this.iterator.return?.())
      .catch(() => undefined);
  }

  private async read(): Promise<readonly PendingDocument[]> {
    const batch: PendingDocument[] = [];
    let texts = 0;
    while (
      !this.ended &&
      texts < this.settings.batchSize &&
      batch.length < this.settings.batchSize
    ) {
      await this.slice.next();
      const result = await this.nextDocument();
      if (!result) break;
      const pending = this.pendingOf(result.document);
      if (!pending) continue;
      batch.push(pending);
      texts += pending.chunks.length;
    }
    return batch;
  }

  private async nextDocument(): Promise<{ readonly document: Document } | undefined> {
    try {
      const result = await this.iterator.next();
      if (result.done !== true && !this.ended) return { document: result.value };
    } catch (cause) {
      if (!this.ended) this.failure = { cause };
    }
    this.ended = true;
    return undefined;
  }

  private pendingOf(document: Document): PendingDocument | undefined {
    const id = isPlainObject(document) ? String(document['id']) : describe(document);
    try {
      this.check(document);
      return this.split(storable(document));
    } catch (error) {
      this.listener.failed(id, error);
      return undefined;
    }
  }

  /** @throws {@link InvalidArgumentError} */
  private check({ id, text }: Document): void {
    checkOption(WHERE, 'id of a document', id, ID);
    if (this.found.has(id))
      throw new InvalidArgumentError(`${WHERE}: two documents have the id ${describe(id)}`);
    this.found.add(id);
    checkOption(WHERE, `text of the document ${describe(id)}`, text, STRING);
  }

  private split(document: Document): PendingDocument | undefined {
    const { id } = document;
    const hash = documentHash(document);
    if (this.stored.isUnchanged(id, hash)) {
      this.listener.unchanged(id);
      return undefined;
    }
    const { splitter, fingerprint } = this.settings;
    const chunks = chunksOf(document, splitter, { documentHash: hash, fingerprint });
    return { id, chunks, isStored: this.stored.has(id) };
  }
}
