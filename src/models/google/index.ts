export { GoogleChatModel, type GoogleChatModelOptions } from './google-chat-model.js';
