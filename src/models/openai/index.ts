export {
  OpenAIEmbeddingModel,
  type OpenAIEmbeddingModelOptions,
} from './openai-embedding-model.js';
export { OpenAIChatModel, type OpenAIChatModelOptions } from './openai-chat-model.js';
export {
  OpenAIResponsesModel,
  type OpenAIResponsesModelOptions,
} from './responses/openai-responses-model.js';
export type { OpenAIClient } from './client.js';
