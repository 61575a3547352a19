import {
  BOOLEAN,
  checkOption,
  checkOptions,
  integer,
  integerOrInfinity,
  required,
  rule,
  TEXT,
  withMethods,
  hasMethods,
  type OptionRules,
} from '../../core/internal/options.js';
import type { Document } from '../../core/chat/document.js';
import type { DocumentStore } from '../../stores/vectors/document-store.js';
import type { EmbeddingModel } from '../../stores/vectors/embedding-model.js';
import type { DocumentSplitter } from '../splitters/document-splitter.js';
import { TextSplitter } from '../splitters/text-splitter.js';

/** Documents to ingest; read once for each ingest, one by one. */
export type DocumentSource = Iterable<Document> | AsyncIterable<Document>;

/** Options of {@link ingest}. */
export interface IngestOptions {
  readonly store: DocumentStore;
  /** The namespace, which ingests of other sources must not share unless `removeMissing` is false. */
  readonly namespace: string;
  /** Embeds the chunks; required by a vector store. Its `id` is kept with them. @default none */
  readonly embeddingModel?: EmbeddingModel | undefined;
  /** @default new TextSplitter() */
  readonly splitter?: DocumentSplitter | undefined;
  /** Deletes documents that the source no longer has, once it was read to its end. @default true */
  readonly removeMissing?: boolean | undefined;
  /**
   * Deletes the chunks of another splitter or embedding model before the first document, in place of an
   * {@link IngestError}. @default false
   */
  readonly rebuild?: boolean | undefined;
  /** Maximum number of texts in a request to the embedding model; an integer >= 1. @default 64 */
  readonly batchSize?: number | undefined;
  /** Maximum number of batches that are embedded and written at once; an integer >= 1. @default 4 */
  readonly concurrency?: number | undefined;
  /** Maximum number of documents that may fail; the next one ends the ingest. @default 10 */
  readonly maxFailures?: number | undefined;
  /** Ends the ingest. What is stored stays; the next ingest continues. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** Options with their defaults. */
export interface IngestSettings {
  readonly store: DocumentStore;
  readonly namespace: string;
  readonly embeddingModel: EmbeddingModel | undefined;
  readonly splitter: DocumentSplitter;
  readonly removeMissing: boolean;
  readonly rebuild: boolean;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly maxFailures: number;
  /** Splitter and embedding model; kept with each chunk. */
  readonly fingerprint: string;
}

export const WHERE = 'ingest';
const SPLITTER = rule(
  'a splitter, such as new TextSplitter()',
  (value) =>
    hasMethods(value, ['split']) &&
    TEXT.accepts((value as { readonly fingerprint?: unknown }).fingerprint),
);
const SOURCE = rule(
  'an iterable or async iterable of documents',
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    (Symbol.iterator in value || Symbol.asyncIterator in value),
);
const RULES: OptionRules<IngestOptions> = {
  store: required(withMethods('a document store', 'upsert', 'list', 'delete')),
  namespace: required(TEXT),
  embeddingModel: withMethods('an embedding model', 'embed'),
  splitter: SPLITTER,
  removeMissing: BOOLEAN,
  rebuild: BOOLEAN,
  batchSize: integer(1),
  concurrency: integer(1),
  maxFailures: integerOrInfinity(0),
  signal: withMethods('an AbortSignal', 'addEventListener'),
};
const MODEL_ID = rule('a non-blank string, which names model and dimensions', TEXT.accepts);

/** @throws {@link InvalidArgumentError} if an argument is missing, unknown or out of range */
export function settingsOf(source: DocumentSource, options: IngestOptions): IngestSettings {
  checkOption(WHERE, 'source', source, SOURCE);
  checkOptions(WHERE, options, RULES);
  const { store, namespace, embeddingModel, splitter = new TextSplitter() } = options;
  if (embeddingModel) checkOption(WHERE, 'embeddingModel.id', embeddingModel.id, MODEL_ID);
  const { removeMissing = true, rebuild = false } = options;
  const { batchSize = 64, concurrency = 4, maxFailures = 10 } = options;
  const parts = [splitter.fingerprint, embeddingModel?.id];
  const fingerprint = parts.filter((part) => part !== undefined).join(', ');
  const limits = { batchSize, concurrency, maxFailures };
  return {
    store,
    namespace,
    embeddingModel,
    splitter,
    removeMissing,
    rebuild,
    ...limits,
    fingerprint,
  };
}
