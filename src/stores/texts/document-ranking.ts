/**
 * Numbers of the ranking of documents: Okapi BM25, and feedback by Rocchio's formula. They are the usual ones of the
 * literature, and not chosen by the sets of `bench/retrieval-adapter.mjs`: the effect of others there is the
 * change of nDCG@10 in points, the mean of three sets.
 */
export const DOCUMENT_RANKING = {
  /** Saturation of repeated words, k1 (Robertson and Walker 1994; Lucene). With 0.9: -0.7; with 2: -0.6. */
  saturation: 1.2,
  /** Influence of the length of a document, b, 0 to 1. With 0.4: -1.4; with 0.6: 0.0; with 0.9: -0.9. */
  lengthPenalty: 0.75,
  /** Number of times that a word of the title or of a heading counts: a title has the subject in few words. With 1: -0.4. */
  title: 2,
  /** Weight of the words of the best documents; the question has 1 (Salton and Buckley 1990). With 0: -2.4; with 1: +0.1. */
  feedback: 0.75,
  /** Number of best documents whose words are feedback: more of them bring in other subjects. With 10: -1.7; with 1: -0.9. */
  feedbackDocuments: 3,
  /** They are at most this share of the matches, rounded up: among few matches each would be compared to itself. */
  feedbackShare: 0.1,
  /** Number of words of these documents that count, the heaviest ones. With 20: -0.5; with 100: +0.1. */
  feedbackWords: 50,
} as const;

/** Factor of a word in a document, from 0 to 1: repetitions count less and less, most of all in a long document. */
export function documentFactor(occurrences: number, saturation: number): number {
  return occurrences / (occurrences + saturation);
}

/** Saturation of repeated words in a document; its length is relative to the average. */
export function saturationOf(relativeLength: number): number {
  const { saturation, lengthPenalty } = DOCUMENT_RANKING;
  return saturation * (1 - lengthPenalty + lengthPenalty * relativeLength);
}
