import type { Document } from '../core/chat/document.js';
import {
  checkOption,
  checkOptions,
  FINITE,
  FUNCTION,
  integer,
  numberBetween,
  required,
} from '../core/internal/options.js';
import type { DocumentPostProcessor } from './query.js';

/** Options of {@link diversifyDocuments}. */
export interface DiversifyDocumentsOptions {
  /** Maximum number of documents that are kept, an integer >= 1. */
  readonly topK: number;
  /**
   * Weight of relevance, from 0 to 1; the rest is the weight of difference: 1 keeps the best scores,
   * 0 the documents that differ the most. @default 0.5
   */
  readonly lambda?: number | undefined;
  /**
   * Similarity of two documents, from 0 to 1, such as a cosine of vectors of your own.
   * @default the share of common words, in any script
   */
  readonly similarity?: ((a: Document, b: Document) => number) | undefined;
}

const NAME = 'diversifyDocuments';
const RULES = {
  topK: required(integer(1)),
  lambda: numberBetween(0, 1),
  similarity: FUNCTION,
};

interface Candidate {
  readonly document: Document;
  /** Share of the best score. */
  readonly relevance: number;
  /** Similarity to the most similar document that is kept. */
  similarity: number;
}

/**
 * Keeps documents by maximal marginal relevance (Carbonell and Goldstein 1998): each next one is
 * relevant, and differs from those that are kept already. The first is always the one with the best
 * score; a missing score, and one below 0, counts as 0.
 *
 * The post-processor throws {@link InvalidArgumentError} for a similarity that is no finite number.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function diversifyDocuments(options: DiversifyDocumentsOptions): DocumentPostProcessor {
  checkOptions(NAME, options, RULES);
  const { topK, lambda = 0.5 } = options;
  return (documents) => {
    const similarity = options.similarity ?? wordSimilarity();
    const best = Math.max(...documents.map(scoreOf));
    const left = documents.map((document): Candidate => {
      return { document, relevance: scoreOf(document) / (best || 1), similarity: 0 };
    });
    const gain = (candidate: Candidate): number =>
      lambda * candidate.relevance - (1 - lambda) * candidate.similarity;
    const kept: Document[] = [];
    while (left.length > 0 && kept.length < topK) {
      const by = kept.length === 0 ? ({ relevance }: Candidate): number => relevance : gain;
      const next = left.reduce((a, b) => (by(b) > by(a) ? b : a));
      left.splice(left.indexOf(next), 1);
      kept.push(next.document);
      for (const other of left) {
        const value = similarity(next.document, other.document);
        checkOption(NAME, 'the result of similarity', value, FINITE);
        other.similarity = Math.max(other.similarity, value);
      }
    }
    return kept;
  };
}

const scoreOf = ({ score = 0 }: Document): number => Math.max(0, score);

/** Words; of scripts that have no space between words, characters. */
const WORDS =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]|[\p{L}\p{N}]+/gu;
/** Characters of a text that are compared: its topic shows by then. */
const MAX_LENGTH = 10_000;

/** The share of common words of two texts; reads each text once. */
function wordSimilarity(): (a: Document, b: Document) => number {
  const words = new Map<Document, ReadonlySet<string>>();
  const wordsOf = (document: Document): ReadonlySet<string> => {
    const known = words.get(document) ?? toWords(document.text);
    words.set(document, known);
    return known;
  };
  return (a, b) => {
    const [first, second] = [wordsOf(a), wordsOf(b)];
    let common = 0;
    for (const word of first) if (second.has(word)) common++;
    return common / (first.size + second.size - common || 1);
  };
}

function toWords(text: string): ReadonlySet<string> {
  return new Set(text.slice(0, MAX_LENGTH).toLowerCase().match(WORDS));
}
