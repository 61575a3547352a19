export { GoogleChatModel, type GoogleChatModelOptions } from './google-chat-model.js';
export {
  GoogleEmbeddingModel,
  type GoogleEmbeddingModelOptions,
} from './google-embedding-model.js';
