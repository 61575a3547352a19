export { MessageChatMemoryAdvisor, type MessageChatMemoryAdvisorOptions } from './message-chat-memory-advisor.js';
export { ToolCallingAdvisor, type ToolCallingAdvisorOptions } from './tool-calling-advisor.js';
