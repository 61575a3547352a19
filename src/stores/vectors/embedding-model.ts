import type { ModelRun } from '../../core/chat/chat-model.js';
import type { Usage } from '../../core/chat/chat-response.js';
import { recordModelCall } from '../../core/chat/record-model-call.js';
import { RunRecord } from '../../core/chat/run-record.js';

/** An embedding: texts of similar meaning have vectors of similar direction. */
export type Vector = Float32Array;

/** Result of {@link EmbeddingModel.embed}. */
export interface EmbeddingResponse {
  /** One vector per text, in the order of the texts. */
  readonly vectors: readonly Vector[];
  readonly usage: Usage | undefined;
  /** Name of the model that answered. */
  readonly model: string | undefined;
}

/** Embeds texts. Stateless: one object can serve concurrent requests. */
export interface EmbeddingModel {
  /**
   * Name of model and dimensions, such as `text-embedding-3-small 256`: vectors of models with another
   * one are not comparable. Required by `ingest`. @default unknown
   */
  readonly id?: string | undefined;
  /** Returns no vectors for an empty list, without a request. */
  embed(texts: readonly string[], run?: ModelRun): Promise<EmbeddingResponse>;
}

/**
 * Embeds texts, and adds the call to the ledger of a run, whatever the model does.
 * @param record the run that pays for the call
 * @throws whatever the model throws
 */
export function embedInRun(
  model: EmbeddingModel,
  texts: readonly string[],
  run: ModelRun,
  record: RunRecord | undefined = RunRecord.of(run.signal),
): Promise<EmbeddingResponse> {
  const inLedger = record !== undefined;
  return recordModelCall(record, 'embedding', undefined, () =>
    model.embed(texts, { ...run, inLedger }),
  );
}
