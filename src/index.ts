import { ToolCallingAdvisor } from '../advisors/index.js';
import type { ChatModel } from './chat/chat-model.js';
import { chatClientBuilder, type ChatClientBuilder } from './client/chat-client-builder.js';
import type { ChatClient as Client } from './client/chat-client.js';
import type { ToolLoopFactory } from './client/spec-state.js';
import { Tool as ToolDecorator } from './tool/tool-decorator.js';
import type { Tool as ToolType } from './tool/tool.js';

/** Something the model may have done. As a decorator, `@Tool({ … })` makes a method one. */
export type Tool = ToolType;
/** Makes a method a tool, for `toolsFrom(instance)`. */
export const Tool = ToolDecorator;

const toolLoop: ToolLoopFactory = (options) => new ToolCallingAdvisor(options);

/** Starts requests with common defaults. Immutable, keeps no state of a request, and may be shared. */
export type ChatClient = Client;

/** Makes clients. */
export const ChatClient = {
  /** A client without defaults. */
  create: (model: ChatModel): Client => chatClientBuilder(model, toolLoop).build(),
  /** A builder for a client with defaults. */
  builder: (model: ChatModel): ChatClientBuilder => chatClientBuilder(model, toolLoop),
};

export {
  LoggerAdvisor,
  MessageChatMemoryAdvisor,
  ObservabilityAdvisor,
  ProviderToolSearchAdvisor,
  ToolCallingAdvisor,
  ToolSearchAdvisor,
  type LoggerAdvisorOptions,
  type MessageChatMemoryAdvisorOptions,
  type ObservabilityAdvisorOptions,
  type ProviderToolSearchAdvisorOptions,
  type ToolCallingAdvisorOptions,
  type ToolSearchAdvisorOptions,
} from '../advisors/index.js';
export { AdvisorOrder } from './advisor/advisor-order.js';
export type { Advisor, AdvisorChain } from './advisor/advisor.js';
export type { After, Around, Before, Next } from './advisor/around.js';
export { ChatClientRequest, type ChatClientRequestFields } from './advisor/chat-client-request.js';
export { ChatClientResponse } from './advisor/chat-client-response.js';
export { defineAdvisor, type AdvisorFunctions } from './advisor/define-advisor.js';
export type { ChainExplanation } from './advisor/explain.js';
export type { Cancellable, Ready } from './chat/cancellation.js';
export type { ChatEvent, ResponseEvent, ToolCallDelta, ToolResult } from './chat/chat-event.js';
export type { ChatModel, ModelProvider, ModelRun } from './chat/chat-model.js';
export { mergeOptions, type ChatOptions, type ResponseFormat, type ToolChoice, type ToolContextValues } from './chat/chat-options.js';
export { ChatResponse, type ChatResponseFields, type Generation, type RateLimit } from './chat/chat-response.js';
export { AdvisorContext, ContextKey, CONVERSATION_ID } from './chat/context.js';
export { canonicalJson, parseJson, type JsonValue } from './chat/json.js';
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
export type {
  Observation,
  ObservedAdvisor,
  ObservedEnding,
  ObservedEvent,
  ObservedModelCall,
  ObservedPart,
  ObservedToolCall,
  ToolCallOutcome,
} from './chat/observation.js';
export { Prompt } from './chat/prompt.js';
export { Turn } from './chat/turn.js';
export { StreamFold, type ToolCallPiece } from './chat/stream-fold.js';
export { withUniqueCallIds } from './chat/tool-call-ids.js';
export type { JsonSchema, OfferedTool, ToolDefinition } from './chat/tool-definition.js';
export { addUsage, type Usage } from './chat/usage.js';
export { AdvisorSpec, toolCallingAutoRegister, type AdvisorConfigurer } from './client/advisor-spec.js';
export type { CallResult, ResponseEntity } from './client/call-result.js';
export type { ChatClientBuilder } from './client/chat-client-builder.js';
export type { PromptSpec } from './client/prompt-spec.js';
export type { SystemInput, UserInput } from './client/spec-state.js';
export type { StreamResult } from './client/stream-result.js';
export { renderTemplate, type TemplateParams, type TemplateRenderer } from './client/template.js';
export type { SystemSpec, UserSpec } from './client/text-spec.js';
export type { ToolInput } from './client/tool-state.js';
export type { EmbeddingModel, EmbeddingResponse, Vector } from './embedding/embedding-model.js';
export { InMemoryVectorStore } from './embedding/in-memory-vector-store.js';
export type { VectorEntry, VectorMatch, VectorMetadata, VectorQuery, VectorStore } from './embedding/vector-store.js';
export {
  AdvisorChainError,
  CancelledError,
  ChainError,
  IncompleteResponseError,
  InvalidArgumentError,
  JsonError,
  LimitExceededError,
  MemoryConflictError,
  MemoryReadError,
  MemoryWriteError,
  ModelCallError,
  ModelTimeoutError,
  StructuredOutputError,
  TemplateError,
  ToolDefinitionError,
  ToolError,
  ToolExecutionError,
  ToolProviderError,
  type LimitKind,
  type ModelCallErrorOptions,
} from './errors.js';
export {
  InMemoryChatMemoryRepository,
  type InMemoryChatMemoryRepositoryOptions,
} from './memory-repositories/in-memory-chat-memory-repository.js';
export type {
  ChatMemoryCapabilities,
  ChatMemoryRepository,
  ConversationIdsOptions,
  ConversationLog,
  ReadOptions,
  ReplaceOptions,
  StoredMessage,
  WriteOptions,
} from './memory/chat-memory-repository.js';
export type { AddOptions, ChatMemory, Remembered, RunningTurn } from './memory/chat-memory.js';
export { decodeMessage, encodeMessage } from './memory/message-codec.js';
export { MessageWindowChatMemory, type MessageWindowChatMemoryOptions, type OversizedTurn } from './memory/message-window-chat-memory.js';
export { repairHistory } from './memory/repair-history.js';
export { SummarizingChatMemory, type SummarizingChatMemoryOptions } from './memory/summarizing-chat-memory.js';
export { trimToolResults, type MessageTrimmer, type TrimOptions } from './memory/trim-tool-results.js';
export type { CallCounts, LimitBreach } from './tool/call-limits.js';
export {
  compatibilityReport,
  type CompatibilityReport,
  type PublishedTool,
  type ToolCompatibility,
} from './tool/schema/compatibility-report.js';
export { defineTool } from './tool/define-tool.js';
export type { InferInput, InputSchema } from './tool/schema/input-schema.js';
export { normalizeSchema, type NormalizedSchema } from './tool/schema/normalize-schema.js';
export type { SchemaChange } from './tool/schema/schema-changes.js';
export { ToolCallingManager, type ToolCallingManagerOptions } from './tool/tool-calling-manager.js';
export type { ToolContextInput } from './tool/tool-context-input.js';
export type { ToolExecutionResult } from './tool/tool-execution-result.js';
export {
  defineToolProvider,
  type ProvidedTools,
  type ToolProvider,
  type ToolProviderOptions,
  type ToolProviderRequest,
} from './tool/tool-provider.js';
export type { ErrorClass } from './tool/tool-failure.js';
export type { ToolResolver, ToolResolverRequest } from './tool/tool-resolver.js';
export type { ToolRun } from './tool/tool-run.js';
export type { ExecutedToolCall } from './tool/tool-runner.js';
export {
  toolResult,
  type ToolCallHandler,
  type ToolCallWrapper,
  type ToolContext,
  type ToolEffect,
  type ToolErrorPolicy,
  type ToolInvocation,
  type ToolMetadata,
  type Validation,
} from './tool/tool.js';
export { augmentTools, type AugmentedCall, type AugmentOptions } from './tool/augment-tools.js';
export { pinTools, type ChangedTool, type PinOptions, type ToolPins } from './tool/pin-tools.js';
export { toolFingerprint } from './tool/tool-fingerprint.js';
export { filterTools, prefixTools, renameTools } from './tool/tool-set.js';
export type { ChangedSource, ToolSource } from './tool/tool-source.js';
export { withToolNames, type ToolNameRule } from './tool/with-tool-names.js';
export type { ToolMethodOptions } from './tool/tool-decorator.js';
export type { ToolOptions, ToolSettings, ToolValue } from './tool/tool-options.js';
export { toolsFrom } from './tool/tools-from.js';
export { HybridToolIndex, type HybridToolIndexOptions } from './tool-indexes/hybrid-tool-index.js';
export { KeywordToolIndex, type KeywordToolIndexOptions } from './tool-indexes/keyword-tool-index.js';
export { RegexToolIndex } from './tool-indexes/regex-tool-index.js';
export { VectorToolIndex, type VectorToolIndexOptions } from './tool-indexes/vector-tool-index.js';
export {
  AlwaysEviction,
  CompositeEviction,
  LruEviction,
  NeverEviction,
  TtlEviction,
  type EvictionStrategy,
} from './tool-search/eviction.js';
export type { ToolIndex, ToolIndexRequest, ToolReference, ToolSearchRequest, ToolSearchResponse } from './tool-search/tool-index.js';
export type { ToolSearchOptions } from './tool-search/tool-search-options.js';
export {
  toolSearchReport,
  type CatalogueTool,
  type LabelledQuery,
  type ToolSearchReport,
  type ToolSearchReportOptions,
} from './tool-search/tool-search-report.js';
export type { RecordedText, Redact } from './observability/content-capture.js';
export type { LogEntry } from './observability/log-entry.js';
export type { MeterLike, SpanAttributes, TracerLike } from './observability/tracer-like.js';
