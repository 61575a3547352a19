export {
  ScriptedChatModel,
  ScriptExhaustedError,
  type Script,
  type ScriptedAnswer,
  type ScriptedParts,
  type ScriptedToolCall,
} from './scripted-chat-model.js';
export { describeRun } from './describe-run.js';
export type { RecordedSpan, RecordingSpan } from './recording-span.js';
export { RecordingTracer, type RecordingSpanOptions } from './recording-tracer.js';
export type { SpanLike } from './span-like.js';
export type { AdvisorContract } from './contract-trial.js';
export { itBehavesLikeAChatMemoryRepository, type ChatMemoryRepositoryContract } from './it-behaves-like-a-chat-memory-repository.js';
export { itBehavesLikeAnAdvisor } from './it-behaves-like-an-advisor.js';
export { offlineAnswer, type OfflineAnswer, type OfflineQuestion } from './offline-answer.js';
export { OfflineChatModel, type OfflineChatModelOptions } from './offline-chat-model.js';
export type { PlannedCall } from './offline-plan.js';
export { serveOffline, type OfflineRequest, type OfflineServer, type OfflineServerOptions } from './offline-server.js';
export { itBehavesLikeAToolIndex, type ToolIndexContract } from './it-behaves-like-a-tool-index.js';
