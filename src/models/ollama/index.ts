export { OllamaChatModel, type OllamaChatModelOptions } from './ollama-chat-model.js';
export {
  OllamaEmbeddingModel,
  type OllamaEmbeddingModelOptions,
} from './ollama-embedding-model.js';
