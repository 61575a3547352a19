export { ApprovalAdvisor } from './approval/approval-advisor.js';
export { BudgetAdvisor } from './budget/budget-advisor.js';
export { CompactionAdvisor } from './compaction/compaction-advisor.js';
export type { CompactionAdvisorOptions } from './compaction/compaction-options.js';
export type { CompactionFailure, CompactionStrategy } from './compaction/compactor.js';
export type { OffloadOptions, ResultOffloaded } from './compaction/offload-options.js';
export type { CompactionReport } from './compaction/run-compaction.js';
export {
  ConversationLockAdvisor,
  type ConversationLockAdvisorOptions,
} from './conversation-lock/conversation-lock-advisor.js';
export {
  DefaultsAdvisor,
  type DefaultOptions,
  type DefaultsAdvisorOptions,
} from './defaults-advisor.js';
export { dryRun, type DryRunEvent, type DryRunOptions } from './dry-run/dry-run.js';
export {
  DurableAdvisor,
  type DurableAdvisorOptions,
  type EngineOfTurn,
} from './durable-advisor.js';
export {
  FallbackAdvisor,
  type FallbackAdvisorOptions,
  type FallbackModel,
} from './fallback-advisor.js';
export { GuardAdvisor } from './guard/guard-advisor.js';
export { LoggerAdvisor, type LogEntry, type LoggerAdvisorOptions } from './logger-advisor.js';
export {
  MessageChatMemoryAdvisor,
  type MessageChatMemoryAdvisorOptions,
} from './message-chat-memory/message-chat-memory-advisor.js';
export {
  modelRouter,
  ModelRouterAdvisor,
  type ModelNeeds,
  type ModelRouterAdvisorOptions,
} from './model-router-advisor.js';
export {
  ObservabilityAdvisor,
  type ObservabilityAdvisorOptions,
} from './observability/observability-advisor.js';
export {
  PromptCacheAdvisor,
  type PromptCacheAdvisorOptions,
} from './prompt-cache/prompt-cache-advisor.js';
export {
  ProviderToolSearchAdvisor,
  type ProviderToolSearchAdvisorOptions,
} from './tool-search/provider-tool-search-advisor.js';
export { SafeGuardAdvisor, type SafeGuardAdvisorOptions } from './guard/safe-guard-advisor.js';
export { RetrievalAdvisor } from './retrieval/retrieval-advisor.js';
export { RateLimitAdvisor, type RateLimitAdvisorOptions } from './rate-limit/rate-limit-advisor.js';
export { ResponseCacheAdvisor } from './response-cache/response-cache-advisor.js';
export type {
  QuestionJudge,
  ResponseCacheAdvisorOptions,
  ResponseCacheEvent,
  ResponseCacheRefusal,
  SemanticCacheOptions,
} from './response-cache/response-cache-options.js';
export { RetryAdvisor, type RetryAdvisorOptions } from './retry-advisor.js';
export { ReasoningExtractor, type ReasoningExtractorOptions } from './reasoning-extractor.js';
export { ReReadingAdvisor, type ReReadingAdvisorOptions } from './re-reading-advisor.js';
export {
  SimulatedStreamingAdvisor,
  type SimulatedStreamingAdvisorOptions,
} from './simulated-streaming-advisor.js';
export { SteeringAdvisor, type SteeringAdvisorOptions } from './steering/steering-advisor.js';
export {
  StructuredOutputAdvisor,
  type StructuredOutputAdvisorOptions,
} from './structured-output-advisor.js';
export { TimeoutAdvisor, type TimeoutAdvisorOptions } from './timeout-advisor.js';
export {
  ToolCacheAdvisor,
  type ToolCacheAdvisorOptions,
  type ToolCacheEvent,
} from './tool-cache/tool-cache-advisor.js';
export { ToolCallingAdvisor, type ToolCallingAdvisorOptions } from './tool-calling-advisor.js';
export { ToolLedgerAdvisor, type ToolLedgerEvent } from './tool-ledger/tool-ledger-advisor.js';
export {
  ToolSearchAdvisor,
  type ToolSearchAdvisorOptions,
} from './tool-search/tool-search-advisor.js';
export {
  ToolSelectorAdvisor,
  type ToolSelectionEvent,
  type ToolSelectorAdvisorOptions,
} from './tool-search/tool-selector-advisor.js';
export {
  VectorMemoryAdvisor,
  type VectorMemoryAdvisorOptions,
} from './vector-memory/vector-memory-advisor.js';
