export { OllamaChatModel, type OllamaChatModelOptions } from './ollama-chat-model.js';
