export { OpenAIChatModel, type OpenAIChatModelOptions } from './openai-chat-model.js';
