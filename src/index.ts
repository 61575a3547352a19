import { ToolCallingAdvisor } from '../advisors/index.js';
import type { ChatModel } from './chat/chat-model.js';
import { ChatClientBuilder, type ChatClient as Client } from './client/chat-client.js';
import type { ToolLoopFactory } from './client/request-settings.js';
import { Tool as ToolDecorator } from './tool/tool-decorator.js';
import type { Tool as ToolType } from './tool/tool.js';

/** A tool that the model may call. As a decorator, `@Tool({ … })` turns a method into a tool. */
export type Tool<Name extends string = string, Input = unknown, Output = unknown> = ToolType<
  Name,
  Input,
  Output
>;
/** Makes a method a tool; pass the object to `.tools(…)`. */
export const Tool = ToolDecorator;

const toolLoop: ToolLoopFactory = (options) => new ToolCallingAdvisor(options);

/** Starts requests with common defaults. Immutable, keeps no state of a request, and may be shared. */
export type ChatClient<T extends ToolType = ToolType> = Client<T>;

/** Makes clients. */
export const ChatClient = {
  /** A client without defaults. */
  create: (model: ChatModel): Client<never> => ChatClientBuilder.of(model, toolLoop).build(),
  /** A builder for a client with defaults. */
  builder: (model: ChatModel): ChatClientBuilder<never> => ChatClientBuilder.of(model, toolLoop),
};

