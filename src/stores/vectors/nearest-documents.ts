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
    for (let row = 0; row < documents.length; row++) {
      const document = documents[row];
      if (!document || (matches && !matches(document.metadata))) continue;
      const score = dotProduct(vectors, row * vector.length, vector);
      if (score > this.worst && score >= minScore) this.add({ document, score });
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

/** Four sums, as a processor adds them at the same time. */
function dotProduct(vectors: Float32Array, start: number, vector: Vector): number {
  const { length } = vector;
  let [a, b, c, d] = [0, 0, 0, 0];
  let at = 0;
  for (; at + 3 < length; at += 4) {
    const from = start + at;
    a += (vectors[from] as number) * (vector[at] as number);
    b += (vectors[from + 1] as number) * (vector[at + 1] as number);
    c += (vectors[from + 2] as number) * (vector[at + 2] as number);
    d += (vectors[from + 3] as number) * (vector[at + 3] as number);
  }
  for (; at < length; at++) a += (vectors[start + at] as number) * (vector[at] as number);
  return Math.max(-1, Math.min(1, a + b + c + d)); // rounding may exceed 1
}
