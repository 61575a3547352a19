export { CohereChatModel, type CohereChatModelOptions } from './cohere-chat-model.js';