export * from '../advisors/index.js';
export {
  AdvisorOrder,
  type Advisor,
  type AdvisorChain,
  type AdvisorTrait,
  type AroundChain,
  type Next,
} from './advisor/advisor.js';
export type { PauseOptions } from './approval/pause-options.js';
export type { ToolApprovalEvent } from './approval/approval-event.js';
export type { ApprovalAdvisorOptions } from './approval/approval-options.js';
export type { Decide, DecisionContext } from './approval/person.js';
export type {
  AskVerdict,
  EffectPolicy,
  PolicyFunction,
  PolicyVerdict,
  ToolPolicy,
} from './approval/tool-policy.js';
export { ChatClientRequest } from './advisor/chat-client-request.js';
export { ChatClientResponse } from './advisor/chat-client-response.js';
export { defineAdvisor, type AdvisorFunctions } from './advisor/define-advisor.js';
export type { ChainExplanation } from './advisor/explain.js';
export type { NoProgressOptions } from './advisor/progress-detector.js';
export type { BudgetLimits, BudgetStatus, TurnBudgetLimits } from './budget/budget-limits.js';
export type { BudgetAdvisorOptions, SharedBudget } from './budget/budget-options.js';
export type { PromptCacheBreak } from './prompt-cache/cache-break.js';
export { priceTable, type PriceOfCall, type TokenPrices } from './budget/price-table.js';
export type { CompactionAdvisorOptions } from './compaction/compaction-options.js';
export type { CompactionFailure, CompactionRung } from './compaction/ladder.js';
export type { OffloadOptions, ResultOffloaded } from './compaction/offload-options.js';
export type { CompactionReport } from './compaction/run-compaction.js';
export type { ChatEvent, CustomEvent, CustomEvents, ToolResult } from './chat/chat-event.js';
export type { ChatModel } from './chat/chat-model.js';
export type {
  ChatOptions,
  PromptCache,
  ResponseFormat,
  ToolChoice,
  ToolContextValues,
} from './chat/chat-options.js';
export { ChatResponse, type Usage } from './chat/chat-response.js';
export type { Citation } from './chat/citation.js';
export { AdvisorContext, ContextKey, CONVERSATION_ID } from './chat/context.js';
export {
  textOf,
  type AssistantMessage,
  type ContentPart,
  type MediaPart,
  type Message,
  type Metadata,
  type SystemMessage,
  type ToolCall,
  type ToolMessage,
  type UserMessage,
} from './chat/message.js';
export { MODEL_RETRIES } from './chat/model-retries.js';
export { OUTPUT_FORMAT, type OutputFormat } from './chat/output-format.js';
export type {
  ApprovalRequest,
  Decision,
  Decisions,
  PausedTurn,
  PendingRequest,
  QuestionRequest,
} from './chat/paused-turn.js';
export { Prompt } from './chat/prompt.js';
export type {
  ModelCallRecord,
  RunReport,
  Step,
  StoredMessages,
  ToolCallRecord,
} from './chat/run-report.js';
export type { JsonSchema, ToolDefinition } from './chat/tool-definition.js';
export { agentTool, type AgentOutput, type AgentToolOptions } from './client/agent-tool.js';
export { toolCallingAutoRegister } from './client/advisor-spec.js';
export type { CallResult, ResponseEntity } from './client/call-result.js';
export type { ChatClientBuilder, PromptSpec } from './client/chat-client.js';
export type { IterableObservable } from './client/iterable-observable.js';
export type { StreamResult } from './client/stream-result.js';
export type { RetractedText, StreamOptions } from './client/stream-texts.js';
export type { DeepPartial, PartialEntity } from './client/partial-entity.js';
export type { EntityOptions } from './client/structured-output.js';
export { renderTemplate, type TemplateParams, type TemplateRenderer } from './client/template.js';
export type { SystemSpec, UserSpec } from './client/text-spec.js';
export type { DurableEngine, WaitOptions } from './durable/durable-engine.js';
export { InMemoryDurableEngine, type DurableEntries } from './durable/in-memory-engine.js';
export type { EmbeddingModel, EmbeddingResponse, Vector } from './embedding/embedding-model.js';
export { InMemoryVectorStore } from './embedding/in-memory-vector-store.js';
export * from './embedding/vector-store.js';
export * from './errors.js';
export type { GuardReport } from './guard/guard-event.js';
export type {
  GuardAction,
  GuardAdvisorOptions,
  GuardPolicy,
  GuardRule,
} from './guard/guard-options.js';
export type {
  CheckRule,
  GuardCheckContext,
  GuardFinding,
  GuardVerdict,
  TextRule,
  TextScan,
} from './guard/guard-rule.js';
export { injectionRule, type InjectionKind } from './guard/injection-rule.js';
export { modelRule, type ModelRuleOptions } from './guard/model-rule.js';
export type { KindRuleOptions } from './guard/kind-rule.js';
export { base64Rule } from './guard/base64-rule.js';
export * from './guard/pattern-rule.js';
export * from './guard/pii-rule.js';
export * from './guard/secret-rule.js';
export * from './guard/word-rule.js';
export {
  InMemoryKeyValueStore,
  type InMemoryKeyValueStoreOptions,
} from './key-value/in-memory-key-value-store.js';
export { KeyValueError, type FailedOperation } from './key-value/key-value-error.js';
export type { KeyValueOptions, KeyValueStore } from './key-value/key-value-store.js';
export * from './lock/conversation-lock-error.js';
export * from './memory/memory-error.js';
export { decodeMessage, encodeMessage } from './memory/message-codec.js';
export * from './rate-limit/rate-limit-error.js';
export * from './memory-repositories/in-memory-chat-memory-repository.js';
export type { ChatMemoryRepository } from './memory/chat-memory-repository.js';
export type { ChatMemory } from './memory/chat-memory.js';
export {
  MessageWindowChatMemory,
  type MessageWindowChatMemoryOptions,
} from './memory/message-window-chat-memory.js';
export * from './memory/summarizing-chat-memory.js';
export * from './models/prompted-tools/prompted-tools-model.js';
export type { Redact } from './observability/telemetry-options.js';
export type { RecordedCall } from './recorded-calls/recording.js';
export type {
  ToolLedgerAdvisorOptions,
  UnknownOutcome,
} from './recorded-calls/tool-ledger-options.js';
export {
  SteeringInbox,
  type SendOptions,
  type SteeringMode,
  type SteeringOutcome,
} from './steering/steering-inbox.js';
export type { ToolExecutionResult, ExecutedToolCall } from './tool-execution/execution-result.js';
export * from './tool-execution/tool-calling-manager.js';
export type { ToolManager } from './tool-execution/tool-manager.js';
export type { ToolRun } from './tool-execution/tool-run.js';
export * from './tool-indexes/hybrid-tool-index.js';
export * from './tool-indexes/keyword-tool-index.js';
export * from './tool-indexes/regex-tool-index.js';
export * from './tool-indexes/vector-tool-index.js';
export type { ToolIndex } from './tool-search/tool-index.js';
export { augmentTools, type AugmentOptions } from './tool/augment-tools.js';
export { defineTool, type ToolOptions } from './tool/define-tool.js';
export { pinTools, type PinOptions, type ToolPins } from './tool/pin-tools.js';
export { toolsFrom } from './tool/tool-decorator.js';
export {
  defineToolProvider,
  type ToolProvider,
  type ToolProviderOptions,
  type ToolResolver,
} from './tool/tool-provider.js';
export { toolResult } from './tool/tool-result.js';
export type {
  InferToolInput,
  InferToolOutput,
  ToolCallHandler,
  ToolContext,
  ToolEffect,
  ToolErrorPolicy,
  ToolInvocation,
  ToolMetadata,
} from './tool/tool.js';
export { filterTools, prefixTools, renameTools } from './tool/transform-tools.js';
export { withToolNames, type ToolNameRule } from './tool/with-tool-names.js';
