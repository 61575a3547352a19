import { ToolCallingAdvisor } from '../advisors/index.js';
import type { ChatModel } from './core/chat/chat-model.js';
import { ChatClientBuilder, type ChatClient as Client } from './core/client/chat-client.js';
import type { ToolLoopFactory } from './core/client/request-settings.js';
import { Tool as ToolDecorator } from './core/tool/tool-decorator.js';
import type { Tool as ToolType } from './core/tool/tool.js';

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
  type InspectedState,
  type Next,
} from './core/advisor/advisor.js';
export type { AdvisorPlace } from './core/advisor/advisor-place.js';
export type { PauseOptions } from '../advisors/approval/pause-options.js';
export type { ToolApprovalEvent } from '../advisors/approval/approval-event.js';
export type { ApprovalAdvisorOptions } from '../advisors/approval/approval-options.js';
export { oneAtATime } from '../advisors/approval/one-at-a-time.js';
export type { Decide, DecisionContext } from '../advisors/approval/person.js';
export type {
  AskVerdict,
  EffectPolicy,
  PolicyFunction,
  PolicyVerdict,
  ToolPolicy,
} from '../advisors/approval/tool-policy.js';
export type {
  RememberedDecision,
  RememberedOf,
} from '../advisors/approval/remembered-approvals.js';
export { ChatClientRequest } from './core/advisor/chat-client-request.js';
export { ChatClientResponse } from './core/advisor/chat-client-response.js';
export { defineAdvisor, type AdvisorFunctions } from './core/advisor/define-advisor.js';
export type { ChainExplanation } from './core/advisor/explain.js';
export type { NoProgressOptions } from './core/advisor/progress-detector.js';
export type {
  BudgetLimits,
  BudgetStatus,
  TurnBudgetLimits,
} from '../advisors/budget/budget-limits.js';
export type { BudgetAdvisorOptions, SharedBudget } from '../advisors/budget/budget-options.js';
export type { PromptCacheBreak } from '../advisors/prompt-cache/cache-break.js';
export {
  RETRIEVAL_FILTER,
  type RetrievalAdvisorOptions,
} from '../advisors/retrieval/retrieval-options.js';
export { knowledgeTool, type KnowledgeToolOptions } from '../advisors/retrieval/knowledge-tool.js';
export {
  citedSources,
  type CitationProblem,
  type CitedSources,
} from '../advisors/retrieval/cited-sources.js';
export {
  RETRIEVED_DOCUMENTS,
  type Source,
  type SourcesEvent,
} from '../advisors/retrieval/source.js';
export { priceTable, type TokenPrices } from '../advisors/budget/price-table.js';
export type { ChatEvent, CustomEvent, CustomEvents, ToolResult } from './core/chat/chat-event.js';
export type { ChatModel } from './core/chat/chat-model.js';
export type {
  ChatOptions,
  PromptCache,
  ResponseFormat,
  ToolChoice,
  ToolContextValues,
} from './core/chat/chat-options.js';
export { ChatResponse, type Usage } from './core/chat/chat-response.js';
export type { Document, DocumentMetadata } from './core/chat/document.js';
export type { Citation, CitedDocument } from './core/chat/citation.js';
export { AdvisorContext, ContextKey, CONVERSATION_ID } from './core/chat/context.js';
export {
  textOf,
  type AssistantMessage,
  type CheckedCall,
  type ContentPart,
  type MediaPart,
  type Message,
  type Metadata,
  type SystemMessage,
  type ToolCall,
  type ToolMessage,
  type UserMessage,
} from './core/chat/message.js';
export { MODEL_RETRIES } from './core/chat/chat-model.js';
export { afterCalls, afterToolCall, type StopCondition } from './core/advisor/stop-condition.js';
export { OUTPUT_FORMAT, type OutputFormat } from './core/chat/output-format.js';
export type {
  ApprovalRequest,
  ClientToolRequest,
  Decision,
  Decisions,
  PausedTurn,
  PendingRequest,
  PendingTurn,
  QuestionRequest,
  ResumeDecisions,
} from './core/chat/paused-turn.js';
export type { PriceOfCall } from './core/chat/price.js';
export { Prompt } from './core/chat/prompt.js';
export type {
  ModelCallRecord,
  RunReport,
  Step,
  StoredMessages,
  ToolCallRecord,
} from './core/chat/run-report.js';
export type { JsonSchema, ToolDefinition } from './core/chat/tool-definition.js';
export { agentTool, type AgentOutput, type AgentToolOptions } from './core/client/agent-tool.js';
export { toolCallingAutoRegister } from './core/client/advisor-spec.js';
export type { CallResult, ResponseEntity } from './core/client/call-result.js';
export type { ChatClientBuilder, PromptSpec } from './core/client/chat-client.js';
export type { IterableObservable } from './core/client/iterable-observable.js';
export type { StreamResult } from './core/client/stream-result.js';
export type { RetractedText, StreamOptions } from './core/client/stream-texts.js';
export type { DeepPartial, PartialEntity } from './core/client/partial-entity.js';
export type { EntityOptions } from './core/client/structured-output.js';
export {
  renderTemplate,
  type TemplateParams,
  type TemplateRenderer,
} from './core/client/template.js';
export type { SystemSpec, UserSpec } from './core/client/text-spec.js';
export type { DurableEngine, WaitOptions } from './engines/durable-engine.js';
export { InMemoryDurableEngine, type DurableEntries } from './engines/in-memory-engine.js';
export type {
  EmbeddingModel,
  EmbeddingResponse,
  Vector,
} from './stores/vectors/embedding-model.js';
export type { DocumentStore, ListQuery, UpsertOptions } from './stores/vectors/document-store.js';
export type { Filter } from './stores/vectors/filter.js';
export type { Exchange, MemoryExtractor, NewMemory } from './knowledge/memories.js';
export type { DocumentRetriever, Query } from './knowledge/query.js';
export { InMemoryVectorStore } from './stores/vectors/in-memory-vector-store.js';
export * from './stores/vectors/vector-store.js';
export * from './core/errors/errors.js';
export type {
  GuardAction,
  GuardAdvisorOptions,
  GuardPolicy,
  GuardReport,
  GuardRule,
} from '../advisors/guard/guard-options.js';
export type {
  CheckRule,
  GuardCheckContext,
  GuardFinding,
  GuardVerdict,
  TextRule,
  TextScan,
} from '../advisors/guard/guard-rule.js';
export { injectionRule, type InjectionKind } from '../advisors/guard/injection-rule.js';
export { modelRule, type ModelRuleOptions } from '../advisors/guard/model-rule.js';
export type { KindRuleOptions } from '../advisors/guard/kind-rule.js';
export { base64Rule } from '../advisors/guard/base64-rule.js';
export * from '../advisors/guard/pattern-rule.js';
export * from '../advisors/guard/pii-rule.js';
export * from '../advisors/guard/secret-rule.js';
export * from '../advisors/guard/word-rule.js';
export {
  InMemoryKeyValueStore,
  type InMemoryKeyValueStoreOptions,
} from './stores/key-value/in-memory-key-value-store.js';
export type { KeyValueOptions, KeyValueStore } from './stores/key-value/key-value-store.js';
export { decodeMessage, encodeMessage } from './core/chat/message-codec.js';
export * from './stores/chat-memory/in-memory-chat-memory-repository.js';
export type { ChatMemoryRepository } from './stores/chat-memory/chat-memory-repository.js';
export type { ChatMemory } from './stores/chat-memory/chat-memory.js';
export {
  MessageWindowChatMemory,
  type MessageWindowChatMemoryOptions,
} from './stores/chat-memory/message-window-chat-memory.js';
export * from './stores/chat-memory/summarizing-chat-memory.js';
export * from './models/prompted-tools/prompted-tools-model.js';
export type { Redact } from '../advisors/observability/telemetry-options.js';
export type { RecordedCall } from '../advisors/dry-run/recording.js';
export type { ToolLedgerAdvisorOptions } from '../advisors/tool-ledger/tool-ledger-options.js';
export type {
  Reconcile,
  Reconciled,
  ReconcileOption,
  ToolReconcileEvent,
} from './core/tool-execution/unknown-outcome.js';
export {
  SteeringInbox,
  type SendOptions,
  type SteeringMode,
  type SteeringOutcome,
} from '../advisors/steering/steering-inbox.js';
export type {
  ToolExecutionResult,
  ExecutedToolCall,
} from './core/tool-execution/execution-result.js';
export * from './core/tool-execution/tool-calling-manager.js';
export type { ToolManager } from './core/tool-execution/tool-manager.js';
export type { ToolRun } from './core/tool-execution/tool-run.js';
export * from './stores/tool-indexes/hybrid-tool-index.js';
export * from './stores/tool-indexes/keyword-tool-index.js';
export * from './stores/tool-indexes/regex-tool-index.js';
export * from './stores/tool-indexes/vector-tool-index.js';
export type { ToolIndex } from './stores/tool-indexes/tool-index.js';
export { augmentTools, type AugmentOptions } from './core/tool/augment-tools.js';
export { defineTool, type ToolOptions } from './core/tool/define-tool.js';
export { pinTools, type PinOptions, type ToolPins } from './core/tool/pin-tools.js';
export { toolsFrom } from './core/tool/tool-decorator.js';
export {
  defineToolProvider,
  type ToolProvider,
  type ToolProviderOptions,
  type ToolResolver,
} from './core/tool/tool-provider.js';
export { toolResult } from './core/tool/tool-result.js';
export type {
  InferToolInput,
  InferToolOutput,
  NamedTool,
  ToolCallHandler,
  ToolContext,
  ToolEffect,
  ToolErrorPolicy,
  ToolInvocation,
  ToolMetadata,
} from './core/tool/tool.js';
export { filterTools, prefixTools, renameTools } from './core/tool/transform-tools.js';
export { withToolNames, type ToolNameRule } from './core/tool/with-tool-names.js';
