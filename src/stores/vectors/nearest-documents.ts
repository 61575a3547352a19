import type { Document } from '../../core/chat/document.js';
import type { Vector } from './embedding-model.js';
import type { FilterMatcher } from './filter.js';
import type { VectorChunk } from './vector-table.js';

/** A search: where to, how many, and which documents count. */
export interface Nearest {
  /** Of length 1, as all vectors of the chunks. */
  readonly vector: Vector;
  readonly topK: number;
  readonly minScore: number;
  /** @default all */
  readonly matches: FilterMatcher | undefined;
}

interface Candidate {
  readonly document: Document;
  readonly score: number;
}

/** The best documents of the chunks that were searched so far; equal scores are in the order of their rows. */
export class NearestDocuments {
  private readonly best: Candidate[] = [];
  /** A lower score, or an equal one that comes later, is not among the best. */
  private worst = -Infinity;

  constructor(private readonly nearest: Nearest) {}

  search({ vectors, documents }: VectorChunk): void {
    const { vector, minScore, matches } = this.nearest;
    const rows: number[] = [];
    for (let row = 0; row < documents.length; row++) {
      const document = documents[row];
      if (document && (!matches || matches(document.metadata))) rows.push(row);
    }
    const products = dotProducts(vectors, rows, vector);
    for (const [at, row] of rows.entries()) {
      const score = Math.max(-1, Math.min(1, products[at] as number)); // rounding may exceed 1
      if (score > this.worst && score >= minScore)
        this.add({ document: documents[row] as Document, score });
    }
  }

  /** Best first. */
  get documents(): readonly Document[] {
    this.dropWorst();
    return this.best.map(({ document, score }) => ({ ...document, score }));
  }

  private add(candidate: Candidate): void {
    this.best.push(candidate);
    const { topK } = this.nearest;
    if (this.best.length < topK * 2) return;
    this.dropWorst();
    this.worst = this.best.at(-1)?.score ?? this.worst;
  }

  private dropWorst(): void {
    // the sort is stable
    this.best.sort((a, b) => b.score - a.score).splice(this.nearest.topK);
  }
}

/**
 * Products of a vector with the vectors of rows: of four rows together, as a processor adds to their sums
 * at the same time. Each row has one sum, so that equal vectors have equal products.
 */
function dotProducts(vectors: Float32Array, rows: readonly number[], vector: Vector): Float64Array {
  const { length } = vector;
  const products = new Float64Array(rows.length + 3); // the last four may have fewer rows
  for (let at = 0; at < rows.length; at += 4) {
    const first = (rows[at] as number) * length;
    const second = (rows[at + 1] ?? 0) * length;
    const third = (rows[at + 2] ?? 0) * length;
    const fourth = (rows[at + 3] ?? 0) * length;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let index = 0; index < length; index++) {
      const value = vector[index] as number;
      a += (vectors[first + index] as number) * value;
      b += (vectors[second + index] as number) * value;
      c += (vectors[third + index] as number) * value;
      d += (vectors[fourth + index] as number) * value;
    }
    products.set([a, b, c, d], at);
  }
  return products;
}
