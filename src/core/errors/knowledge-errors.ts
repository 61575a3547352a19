import { AdvisorChainError } from './advisor-chain-error.js';

/** Result of an ingest: numbers of documents, and those that failed. */
export interface IngestReport {
  /** Documents that the namespace did not have. */
  readonly added: number;
  /** Documents whose text or metadata had changed. */
  readonly changed: number;
  readonly unchanged: number;
  /** Documents without text, which have no chunk, such as a scanned PDF. */
  readonly empty: number;
  /** Documents that the source no longer has. */
  readonly deleted: number;
  /** Documents whose previous chunks, if there were any, are unchanged. */
  readonly failed: readonly FailedDocument[];
  /** Number of chunks that were written. */
  readonly chunks: number;
  /** Number of texts that the embedding model was asked for. */
  readonly embedded: number;
}

/** A document that could not be ingested. */
export interface FailedDocument {
  readonly id: string;
  readonly error: unknown;
}

/** Facts about an ingest that ended early. */
export interface FailedIngest {
  /**
   * `settings`: the namespace has chunks of another splitter or embedding model; `source`: the source
   * threw; `failures`: more documents failed than `maxFailures`.
   */
  readonly reason: 'settings' | 'source' | 'failures';
  /** Documents until then, which are stored. */
  readonly report: IngestReport;
  /** The error of the source, or of the last document. */
  readonly cause?: unknown;
}

/** An ingest ended early; no document was deleted because it is missing. See {@link reason}. */
export class IngestError extends AdvisorChainError {
  override name = 'IngestError';
  readonly code = 'ingest';
  readonly reason: FailedIngest['reason'];
  readonly report: IngestReport;

  constructor(message: string, { reason, report, cause }: FailedIngest) {
    super(message, cause === undefined ? {} : { cause });
    this.reason = reason;
    this.report = report;
  }
}

/** Facts about a file that could not be read. */
export interface FailedReading {
  /** Id of the document that was to be made. */
  readonly documentId: string;
  /** Format of the reader, such as `pdf`. */
  readonly format: string;
  /**
   * `broken`: no valid file of the format; `too-large`: more than `maxBytes` or `maxCharacters`, or
   * compressed beyond measure; `password`: encrypted.
   */
  readonly reason: 'broken' | 'too-large' | 'password';
  readonly cause?: unknown;
}

/** A file could not be read as a document: see {@link reason}. */
export class DocumentReadError extends AdvisorChainError {
  override name = 'DocumentReadError';
  readonly code = 'document_read';
  readonly documentId: string;
  readonly format: string;
  readonly reason: FailedReading['reason'];

  constructor(message: string, { documentId, format, reason, cause }: FailedReading) {
    super(message, cause === undefined ? {} : { cause });
    this.documentId = documentId;
    this.format = format;
    this.reason = reason;
  }
}
