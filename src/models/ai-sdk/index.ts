export { AiSdkChatModel, type AiSdkChatModelOptions } from './ai-sdk-chat-model.js';
export { asLanguageModel, type LanguageModelOptions } from './as-language-model.js';
export type { AiSdkCallOptions, AiSdkLanguageModel, LanguageModelV3 } from './language-model.js';
export { fromModelMessages } from './from-model-messages.js';
export { toModelMessages } from './to-model-messages.js';
export type { AiSdkMessage, ModelMessage } from './model-message.js';
