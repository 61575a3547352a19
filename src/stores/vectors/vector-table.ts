import type { Document } from '../../core/chat/document.js';
import { compareTexts } from './compare-texts.js';
import type { Vector } from './embedding-model.js';
import type { FilterMatcher } from './filter.js';
import type { ListedDocuments } from './page-of.js';

/** Rows that follow each other, and their vectors as contiguous numbers. */
export interface VectorChunk {
  vectors: Float32Array;
  /** By row of the chunk; undefined for a deleted one. */
  readonly documents: (Document | undefined)[];
  /** A search reads it between tasks: it is copied before it changes. */
  isShared: boolean;
}

const MAX_ROWS = 4_096;
/** Numbers of a chunk: some milliseconds of a search. */
const MAX_NUMBERS = 2 ** 21;
const MIN_ROWS = 4;
/** Deleted rows that are not worth a copy of the others. */
const MIN_DELETED = 8;

/** Documents of one namespace with their vectors, in insertion order. */
export class VectorTable implements ListedDocuments {
  private current: VectorChunk[] = [];
  private readonly rowsPerChunk: number;
  /** By id. */
  private readonly rows = new Map<string, number>();
  /** Number of rows, also of deleted ones. */
  private length = 0;
  /** Undefined after a change. */
  private sorted: readonly string[] | undefined;

  constructor(readonly dimensions: number) {
    this.rowsPerChunk = Math.max(1, Math.min(MAX_ROWS, Math.floor(MAX_NUMBERS / dimensions)));
  }

  get size(): number {
    return this.rows.size;
  }

  get chunks(): readonly VectorChunk[] {
    return this.current;
  }

  ids(): Iterable<string> {
    return this.rows.keys();
  }

  sortedIds(): readonly string[] {
    return (this.sorted ??= [...this.ids()].sort(compareTexts));
  }

  /** The ids of documents that a filter accepts. */
  accepted(matches: FilterMatcher): readonly string[] {
    const ids: string[] = [];
    for (const { documents } of this.current)
      for (const each of documents) if (each && matches(each.metadata)) ids.push(each.id);
    return ids;
  }

  get(id: string): Document | undefined {
    const row = this.rows.get(id);
    return row === undefined ? undefined : this.chunkOf(row)?.documents[row % this.rowsPerChunk];
  }

  /** A copy of the vector of a document. */
  vectorOf(id: string): Vector | undefined {
    const row = this.rows.get(id);
    if (row === undefined) return undefined;
    const start = (row % this.rowsPerChunk) * this.dimensions;
    return this.chunkOf(row)?.vectors.slice(start, start + this.dimensions);
  }

  /** Adds a document as the last one, or replaces the one with its id in its place. */
  set(document: Document, vector: Vector): void {
    const row = this.rows.get(document.id) ?? this.length++;
    this.rows.set(document.id, row);
    this.sorted = undefined;
    const at = row % this.rowsPerChunk;
    const chunk = this.writableChunk(row);
    this.makeRoom(chunk, at);
    chunk.vectors.set(vector, at * this.dimensions);
    chunk.documents[at] = document;
  }

  delete(id: string): void {
    const row = this.rows.get(id);
    if (row === undefined) return;
    this.rows.delete(id);
    this.sorted = undefined;
    this.writableChunk(row).documents[row % this.rowsPerChunk] = undefined;
    if (this.length - this.size > Math.max(this.size, MIN_DELETED)) this.compact();
  }

  private chunkOf(row: number): VectorChunk | undefined {
    return this.current[Math.floor(row / this.rowsPerChunk)];
  }

  private writableChunk(row: number): VectorChunk {
    const known = this.chunkOf(row);
    if (known && !known.isShared) return known;
    const { vectors = new Float32Array(), documents = [] } = known ?? {};
    const copy = { vectors: vectors.slice(), documents: documents.slice(), isShared: false };
    this.current[Math.floor(row / this.rowsPerChunk)] = copy;
    return copy;
  }

  /** Doubles a chunk, so that a small namespace stays small. */
  private makeRoom(chunk: VectorChunk, row: number): void {
    const { vectors } = chunk;
    if ((row + 1) * this.dimensions <= vectors.length) return;
    const rows = Math.min(this.rowsPerChunk, Math.max(MIN_ROWS, row * 2));
    chunk.vectors = new Float32Array(rows * this.dimensions);
    chunk.vectors.set(vectors);
  }

  /** Moves the rows together. */
  private compact(): void {
    const { chunks } = this;
    this.current = [];
    this.length = 0;
    this.rows.clear();
    for (const { vectors, documents } of chunks)
      for (const [at, document] of documents.entries()) {
        const start = at * this.dimensions;
        if (document) this.set(document, vectors.subarray(start, start + this.dimensions));
      }
  }
}
