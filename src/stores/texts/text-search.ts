import { compareTexts } from '../vectors/compare-texts.js';
import type { FilterMatcher } from '../vectors/filter.js';
import { DOCUMENT_RANKING, documentFactor } from './document-ranking.js';
import { factorIn } from './postings.js';
import type { TextAnalyser } from './text-analyser.js';
import type { TextCorpus } from './text-corpus.js';
import { type Scored, TopScores } from './top-scores.js';

/** A word to search, with its weight. */
interface WeightedWord {
  readonly word: string;
  readonly weight: number;
}

const { feedback: FEEDBACK, feedbackDocuments, feedbackShare, feedbackWords } = DOCUMENT_RANKING;
/** Maximum number of characters of a question that are read, and of its different words. */
const MAX_CHARACTERS = 8_000;
const MAX_WORDS = 200;
/** Maximum number of different words of a document that are read for feedback. */
const MAX_FEEDBACK_WORDS = 1_000;
/** Postings that are read for a question, and again for feedback, rarest words first: bounds the time in a large corpus. */
const MAX_POSTINGS = 300_000;

/** A search in one corpus; its result depends on the documents in it alone. */
export class TextSearch {
  /** By slot; 0 for documents without a word of the question. */
  private readonly scores: Float64Array;
  private readonly saturations: Float64Array;

  constructor(
    private readonly corpus: TextCorpus,
    private readonly analyser: TextAnalyser,
    private readonly accepts: FilterMatcher | undefined,
  ) {
    this.saturations = corpus.saturations();
    this.scores = new Float64Array(this.saturations.length);
  }

  /**
   * The best documents with a word of the question, best first. A score is the share of the searched words that a
   * document has, weighed by their rarity, from 0 to 1. The best match of the question stays first; the others are
   * ranked by the words of the best three, too.
   */
  find(question: string, topK: number): readonly Scored[] {
    const asked = this.weigh(this.readQuestion(question));
    this.addScores(asked, -1);
    this.removeRefused();
    const matches = this.best(Math.max(topK, feedbackDocuments), totalOf(asked));
    const [first] = matches;
    if (!first) return [];
    const share = Math.ceil(feedbackShare * this.countMatches());
    const feedback = this.feedbackOf(matches.slice(0, Math.min(feedbackDocuments, share)));
    this.addScores(feedback, 0);
    const best = this.best(topK, totalOf(asked) + totalOf(feedback));
    const score = best[0]?.score ?? first.score;
    const others = best.filter(({ slot }) => slot !== first.slot);
    return [{ slot: first.slot, score }, ...others].slice(0, topK);
  }

  /** The number of occurrences of each word. */
  private readQuestion(question: string): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    this.analyser.forEachWord(question.slice(0, MAX_CHARACTERS), (word) => {
      if (counts.size < MAX_WORDS || counts.has(word))
        counts.set(word, (counts.get(word) ?? 0) + 1);
    });
    return counts;
  }

  /** Weighs the words of the question; those that the corpus has form a vector of length 1. */
  private weigh(counts: ReadonlyMap<string, number>): readonly WeightedWord[] {
    const words = Array.from(counts, ([word, count]) => ({
      word,
      weight: count * this.corpus.idf(word),
    }));
    const length = lengthOf(words.filter(({ word }) => this.corpus.count(word) > 0));
    return words.map(({ word, weight }) => ({ word, weight: weight / (length || 1) }));
  }

  /** @param minScore of the documents whose scores change; exclusive */
  private addScores(words: readonly WeightedWord[], minScore: number): void {
    const { corpus, scores, saturations } = this;
    const rarestFirst = words.toSorted((a, b) => corpus.count(a.word) - corpus.count(b.word));
    let read = 0;
    for (const { word, weight } of rarestFirst) {
      const posting = corpus.postingOf(word) ?? [];
      const count = corpus.count(word);
      if (read > 0 && read + count > MAX_POSTINGS) break;
      read += count;
      for (let at = 0; at < posting.length; at += 2) {
        const slot = posting[at] as number;
        const score = scores[slot] as number;
        const factor = documentFactor(posting[at + 1] as number, saturations[slot] as number);
        if (score > minScore) scores[slot] = score + weight * factor;
      }
    }
  }

  /** Documents that were removed, and those that the filter refuses, have no score. */
  private removeRefused(): void {
    const { accepts, corpus, scores } = this;
    if (!accepts && corpus.size === scores.length) return;
    for (let slot = 0; slot < scores.length; slot++) {
      if (scores[slot] === 0) continue;
      const document = corpus.documentAt(slot);
      if (!document || accepts?.(document.metadata) === false) scores[slot] = 0;
    }
  }

  private countMatches(): number {
    let count = 0;
    for (const score of this.scores) if (score !== 0) count++;
    return count;
  }

  private best(count: number, total: number): readonly Scored[] {
    const { corpus, scores } = this;
    const idAt = (slot: number): string => corpus.documentAt(slot)?.id ?? '';
    const best = new TopScores(count, (one, other) => compareTexts(idAt(one), idAt(other)));
    for (let slot = 0; slot < scores.length; slot++)
      if (scores[slot] !== 0) best.offer(slot, (scores[slot] as number) / total);
    return best.toArray();
  }

  /** The heaviest words of the mean of the documents, each as a vector of length 1. */
  private feedbackOf(documents: readonly Scored[]): readonly WeightedWord[] {
    const weights = new Map<string, number>();
    for (const { slot } of documents) {
      const words = this.weighDocument(slot);
      const share = FEEDBACK / documents.length / lengthOf(words);
      for (const { word, weight } of words)
        weights.set(word, (weights.get(word) ?? 0) + share * weight);
    }
    return Array.from(weights, ([word, weight]) => ({ word, weight }))
      .sort((a, b) => b.weight - a.weight || compareTexts(a.word, b.word))
      .slice(0, feedbackWords);
  }

  private weighDocument(slot: number): readonly WeightedWord[] {
    const { corpus } = this;
    const saturation = this.saturations[slot] as number;
    const words = corpus.wordsAt(slot).slice(0, MAX_FEEDBACK_WORDS);
    return words.map((word) => {
      const occurrences = factorIn(corpus.postingOf(word) ?? [], slot);
      return { word, weight: corpus.idf(word) * documentFactor(occurrences, saturation) };
    });
  }
}

function totalOf(words: readonly WeightedWord[]): number {
  return words.reduce((total, { weight }) => total + weight, 0);
}

/** Length of the vector of the words. */
function lengthOf(words: readonly WeightedWord[]): number {
  return Math.sqrt(words.reduce((total, { weight }) => total + weight * weight, 0));
}
