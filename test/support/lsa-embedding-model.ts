import type {
  EmbeddingModel,
  EmbeddingResponse,
} from '../../src/stores/vectors/embedding-model.js';
import { STOP_WORDS, stem } from '../../src/stores/texts/terms.js';
import { Random } from './random.js';

/** Number of factors, as in the measurements of Deerwester et al. (1990). */
const FACTORS = 100;
/** Rounds of the iteration; more of them change no rank of note. */
const ROUNDS = 3;

/** Weights of the words of a text, of length 1: log tf-idf. */
type WordWeights = ReadonlyMap<number, number>;

/**
 * Embeds texts by latent semantic analysis of a corpus: words that occur in the same texts have near directions. It is
 * deterministic and needs no network, and as good as a keyword search where texts are long enough to learn from.
 */
export class LsaEmbeddingModel implements EmbeddingModel {
  private readonly wordIds = new Map<string, number>();
  private readonly idf: number[] = [];
  /** The factors of each word, one word after another. */
  private readonly factors: Float64Array;

  constructor(corpus: readonly string[]) {
    const frequencies = new Map<string, number>();
    for (const text of corpus)
      for (const word of new Set(wordsOf(text)))
        frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
    for (const [word, frequency] of frequencies) {
      this.wordIds.set(word, this.idf.length);
      this.idf.push(Math.log(corpus.length / frequency));
    }
    this.factors = mainFactors(
      corpus.map((text) => this.weigh(text)),
      this.idf.length,
    );
  }

  async embed(texts: readonly string[]): Promise<EmbeddingResponse> {
    const vectors = texts.map((text) =>
      Float32Array.from(projected(this.weigh(text), this.factors)),
    );
    return { vectors, usage: undefined, model: 'lsa' };
  }

  private weigh(text: string): WordWeights {
    const counts = new Map<number, number>();
    for (const word of wordsOf(text)) {
      const id = this.wordIds.get(word);
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    for (const [id, count] of counts) counts.set(id, (1 + Math.log(count)) * (this.idf[id] ?? 0));
    const length = Math.hypot(...counts.values()) || 1;
    for (const [id, weight] of counts) counts.set(id, weight / length);
    return counts;
  }
}

function wordsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !STOP_WORDS.has(word)).map(stem);
}

/** The main right singular vectors of the texts, by subspace iteration from random directions. */
function mainFactors(texts: readonly WordWeights[], words: number): Float64Array {
  const random = new Random(1990);
  let factors = Float64Array.from({ length: words * FACTORS }, () => random.next() - 0.5);
  for (let round = 0; round < ROUNDS; round++) {
    const next = new Float64Array(words * FACTORS);
    for (const text of texts) {
      const place = projected(text, factors);
      for (const [id, weight] of text)
        for (let at = 0; at < FACTORS; at++)
          next[id * FACTORS + at] =
            (next[id * FACTORS + at] as number) + weight * (place[at] as number);
    }
    orthonormalize(next, words);
    factors = next;
  }
  return factors;
}

function projected(text: WordWeights, factors: Float64Array): Float64Array {
  const place = new Float64Array(FACTORS);
  for (const [id, weight] of text)
    for (let at = 0; at < FACTORS; at++)
      place[at] = (place[at] as number) + weight * (factors[id * FACTORS + at] as number);
  return place;
}

/** Makes the factors perpendicular, and each of length 1 (Gram and Schmidt). */
function orthonormalize(factors: Float64Array, words: number): void {
  const columns = Array.from({ length: FACTORS }, (_, at) =>
    Float64Array.from({ length: words }, (_none, id) => factors[id * FACTORS + at] as number),
  );
  for (const [at, column] of columns.entries()) {
    for (const other of columns.slice(0, at)) add(column, other, -product(column, other));
    const length = Math.sqrt(product(column, column)) || 1;
    for (let id = 0; id < words; id++)
      factors[id * FACTORS + at] = column[id] = (column[id] as number) / length;
  }
}

function product(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] as number) * (other[at] as number);
  return sum;
}

function add(one: Float64Array, other: Float64Array, factor: number): void {
  for (let at = 0; at < one.length; at++)
    one[at] = (one[at] as number) + factor * (other[at] as number);
}
