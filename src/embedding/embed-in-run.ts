import type { ModelRun } from '../chat/chat-model.js';
import { recordModelCall } from '../chat/record-model-call.js';
import { RunRecord } from '../chat/run-record.js';
import type { EmbeddingModel, EmbeddingResponse } from './embedding-model.js';

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
