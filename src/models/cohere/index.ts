export { CohereChatModel, type CohereChatModelOptions } from './cohere-chat-model.js';
export {
  CohereEmbeddingModel,
  type CohereEmbeddingModelOptions,
} from './cohere-embedding-model.js';
export { CohereReranker, type CohereRerankerOptions } from './cohere-reranker.js';
export type { Reranker, RerankResponse } from '../../stores/vectors/reranker.js';
