import { tokensOfLength } from '../core/chat/estimate-tokens.js';
import {
  checkOption,
  checkOptions,
  FINITE,
  FUNCTION,
  numberBetween,
  required,
} from '../core/internal/options.js';
import type { DocumentPostProcessor } from './query.js';

/**
 * Keeps documents with at least this score; a missing one counts as 0. The scale depends on the step
 * before: a retriever (a cosine is from -1 to 1, a score of words from 0 to 1), {@link fuseByRank}
 * (below 0.1), or a reranker.
 * @throws {@link InvalidArgumentError} if the minimum is no finite number
 */
export function minimumScore(minimum: number): DocumentPostProcessor {
  checkOption('minimumScore', 'minimum', minimum, FINITE);
  return (documents) => documents.filter(({ score = 0 }) => score >= minimum);
}

/** Options of {@link limitTokens}. */
export interface LimitTokensOptions {
  /** Maximum number of tokens of all texts together, >= 1. */
  readonly maxTokens: number;
  /** Returns the number of tokens of a text. @default a quarter of its characters */
  readonly tokenCounter?: ((text: string) => number) | undefined;
}

const COUNT = numberBetween(0, Infinity);
const RULES = { maxTokens: required(numberBetween(1, Infinity)), tokenCounter: FUNCTION };

/**
 * Keeps the best documents whose texts fit together, in their order. One that does not fit is left
 * out, and smaller ones after it may be kept.
 *
 * The post-processor throws {@link InvalidArgumentError} for a count that is no number >= 0.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function limitTokens(options: LimitTokensOptions): DocumentPostProcessor {
  checkOptions('limitTokens', options, RULES);
  const { maxTokens, tokenCounter = ({ length }) => tokensOfLength(length) } = options;
  return (documents) => {
    let free = maxTokens;
    return documents.filter(({ text }) => {
      const tokens = tokenCounter(text);
      checkOption('limitTokens', 'the result of tokenCounter', tokens, COUNT);
      if (tokens > free) return false;
      free -= tokens;
      return true;
    });
  };
}
