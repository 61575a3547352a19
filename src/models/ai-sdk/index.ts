export { AiSdkChatModel, type AiSdkChatModelOptions } from './ai-sdk-chat-model.js';
export { asLanguageModel, type LanguageModelOptions } from './as-language-model.js';
export type { AiSdkCallOptions, AiSdkLanguageModel, LanguageModelV3 } from './language-model.js';
