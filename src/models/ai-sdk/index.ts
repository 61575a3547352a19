export { AiSdkChatModel, type AiSdkChatModelOptions } from './ai-sdk-chat-model.js';
export { asLanguageModel, type LanguageModelOptions } from './as-language-model.js';
export type { AiSdkCallOptions, AiSdkLanguageModel } from './language-model.js';
export type { LanguageModelV3 } from './language-model-v3.js';
