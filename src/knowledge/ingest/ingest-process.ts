import { ModelCallError, IngestError, type FailedIngest } from '../../core/errors/errors.js';
import { reasonOf } from '../../core/errors/describe.js';
import { cancelledError, type Cancellable } from '../../core/internal/cancellation.js';
import { embedInRun, type Vector } from '../../stores/vectors/embedding-model.js';
import { contentHash } from './document-chunks.js';
import type { IngestProgress } from './ingest-progress.js';
import type { DocumentSource, IngestSettings } from './ingest-options.js';
import { SourceBatches, type PendingDocument } from './source-batches.js';
import { anyOf, otherFingerprint, StoredDocuments } from './stored-documents.js';

/** Vectors by the hash of the content. */
type Vectors = Map<string, Vector>;

/** One ingest: compares a source with a namespace, and writes what differs. */
export class IngestProcess {
  private hasWritten = false;
  /** Ends all workers. */
  private failure: { readonly error: unknown } | undefined;

  constructor(
    private readonly settings: IngestSettings,
    private readonly progress: IngestProgress,
    private readonly cancellation: Cancellable,
  ) {}

  /**
   * @throws {@link IngestError}, {@link CancelledError}, and errors of the store while it lists or
   * deletes
   */
  async run(source: DocumentSource): Promise<void> {
    const stored = await this.stored();
    const { progress } = this;
    const batches = new SourceBatches(source, this.settings, stored, {
      unchanged: (id) => progress.count(id, 'unchanged'),
      failed: (id, error) => this.fail(id, error),
    });
    const release = this.cancellation.onCancel(() => batches.close());
    try {
      const workers = Array.from({ length: this.settings.concurrency }, () =>
        this.work(batches, stored),
      );
      await Promise.all(workers);
    } finally {
      release();
      batches.close();
    }
    this.throwIfEnded();
    if (batches.failure) throw this.sourceError(batches.failure.cause);
    await this.checkOthers();
    if (this.settings.removeMissing)
      await stored.deleteMissing(
        batches.found,
        () => this.isEnded,
        (id) => progress.count(id, 'deleted'),
      );
    this.throwIfEnded();
  }

  private get isEnded(): boolean {
    return this.failure !== undefined || this.cancellation.cancelled;
  }

  private throwIfEnded(): void {
    if (this.failure) throw this.failure.error;
    if (this.cancellation.cancelled) throw cancelledError();
  }

  /** The documents that the namespace has, all with the settings of this ingest. */
  private async stored(): Promise<StoredDocuments> {
    const stored = await StoredDocuments.read(this.settings);
    this.throwIfEnded();
    const [other] = stored.otherFingerprints;
    if (other === undefined) return stored;
    if (!this.settings.rebuild)
      throw this.settingsError(other, 'Ingest with rebuild: true, or into another namespace.');
    await stored.deleteOthers();
    return stored;
  }

  /** Of two ingests that both found the namespace empty, the one that writes last finds the chunks of the other. */
  private async checkOthers(): Promise<void> {
    const other = this.hasWritten ? await otherFingerprint(this.settings) : undefined;
    this.throwIfEnded();
    if (other === undefined) return;
    const advice =
      'Another ingest has written them meanwhile: when it has ended, ingest with rebuild: true, or into another namespace.';
    throw this.settingsError(other, advice);
  }

  private async work(batches: SourceBatches, stored: StoredDocuments): Promise<void> {
    try {
      while (!this.isEnded) {
        const batch = await batches.next();
        if (batch.length === 0 || this.isEnded) return;
        const ids = batch.filter(({ isStored }) => isStored).map(({ id }) => id);
        const { embeddingModel } = this.settings;
        const vectors: Vectors = embeddingModel ? await stored.vectorsOf(ids) : new Map();
        await this.attempt(batch, vectors);
      }
    } catch (error) {
      this.failure ??= { error };
      batches.close();
    }
  }

