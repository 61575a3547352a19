/** Parts for chat memories and stores of your own: `advisor-chain/memory`. @module */
export type {
  AppendOptions,
  ChatMemoryCapabilities,
  ConversationIdsOptions,
  ConversationLog,
  ReadOptions,
  ReplaceOptions,
  StoredMessage,
  WriteOptions,
} from './chat-memory-repository.js';
export { isSummary } from '../../core/chat/summary-message.js';
export type { AddOptions, LoadOptions, MemorySnapshot, RunningTurn } from './chat-memory.js';
export type { DecodingOptions, UnreadableMessage } from './checked-chat-memory-repository.js';
export {
  repairHistory,
  trimToolResults,
  type MessageTrimmer,
  type TrimOptions,
} from './history.js';
export type { HistoryCall, HistoryMessage, HistoryOptions, HistoryPage } from './history-page.js';
export type { OversizedTurn } from './message-window-chat-memory.js';
