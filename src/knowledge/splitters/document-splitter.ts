import type { Document } from '../../core/chat/document.js';

/** Splits documents into chunks. Stateless: one object can serve concurrent requests. */
export interface DocumentSplitter {
  /** Name with all settings: a splitter with another one makes other chunks. */
  readonly fingerprint: string;
  /** The chunks in the order of the text; white space alone makes none. */
  split(document: Document): readonly Document[];
}
