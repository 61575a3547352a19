import type { Document } from '../core/chat/document.js';
import { ModelCallError } from '../core/errors/errors.js';
import { cancellationOf, untilCancelled } from '../core/internal/cancellation.js';
import { checkOptions, integer, required, withMethods } from '../core/internal/options.js';
import { rerankInRun, type Reranker } from '../stores/vectors/reranker.js';
import type { DocumentPostProcessor } from './query.js';

/** Options of {@link rerankDocuments}. */
export interface RerankDocumentsOptions {
  /** The model that judges the documents; the run of the query counts its usage. */
  readonly reranker: Reranker;
  /** Maximum number of documents that are kept, an integer >= 1. @default all */
  readonly topK?: number | undefined;
}

const RULES = {
  reranker: required(withMethods('a Reranker with rerank', 'rerank')),
  topK: integer(1),
};

/**
 * Sorts documents by the judgement of a reranker, which reads the query and the texts. They get its
 * scores. Retrieve more documents than you need, such as 50, and keep the best ones.
 *
 * The post-processor rejects with the error of the reranker, {@link ModelCallError} for scores that do
 * not fit the documents, or {@link CancelledError}.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function rerankDocuments(options: RerankDocumentsOptions): DocumentPostProcessor {
  checkOptions('rerankDocuments', options, RULES);
  const { reranker, topK = Infinity } = options;
  return async (documents, { text, signal }) => {
    if (documents.length === 0) return documents;
    const texts = documents.map((document) => document.text);
    const reranked = rerankInRun(reranker, text, texts, { signal });
    const { scores } = await untilCancelled(reranked, cancellationOf(signal));
    const ranked = withScores(documents, scores).sort((a, b) => b.score - a.score);
    return ranked.slice(0, topK);
  };
}

type Scored = Document & { readonly score: number };

function withScores(documents: readonly Document[], scores: readonly number[]): Scored[] {
  const isComplete = scores.length === documents.length && scores.every(Number.isFinite);
  if (!isComplete)
    throw new ModelCallError(
      `The reranker returned ${scores.length} scores for ${documents.length} documents, or one that is no finite number.`,
    );
  return documents.map((document, at) => ({ ...document, score: scores[at] as number }));
}
