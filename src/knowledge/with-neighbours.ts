import type { Document } from '../core/chat/document.js';
import { cancellationOf, untilCancelled } from '../core/internal/cancellation.js';
import { checkOptions, integer, required, withMethods } from '../core/internal/options.js';
import type { DocumentStore } from '../stores/vectors/document-store.js';
import type { Filter } from '../stores/vectors/filter.js';
import type { DocumentPostProcessor, Query } from './query.js';

/** Options of {@link withNeighbours}. */
export interface NeighboursOptions {
  /** The store of the chunks. */
  readonly store: Pick<DocumentStore, 'list'>;
  /** Maximum number of chunks that are added before a chunk, an integer >= 0. @default 1 */
  readonly before?: number | undefined;
  /** Maximum number of chunks that are added after a chunk, an integer >= 0. @default 1 */
  readonly after?: number | undefined;
}

const RULES = {
  store: required(withMethods('a DocumentStore with list', 'list')),
  before: integer(0),
  after: integer(0),
};

/** A chunk by its metadata. */
interface Chunk {
  readonly found: Document;
  /** Id of its document. */
  readonly document: string;
  /** Number in its document. */
  readonly chunk: number;
}

/**
 * Adds the chunks around each chunk that was found, by its metadata `document` and `chunk`, in one
 * request to the store: of the namespace of the query, and within its filter. Chunks of one document
 * that follow each other become one document, with the id, score and place in the list of the best of
 * them, and with `start` and `end` of the whole. Other documents are unchanged.
 *
 * The post-processor rejects with the error of the store, or {@link CancelledError}.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function withNeighbours(options: NeighboursOptions): DocumentPostProcessor {
  checkOptions('withNeighbours', options, RULES);
  const { store, before = 1, after = 1 } = options;
  return async (documents, query) => {
    const found = documents.flatMap(toChunk);
    if (found.length === 0) return documents;
    const or = found.map(({ document, chunk }) => {
      return { document, chunk: { gte: chunk - before, lte: chunk + after } };
    });
    const listed = await list(store, query, { or });
    const texts = new ChunkTexts([...listed.flatMap(toChunk), ...found]);
    return documents.flatMap((each) => {
      const [chunk] = toChunk(each);
      return chunk ? texts.takeAround(chunk) : each;
    });
  };
}

function list(
  store: NeighboursOptions['store'],
  { namespace, filter, signal }: Query,
  around: Filter,
): Promise<readonly Document[]> {
  const listed = store.list(namespace, { filter: filter ? { and: [filter, around] } : around });
  return untilCancelled(listed, cancellationOf(signal));
}

function toChunk(found: Document): readonly Chunk[] {
  const { document, chunk } = found.metadata ?? {};
  return typeof document === 'string' && typeof chunk === 'number'
    ? [{ found, document, chunk }]
    : [];
}

/** Chunks by their document and number, each of which is taken once. */
class ChunkTexts {
  private readonly documents = new Map<string, Map<number, Document>>();

  /** @param chunks of equal ones the last counts */
  constructor(chunks: readonly Chunk[]) {
    for (const { found, document, chunk } of chunks) {
      const ofDocument = this.documents.get(document) ?? new Map<number, Document>();
      this.documents.set(document, ofDocument.set(chunk, found));
    }
  }

  /** A chunk with all chunks around it that follow each other; nothing if it was taken before. */
  takeAround({ found, document, chunk }: Chunk): readonly Document[] {
    const chunks = this.documents.get(document);
    if (!chunks?.has(chunk)) return [];
    let first = chunk;
    while (chunks.has(first - 1)) first--;
    const parts: Document[] = [];
    for (let part = chunks.get(first); part; part = chunks.get(first)) {
      parts.push(part);
      chunks.delete(first++);
    }
    return [merged(found, parts)];
  }
}

/** Chunks that follow each other as one document. */
function merged(found: Document, parts: readonly Document[]): Document {
  if (parts.length === 1) return found;
  const { start: _start, end: _end, ...metadata } = found.metadata ?? {};
  const placed = parts.flatMap(toPlaced);
  const [first] = placed;
  if (!first || placed.length < parts.length)
    return { ...found, text: parts.map(({ text }) => text).join('\n'), metadata };
  let [text, end] = ['', first.start];
  for (const part of placed) {
    text += '\n'.repeat(Math.min(Math.max(part.start - end, 0), MAX_GAP));
    text += part.text.slice(Math.max(end - part.start, 0)); // chunks may overlap
    end = Math.max(end, part.end);
  }
  return { ...found, text, metadata: { ...metadata, start: first.start, end } };
}

/** Maximum length of the white space in place of a text between two chunks that no chunk has. */
const MAX_GAP = 8;

/** A chunk with its offsets, unless its text was changed. */
function toPlaced({ text, metadata = {} }: Document) {
  const { start, end } = metadata;
  const isPlaced = typeof start === 'number' && typeof end === 'number';
  return isPlaced && end - start === text.length ? [{ text, start, end }] : [];
}
