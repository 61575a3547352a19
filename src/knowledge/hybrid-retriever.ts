import type { Document } from '../core/chat/document.js';
import { InvalidArgumentError } from '../core/errors/errors.js';
import {
  checkOptions,
  FUNCTION,
  hasMethods,
  integer,
  POSITIVE,
  required,
  rule,
} from '../core/internal/options.js';
import { fuseByRank } from './joiners.js';
import type { DocumentJoiner, DocumentRetriever, Query } from './query.js';

/** Options of a {@link HybridRetriever}. */
export interface HybridRetrieverOptions {
  /**
   * Retrievers to ask at the same time, at least one. They are asked for 100 documents, or for `topK` if that is
   * more; a `topK` of their own replaces that number, and is better several times the one of this retriever.
   */
  readonly retrievers: readonly DocumentRetriever[];
  /** Weight of each retriever, > 0, in their order: less for one that is worse alone. @default 1 for each */
  readonly weights?: readonly number[] | undefined;
  /** Maximum number of documents; an integer >= 1. @default the `topK` of the query, or 4 */
  readonly topK?: number | undefined;
  /** Damping of ranks, > 0: with a large value the first ranks count little more than later ones. @default 60 */
  readonly rankConstant?: number | undefined;
  /**
   * Receives the error of a retriever that failed while another one succeeded; the documents of the
   * others are then the result. @default none: one failure is the failure of all
   */
  readonly onError?: ((error: unknown, retriever: DocumentRetriever) => void) | undefined;
}

const WHERE = 'HybridRetriever';
/**
 * Minimum number of documents to ask each retriever for. Ranks are damped by 60: at rank 16 a document still counts
 * four fifths of the first one, so a short list would decide by where it ends.
 */
const CANDIDATES = 100;
const RETRIEVERS = rule(
  'an array of at least one DocumentRetriever',
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every((one) => hasMethods(one, ['retrieve'])),
);
const WEIGHTS = rule(
  'an array of numbers > 0',
  (value) => Array.isArray(value) && value.every(POSITIVE.accepts),
);
const RULES = {
  retrievers: required(RETRIEVERS),
  weights: WEIGHTS,
  topK: integer(1),
  rankConstant: POSITIVE,
  onError: FUNCTION,
};

/**
 * Finds documents with several retrievers, such as one by words and one by meaning, and fuses their results
 * by rank, since their scores have different scales.
 */
export class HybridRetriever implements DocumentRetriever {
  private readonly retrievers: readonly DocumentRetriever[];
  private readonly topK: number | undefined;
  private readonly join: DocumentJoiner;
  private readonly onError: HybridRetrieverOptions['onError'];

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: HybridRetrieverOptions) {
    checkOptions(WHERE, options, RULES);
    const { retrievers, weights, topK, rankConstant, onError } = options;
    if (weights && weights.length !== retrievers.length)
      throw new InvalidArgumentError(
        `${WHERE}: ${weights.length} weights do not fit ${retrievers.length} retrievers; give one for each`,
      );
    this.retrievers = [...retrievers];
    this.topK = topK;
    this.join = fuseByRank({ weights: weights && [...weights], rankConstant });
    this.onError = onError;
  }

  /** @throws the first error of a retriever; with `onError` only if all fail, or the run is cancelled */
  async retrieve(query: Query): Promise<readonly Document[]> {
    const topK = this.topK ?? query.topK ?? 4;
    const deep = { ...query, topK: Math.max(CANDIDATES, topK) };
    const settled = await Promise.allSettled(
      // a retriever that throws at once fails like one that rejects
      this.retrievers.map(async (retriever) => retriever.retrieve(deep)),
    );
    this.checkFailures(settled, query.signal);
    const results = settled.map((one) => (one.status === 'fulfilled' ? one.value : []));
    return (await this.join(results, query)).slice(0, topK);
  }

  /** @throws an error of a retriever, unless another one succeeded and `onError` receives it */
  private checkFailures(
    settled: readonly PromiseSettledResult<unknown>[],
    signal: AbortSignal,
  ): void {
    const hasFailed = settled.every(({ status }) => status === 'rejected');
    for (const [at, one] of settled.entries()) {
      if (one.status === 'fulfilled') continue;
      if (hasFailed || signal.aborted || !this.onError) throw one.reason;
      this.onError(one.reason, this.retrievers[at] as DocumentRetriever);
    }
  }
}
