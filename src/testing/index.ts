export {
  ScriptedChatModel,
  ScriptExhaustedError,
  type Script,
  type ScriptedAnswer,
  type ScriptedParts,
  type ScriptedToolCall,
} from './scripted-chat-model.js';
