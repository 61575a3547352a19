import type { ModelRun } from '../chat/chat-model.js';
import type { Usage } from '../chat/chat-response.js';

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
  /** Returns no vectors for an empty list, without a request. */
  embed(texts: readonly string[], run?: ModelRun): Promise<EmbeddingResponse>;
}
