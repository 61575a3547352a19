export {
  OpenAIEmbeddingModel,
  type OpenAIEmbeddingModelOptions,
} from './openai-embedding-model.js';
export {
  openAIModerationRule,
  type OpenAIModerationRule,
  type OpenAIModerationRuleOptions,
} from './openai-moderation-rule.js';
export { OpenAIChatModel, type OpenAIChatModelOptions } from './openai-chat-model.js';
export {
  OpenAIResponsesModel,
  type OpenAIResponsesModelOptions,
} from './responses/openai-responses-model.js';
export type { OpenAIClient } from './client.js';
