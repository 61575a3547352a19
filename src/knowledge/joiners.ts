import type { Document } from '../core/chat/document.js';
import { InvalidArgumentError } from '../core/errors/errors.js';
import { checkOptions, POSITIVE, rule } from '../core/internal/options.js';
import { fuseRankings } from '../stores/vectors/fuse-rankings.js';
import type { DocumentJoiner } from './query.js';

/**
 * Joins results by their scores, the highest first: for retrievers whose scores have one scale. Of
 * documents with one id the first is kept; a missing score counts as 0.
 */
export const concatenateDocuments: DocumentJoiner = (results) => {
  const byId = new Map<string, Document>();
  for (const document of results.flat())
    if (!byId.has(document.id)) byId.set(document.id, document);
  return [...byId.values()].sort((a, b) => (b.score ?? 0) - (a.score ?? 0));
};

/** Options of {@link fuseByRank}. */
export interface RankFusionOptions {
  /**
   * Weight of each retriever, > 0, in their order; several queries repeat it.
   * @default 1 for each
   */
  readonly weights?: readonly number[] | undefined;
  /** Damping of ranks, > 0: with a large value the first ranks count little more than later ones. @default 60 */
  readonly rankConstant?: number | undefined;
}

const NAME = 'fuseByRank';
const RULES = {
  weights: rule(
    'an array of at least one number > 0',
    (value) => Array.isArray(value) && value.length > 0 && value.every(POSITIVE.accepts),
  ),
  rankConstant: POSITIVE,
};

/**
 * Joins results by the ranks of their documents: for retrievers whose scores have different scales,
 * such as a keyword and a vector search. The joined documents have scores of ranks.
 * @throws {@link InvalidArgumentError} if an option is invalid, or the results cannot be divided by
 * the number of weights
 */
export function fuseByRank(options: RankFusionOptions = {}): DocumentJoiner {
  checkOptions(NAME, options, RULES);
  const { weights = [1], rankConstant = 60 } = options;
  return (results) => {
    if (results.length % weights.length !== 0)
      throw new InvalidArgumentError(
        `${NAME}: ${weights.length} weights do not fit ${results.length} results; give one weight for each retriever`,
      );
    const rankings = results.map((items, at) => ({
      items,
      weight: weights[at % weights.length] as number,
    }));
    const fused = fuseRankings(rankings, ({ id }) => id, rankConstant);
    return fused.map(({ item, score }) => ({ ...item, score }));
  };
}
