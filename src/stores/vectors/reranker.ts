import type { ModelRun } from '../../core/chat/chat-model.js';
import type { Usage } from '../../core/chat/chat-response.js';
import { recordModelCall } from '../../core/chat/record-model-call.js';
import { RunRecord } from '../../core/chat/run-record.js';

/** Result of {@link Reranker.rerank}. */
export interface RerankResponse {
  /** Relevance of each text, in the order of the texts; higher is better. */
  readonly scores: readonly number[];
  readonly usage?: Usage | undefined;
  /** Name of the model that answered. */
  readonly model?: string | undefined;
}

/** Judges how relevant texts are to a query. Stateless: one object can serve concurrent requests. */
export interface Reranker {
  /** Returns no scores for an empty list, without a request. */
  rerank(query: string, texts: readonly string[], run?: ModelRun): Promise<RerankResponse>;
}

/**
 * Reranks texts, and adds the call to the ledger of a run, whatever the reranker does.
 * @throws whatever the reranker throws
 */
export function rerankInRun(
  reranker: Reranker,
  query: string,
  texts: readonly string[],
  run: ModelRun,
): Promise<RerankResponse> {
  const record = RunRecord.of(run.signal);
  const inLedger = record !== undefined;
  return recordModelCall(record, 'rerank', undefined, () =>
    reranker.rerank(query, texts, { ...run, inLedger }),
  );
}
