import type { FailedDocument, IngestReport } from '../../core/errors/errors.js';

/** Fate of a document in an ingest. */
export type DocumentOutcome = 'added' | 'changed' | 'unchanged' | 'empty' | 'deleted' | 'failed';

/** Progress of an ingest; the last event is the report. */
export type IngestEvent =
  | {
      readonly type: 'document';
      readonly id: string;
      readonly outcome: DocumentOutcome;
      /** Number of chunks that were written. */
      readonly chunks: number;
      /** Reason of a failure. */
      readonly error?: unknown;
    }
  | { readonly type: 'report'; readonly report: IngestReport };

/** Counts documents, and emits an event for each. */
export class IngestProgress {
  private readonly counts = { added: 0, changed: 0, unchanged: 0, empty: 0, deleted: 0 };
  private readonly failed: FailedDocument[] = [];
  private chunks = 0;
  private embedded = 0;

  constructor(private readonly emit: (event: IngestEvent) => void) {}

  count(id: string, outcome: Exclude<DocumentOutcome, 'failed'>, chunks = 0): void {
    this.counts[outcome]++;
    this.chunks += chunks;
    this.emit({ type: 'document', id, outcome, chunks });
  }

  /** Returns the number of failures so far. */
  fail(id: string, error: unknown): number {
    this.failed.push({ id, error });
    this.emit({ type: 'document', id, outcome: 'failed', chunks: 0, error });
    return this.failed.length;
  }

  countEmbedded(texts: number): void {
    this.embedded += texts;
  }

  report(): IngestReport {
    const { counts, failed, chunks, embedded } = this;
    return { ...counts, failed: [...failed], chunks, embedded };
  }
}