  /** Writes documents together, and if that fails each alone: one document must not fail others. */
  private async attempt(batch: readonly PendingDocument[], vectors: Vectors): Promise<void> {
    const [first, ...others] = batch;
    if (!first || this.isEnded) return;
    try {
      await this.write(batch, vectors);
    } catch (error) {
      if (this.isEnded) return;
      if (others.length === 0) return this.fail(first.id, error);
      for (const document of batch) await this.attempt([document], vectors);
    }
  }

  private async write(batch: readonly PendingDocument[], vectors: Vectors): Promise<void> {
    await this.embed(batch, vectors);
    if (this.isEnded) return;
    const { store, namespace } = this.settings;
    const filled = batch.filter(({ chunks }) => chunks.length > 0);
    const emptied = batch.filter(({ chunks, isStored }) => chunks.length === 0 && isStored);
    const documents = filled.flatMap(({ chunks }) =>
      chunks.map(({ document }) => {
        const vector = vectors.get(contentHash(document.id));
        return vector ? { ...document, vector } : document;
      }),
    );
    if (emptied.length > 0) await store.delete(namespace, anyOf(emptied.map(({ id }) => id)));
    if (documents.length > 0) {
      const replaces = anyOf(filled.map(({ id }) => id));
      this.hasWritten = true;
      await store.upsert(namespace, documents, { replaces, signal: this.cancellation.signal });
    }
    for (const { id, chunks, isStored } of batch) {
      const outcome = isStored ? 'changed' : 'added';
      this.progress.count(id, chunks.length === 0 ? 'empty' : outcome, chunks.length);
    }
  }

  /** Adds the vectors that are missing. */
  private async embed(batch: readonly PendingDocument[], vectors: Vectors): Promise<void> {
    const { embeddingModel, batchSize } = this.settings;
    if (!embeddingModel) return;
    const missing = new Map<string, string>();
    for (const { document, embeddedText } of batch.flatMap(({ chunks }) => chunks)) {
      const hash = contentHash(document.id);
      if (!vectors.has(hash)) missing.set(hash, embeddedText);
    }
    const hashes = [...missing.keys()];
    const { signal } = this.cancellation;
    for (let start = 0; start < hashes.length && !this.isEnded; start += batchSize) {
      const part = hashes.slice(start, start + batchSize);
      const texts = part.map((hash) => missing.get(hash) as string);
      this.progress.countEmbedded(texts.length);
      const response = await embedInRun(embeddingModel, texts, { signal });
      if (response.vectors.length !== texts.length)
        throw new ModelCallError(
          `The embedding model returned ${response.vectors.length} vectors for ${texts.length} texts.`,
        );
      for (const [at, hash] of part.entries()) vectors.set(hash, response.vectors[at] as Vector);
    }
  }

  /** @throws {@link IngestError} if too many documents have failed */
  private fail(id: string, error: unknown): void {
    const failures = this.progress.fail(id, error);
    if (failures <= this.settings.maxFailures) return;
    const message = `${failures} documents could not be ingested, the last one because: ${reasonOf(error)}`;
    throw this.errorOf(message, { reason: 'failures', cause: error });
  }

  private settingsError(other: string, advice: string): IngestError {
    const { namespace, fingerprint } = this.settings;
    const message = `The namespace "${namespace}" has chunks of "${other}", not of "${fingerprint}"; the two would not be comparable. ${advice}`;
    return this.errorOf(message, { reason: 'settings' });
  }

  private sourceError(cause: unknown): IngestError {
    const message = `The source failed: ${reasonOf(cause)}. The documents before are stored; ingest again to continue.`;
    return this.errorOf(message, { reason: 'source', cause });
  }

  private errorOf(message: string, facts: Omit<FailedIngest, 'report'>): IngestError {
    return new IngestError(message, { ...facts, report: this.progress.report() });
  }
}
