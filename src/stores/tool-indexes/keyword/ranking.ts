/**
 * Numbers of the ranking, chosen by leaving one set out of `bench/tool-search.ts`. The effect is the
 * change of recall@5 with another value: in points, the mean of the three large sets.
 */
export interface Ranking {
  /** Weight of a word in the name, which has the purpose of a tool in the fewest words. With 2: -0.1. */
  readonly name: number;
  /** Weight in the description, which is written for a reader. With 1: -0.4. */
  readonly description: number;
  /** Weight in the names of parameters: what a tool needs. With 0.5: -0.3. */
  readonly parameterNames: number;
  /** Weight in their descriptions, in choices and in the category, of which many are long. With 0: -0.3. */
  readonly details: number;
  /**
   * Influence of the length of a definition, 0 to 1: a long one has more words by chance. With 0: -1.6;
   * with 1: 0.0, and -2 to -5 in the small sets.
   */
  readonly lengthPenalty: number;
  /** Factor of the best sentence: with several needs, a tool for one of them beats one with a bit of all. With 0: -0.3. */
  readonly bestSentence: number;
  /** Factor of neighbours in the query that are neighbours in the name or description too. With 0: -0.4. */
  readonly pair: number;
  /** Bonus of a name whose words are all in the query: the tool does what is asked and no more. With 0: -0.5. */
  readonly nameShare: number;
  /**
   * Factor of words that the best tools have and the query has not: others of their kind have them too.
   * With 0: 0.0, but -0.7 on catalogues that none of these numbers was chosen on.
   */
  readonly feedback: number;
}

export const RANKING: Ranking = {
  name: 3,
  description: 1.5,
  parameterNames: 1,
  details: 0.5,
  lengthPenalty: 0.65,
  bestSentence: 0.5,
  pair: 1.2,
  nameShare: 0.25,
  feedback: 0.2,
};

/** Factor of a word in a tool: repetitions count less and less. */
export function wordFactor(weight: number): number {
  return 1 + Math.log(Math.max(1, weight));
}
