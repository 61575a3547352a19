export { CohereChatModel, type CohereChatModelOptions } from './cohere-chat-model.js';
export {
  CohereEmbeddingModel,
  type CohereEmbeddingModelOptions,
} from './cohere-embedding-model.js';
