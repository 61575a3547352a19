import type { ModelRun } from '../../core/chat/chat-model.js';
import { ModelCallError } from '../../core/errors/errors.js';
import { truncate } from '../../core/internal/text.js';
import { embedInRun, type EmbeddingModel, type Vector } from './embedding-model.js';

/** Maximum number of characters of an embedded text; models reject longer ones. */
export const MAX_EMBEDDED_TEXT = 6_000;

/**
 * Embeds the beginning of a text, such as a query; the call is in the ledger of the run.
 * @throws whatever the model throws; a {@link ModelCallError} if it returns no vector
 */
export async function embedText(
  model: EmbeddingModel,
  text: string,
  run: ModelRun,
): Promise<Vector> {
  const { vectors } = await embedInRun(model, [truncate(text.trim(), MAX_EMBEDDED_TEXT)], run);
  const [vector] = vectors;
  if (!vector) throw new ModelCallError('The embedding model returned no vector for the query.');
  return vector;
}
