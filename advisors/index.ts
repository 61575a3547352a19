export { ApprovalAdvisor } from './approval-advisor.js';
export { BudgetAdvisor } from './budget-advisor.js';
export { CompactionAdvisor } from './compaction-advisor.js';
export {
  ConversationLockAdvisor,
  type ConversationLockAdvisorOptions,
} from './conversation-lock-advisor.js';
export {
  DefaultsAdvisor,
  type DefaultOptions,
  type DefaultsAdvisorOptions,
} from './defaults-advisor.js';
export { dryRun, type DryRunEvent, type DryRunOptions } from './dry-run.js';
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
export { GuardAdvisor } from './guard-advisor.js';
export { LoggerAdvisor, type LogEntry, type LoggerAdvisorOptions } from './logger-advisor.js';
export {
  MessageChatMemoryAdvisor,
  type MessageChatMemoryAdvisorOptions,
} from './message-chat-memory-advisor.js';
export {
  modelRouter,
  ModelRouterAdvisor,
  type ModelNeeds,
  type ModelRouterAdvisorOptions,
} from './model-router-advisor.js';
export { ObservabilityAdvisor, type ObservabilityAdvisorOptions } from './observability-advisor.js';
export { PromptCacheAdvisor, type PromptCacheAdvisorOptions } from './prompt-cache-advisor.js';
export {
  ProviderToolSearchAdvisor,
  type ProviderToolSearchAdvisorOptions,
} from './provider-tool-search-advisor.js';
export { SafeGuardAdvisor, type SafeGuardAdvisorOptions } from './safe-guard-advisor.js';
export { RateLimitAdvisor, type RateLimitAdvisorOptions } from './rate-limit-advisor.js';
export { RetryAdvisor, type RetryAdvisorOptions } from './retry-advisor.js';
export { ReasoningExtractor, type ReasoningExtractorOptions } from './reasoning-extractor.js';
export { ReReadingAdvisor, type ReReadingAdvisorOptions } from './re-reading-advisor.js';
export {
  SimulatedStreamingAdvisor,
  type SimulatedStreamingAdvisorOptions,
} from './simulated-streaming-advisor.js';
export { SteeringAdvisor, type SteeringAdvisorOptions } from './steering-advisor.js';
export {
  StructuredOutputAdvisor,
  type StructuredOutputAdvisorOptions,
} from './structured-output-advisor.js';
export { TimeoutAdvisor, type TimeoutAdvisorOptions } from './timeout-advisor.js';
export {
  ToolCacheAdvisor,
  type ToolCacheAdvisorOptions,
  type ToolCacheEvent,
} from './tool-cache-advisor.js';
export { ToolCallingAdvisor, type ToolCallingAdvisorOptions } from './tool-calling-advisor.js';
export { ToolLedgerAdvisor, type ToolLedgerEvent } from './tool-ledger-advisor.js';
export { ToolSearchAdvisor, type ToolSearchAdvisorOptions } from './tool-search-advisor.js';
export {
  ToolSelectorAdvisor,
  type ToolSelectionEvent,
  type ToolSelectorAdvisorOptions,
} from './tool-selector-advisor.js';
