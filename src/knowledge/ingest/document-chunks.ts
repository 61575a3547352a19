import type { Document, DocumentMetadata } from '../../core/chat/document.js';
import { canonicalJson, type JsonValue } from '../../core/internal/json.js';
import { sha256Hex } from '../../core/internal/text.js';
import { storableText } from '../../stores/vectors/storable.js';
import type { DocumentSplitter } from '../splitters/document-splitter.js';

/** Characters of a hash in an id: 128 bits. */
const HASH = 32;
/** Characters of the hash of the document's id: 64 bits. */
const DOCUMENT_HASH = 16;

/** A chunk for the store, and the text that is embedded. */
export interface Chunk {
  readonly document: Document;
  readonly embeddedText: string;
}

/** A document as stores keep it: U+FFFD in place of NUL and of unpaired surrogates; places stay. */
export function storable(document: Document): Document {
  const { id, text, metadata } = document;
  return { id, text: storableText(text), metadata };
}

/** Hash of the text and the metadata of a document. */
export function documentHash({ text, metadata = {} }: Document): string {
  return sha256Hex(canonicalJson({ text, metadata } as unknown as JsonValue)).slice(0, HASH);
}

/**
 * The chunks of a document. The id of a chunk contains the hash of what is embedded, so that an unchanged
 * chunk of a changed document keeps its id and its vector.
 */
export function chunksOf(
  document: Document,
  splitter: DocumentSplitter,
  shared: DocumentMetadata,
): readonly Chunk[] {
  const prefix = sha256Hex(document.id).slice(0, DOCUMENT_HASH);
  const counts = new Map<string, number>();
  return splitter.split(document).map(({ text, metadata }, chunk) => {
    const embeddedText = withHeadings(text, metadata);
    const hash = sha256Hex(embeddedText).slice(0, HASH);
    const count = (counts.get(hash) ?? 0) + 1;
    counts.set(hash, count);
    const id = `${prefix}-${hash}${count > 1 ? `-${count}` : ''}`;
    const all = { ...metadata, ...shared, document: document.id, chunk };
    return { document: { id, text, metadata: all }, embeddedText };
  });
}

/** The hash of the embedded text in the id of a chunk. */
export function contentHash(id: string): string {
  return id.slice(DOCUMENT_HASH + 1, DOCUMENT_HASH + 1 + HASH);
}

/** A text below the title of its document and its headings: alone it often lacks its topic. */
function withHeadings(text: string, { title, headings }: DocumentMetadata = {}): string {
  const above = [title, ...(typeof headings === 'object' ? headings : [])].filter(
    (each) => typeof each === 'string' && each !== '',
  );
  return above.length === 0 ? text : `${[...new Set(above)].join(' > ')}\n\n${text}`;
}
