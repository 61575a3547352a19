export {
  AnthropicChatModel,
  type AnthropicChatModelOptions,
  type PromptCache,
} from './anthropic-chat-model.js';
