export { approveAll } from './approve-all.js';
export { collect } from './collect.js';
export { describeRun, type SpanLike } from './describe-run.js';
export { itBehavesLikeAnAdvisor } from './advisor-contract/it-behaves-like-an-advisor.js';
export type { AdvisorContract } from './advisor-contract/trial.js';
export * from './durable-engine-contract.js';
export * from './key-value-contract/it-behaves-like-a-key-value-store.js';
export * from './memory-contract/it-behaves-like-a-chat-memory-repository.js';
export * from './offline-answer.js';
export * from './offline-chat-model.js';
export {
  serveOffline,
  type OfflineRequest,
  type OfflineServer,
  type OfflineServerOptions,
} from './offline-server.js';
export {
  RecordingTracer,
  type RecordedSpan,
  type RecordingSpan,
  type RecordingSpanOptions,
} from './recording-tracer.js';
export {
  ScriptedChatModel,
  ScriptExhaustedError,
  type Script,
  type ScriptedAnswer,
  type ScriptedParts,
  type ScriptedToolCall,
} from './scripted-chat-model.js';
export type { TestRunner } from './test-runner.js';
export * from './tool-index-contract.js';
export * from './turn-log-contract/it-behaves-like-a-turn-log.js';
export * from './vector-contract/it-behaves-like-a-vector-store.js';
