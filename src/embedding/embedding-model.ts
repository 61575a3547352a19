import type { ModelRun } from '../chat/chat-model.js';
import type { Usage } from '../chat/usage.js';

/** A point in the space of meanings: texts that mean the same are near each other. */
export type Vector = Float32Array;

/** What came of an {@link EmbeddingModel.embed}. */
export interface EmbeddingResponse {
  /** One vector for each text, in the order of the texts. */
  readonly vectors: readonly Vector[];
  readonly usage: Usage | undefined;
  /** The model that answered. */
  readonly model: string | undefined;
}

/** Turns texts into vectors. Keeps no state of a request and may be shared. */
export interface EmbeddingModel {
  /** An empty list gives no vectors and asks nobody. */
  embed(texts: readonly string[], run?: ModelRun): Promise<EmbeddingResponse>;
}
