import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import { checkIndexRequest, checkSearchRequest, DEFAULT_MAX_RESULTS } from '../tool-search/check-search.js';
import type { ToolIndex, ToolIndexRequest, ToolReference, ToolSearchRequest, ToolSearchResponse } from '../tool-search/tool-index.js';

/** Options of a {@link HybridToolIndex}. */
export interface HybridToolIndexOptions {
  /** The indexes that are asked, one or more. */
  readonly indexes: readonly ToolIndex[];
  /** What the word of each index counts, above 0, in their order. @default 1 for each */
  readonly weights?: readonly number[] | undefined;
  /** How little the first places of an answer count more than the later ones, above 0. @default 60 */
  readonly rankConstant?: number | undefined;
}

/** An index finds by far more than is wanted, since what is third for two of them is better than what is first for one. */
const DEPTH = 4;

/**
 * Asks several indexes at the same time and joins their answers by reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): what
 * stands high in several answers comes first. Their scores need not be comparable.
 */
export class HybridToolIndex implements ToolIndex {
  private readonly indexes: readonly ToolIndex[];
  private readonly weights: readonly number[];
  private readonly rankConstant: number;

  /** @throws {@link InvalidArgumentError} if an option cannot be used */
  constructor({ indexes, weights, rankConstant = 60 }: HybridToolIndexOptions) {
    if (!(indexes?.length > 0))
      throw new InvalidArgumentError(`HybridToolIndex: indexes must be a list of one index or more, not ${describe(indexes)}`);
    if (weights && (weights.length !== indexes.length || !weights.every((weight) => weight > 0)))
      throw new InvalidArgumentError('HybridToolIndex: weights must be a number above 0 for each index');
    if (!(rankConstant > 0))
      throw new InvalidArgumentError(`HybridToolIndex: rankConstant must be a number above 0, not ${describe(rankConstant)}`);
    this.indexes = [...indexes];
    this.weights = weights ?? indexes.map(() => 1);
    this.rankConstant = rankConstant;
  }

  async index(request: ToolIndexRequest): Promise<void> {
    checkIndexRequest(request, 'HybridToolIndex.index');
    await Promise.all(this.indexes.map(async (index) => index.index(request)));
  }

  async search(request: ToolSearchRequest): Promise<ToolSearchResponse> {
    checkSearchRequest(request, 'HybridToolIndex.search');
    const { maxResults = DEFAULT_MAX_RESULTS } = request;
    const deeper = { ...request, maxResults: maxResults * DEPTH };
    const answers = await Promise.all(this.indexes.map(async (index) => index.search(deeper)));
    return { references: this.fuse(answers).slice(0, maxResults) };
  }

  async clear(session: string): Promise<void> {
    await Promise.all(this.indexes.map(async (index) => index.clear(session)));
  }

  private fuse(answers: readonly ToolSearchResponse[]): readonly ToolReference[] {
    const scores = new Map<string, { readonly reference: ToolReference; score: number }>();
    for (const [at, { references }] of answers.entries())
      for (const [rank, reference] of references.entries()) {
        const key = JSON.stringify([reference.name, reference.description]);
        const entry = scores.get(key) ?? { reference, score: 0 };
        entry.score += (this.weights[at] as number) / (this.rankConstant + rank + 1);
        scores.set(key, entry);
      }
    const fused = [...scores.values()].map(({ reference, score }) => ({ ...reference, score }));
    return fused.sort((a, b) => b.score - a.score);
  }
}
