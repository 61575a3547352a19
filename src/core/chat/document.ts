/** A value of a document's metadata. */
export type MetadataValue = Scalar | readonly Scalar[];

/** A single value of a document's metadata. */
export type Scalar = string | number | boolean;

/** Facts about a document, for filters and citations, such as its title, address, page or language. */
export type DocumentMetadata = Readonly<Record<string, MetadataValue>>;

/** A text that can be found: a file, a page, a memory, or a chunk of one. */
export interface Document {
  /** Unique within its namespace. */
  readonly id: string;
  readonly text: string;
  /** @default none */
  readonly metadata?: DocumentMetadata | undefined;
  /** Relevance to the query that found it; higher is better, comparable within one result only. */
  readonly score?: number | undefined;
  /** Embedding of the text; of a document that a vector store receives. */
  readonly vector?: Float32Array | undefined;
}
