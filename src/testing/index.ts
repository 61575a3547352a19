export {
  ScriptedChatModel,
  ScriptExhaustedError,
  type Script,
  type ScriptedAnswer,
  type ScriptedParts,
  type ScriptedToolCall,
} from './scripted-chat-model.js';
export { describeRun, type SpanLike } from './describe-run.js';
export {
  RecordingTracer,
  type RecordedSpan,
  type RecordingSpan,
  type RecordingSpanOptions,
} from './recording-tracer.js';
export type { AdvisorContract } from './advisor-contract/trial.js';
export {
  itBehavesLikeAChatMemoryRepository,
  type ChatMemoryRepositoryContract,
} from './memory-contract/it-behaves-like-a-chat-memory-repository.js';
export { itBehavesLikeAnAdvisor } from './advisor-contract/it-behaves-like-an-advisor.js';
export {
  offlineAnswer,
  type OfflineAnswer,
  type OfflineQuestion,
  type PlannedCall,
} from './offline-model/offline-answer.js';
export {
  OfflineChatModel,
  type OfflineChatModelOptions,
} from './offline-model/offline-chat-model.js';
export {
  serveOffline,
  type OfflineRequest,
  type OfflineServer,
  type OfflineServerOptions,
} from './offline-server.js';
export { itBehavesLikeAToolIndex, type ToolIndexContract } from './tool-index-contract.js';
