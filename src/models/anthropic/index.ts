export { AnthropicChatModel, type AnthropicChatModelOptions } from './anthropic-chat-model.js';
