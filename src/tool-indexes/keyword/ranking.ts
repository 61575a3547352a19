/**
 * Numbers of the ranking. "Alone" is the change of recall@5 without the part, in points: the mean of
 * the three large sets of `bench/tool-search.ts`, which chooses them by leaving one set out.
 */
export interface Ranking {
  /** Weight of a word in the name: it says what a tool is for, in the fewest words. Alone 2: -0.2. */
  readonly name: number;
  /** Weight in the description, which is written for a reader. Alone 1: -0.4. */
  readonly description: number;
  /** Weight in the names of parameters: what a tool needs. Alone 0.5: -0.2. */
  readonly parameterNames: number;
  /** Weight in their descriptions, in choices and in the category, of which many are long. Alone 0: -1.3. */
  readonly details: number;
  /** Influence of the length, 0 to 1: a long definition has more words by chance. */
  readonly lengthPenalty: number;
  /** Factor of the best sentence: with several needs, a tool for one of them beats one with a bit of all. Alone: -0.3. */
  readonly bestSentence: number;
  /** Factor of neighbours in the query that are neighbours in the name or description too. Alone: -0.5. */
  readonly pair: number;
  /** Bonus for a name with all its words in the query: the tool does what is asked and no more. Alone: -0.3. */
  readonly nameShare: number;
  /** Factor of words that the best tools share: others of their kind have them too. Alone: -0.1, elsewhere -0.7. */
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

/** Inverse document frequency: rare words count more. */
export function idf(toolsWithWord: number, tools: number): number {
  return Math.log(1 + (tools - toolsWithWord + 0.5) / (toolsWithWord + 0.5));
}
