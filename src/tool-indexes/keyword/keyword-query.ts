import { termsOf } from './terms.js';

/** The words of a query. */
export interface KeywordQuery {
  /** Each word once. */
  readonly words: readonly string[];
  /** Words of each sentence, as indexes of {@link words}: a sentence mostly asks for one tool. */
  readonly sentences: readonly (readonly number[])[];
  /** Neighbouring words. */
  readonly pairs: readonly (readonly [string, string])[];
}

// Bounds for queries of models and users, beyond the length of any request.
const MAX_CHARACTERS = 8_000;
const MAX_WORDS = 200;

const SENTENCE_END = /[.!?;\n](?=\s|$)|[。！？；]/u;

/** Reads a query, which may have no words; stop words count only in a query without other words. */
export function readQuery(query: string): KeywordQuery {
  const texts = query.slice(0, MAX_CHARACTERS).split(SENTENCE_END).map(termsOf);
  const hasWords = texts.some(({ words }) => words.length > 0);
  const terms = texts.map(({ words, stopWords, compounds }) => [
    ...(hasWords ? words : stopWords),
    ...compounds,
  ]);
  const words = [...new Set(terms.flat())].slice(0, MAX_WORDS);
  const indexes = new Map(words.map((word, index) => [word, index]));
  const sentences = terms
    .map((inSentence) => [...new Set(inSentence.flatMap((term) => indexes.get(term) ?? []))])
    .filter((sentence) => sentence.length > 0);
  const pairs = texts.flatMap(({ words }) =>
    words.slice(1).map((word, at) => [words[at] as string, word] as const),
  );
  return { words, sentences, pairs };
}

// BM25+ (Robertson and Zaragoza 2009; Lv and Zhai 2011).
/** Saturation of repeated words. */
const K1 = 1.6;
/** Penalty for long definitions, 0 to 1. */
const B = 0.75;
/** Minimum contribution of a word, however long the definition is. */
const DELTA = 0.3;

/** Inverse document frequency: rare words count more. */
export function idf(toolsWithWord: number, tools: number): number {
  return Math.log(1 + (tools - toolsWithWord + 0.5) / (toolsWithWord + 0.5));
}

/** Contribution of a word by its weight; `relativeLength` is 1 for a definition of average length. */
export function termFrequencyWeight(weight: number, relativeLength: number): number {
  return (weight * (K1 + 1)) / (weight + K1 * (1 - B) + K1 * B * relativeLength) + DELTA;
}

interface Scored {
  readonly id: number;
  readonly score: number;
}

/** Collects the highest scores, ties by lower id; holds at most twice as many as requested. */
export class TopScores {
  private kept: Scored[] = [];
  private lowest = -Infinity;

  constructor(private readonly count: number) {}

  offer(id: number, score: number): void {
    if (score < this.lowest) return;
    this.kept.push({ id, score });
    if (this.kept.length >= 2 * this.count) this.prune();
  }

  /** Highest score first. */
  toArray(): readonly Scored[] {
    this.prune();
    return this.kept;
  }

  private prune(): void {
    this.kept = this.kept.sort((a, b) => b.score - a.score || a.id - b.id).slice(0, this.count);
    if (this.kept.length === this.count) this.lowest = (this.kept.at(-1) as Scored).score;
  }
}
