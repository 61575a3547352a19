import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import * as advisors from '../../advisors/index.js';
import * as chain from '../../src/index.js';
import {
  fromUIMessages,
  SealedHistory,
  toUIMessageStream,
  toUIMessageStreamResponse,
  uiMessageStream,
} from '../../src/bridges/ui/index.js';
import { agUI, fromRunInput } from '../../src/bridges/ag-ui/index.js';
import { toNodeHandler, readJsonInput, toResponse } from '../../src/bridges/http/index.js';
import { Inspector, inspectorHandler } from '../../src/bridges/inspector/index.js';
import { serveOpenAI } from '../../src/bridges/serve/index.js';
import { mcpTools, serveMcp } from '../../src/bridges/mcp/index.js';
import { DbosTurns } from '../../src/engines/dbos/dbos.js';
import { embeddedDatabase } from '../../src/engines/embedded/embedded.js';
import * as evaluation from '../../src/knowledge/evaluation/index.js';
import * as knowledge from '../../src/knowledge/index.js';
import { loadSkills } from '../../src/knowledge/skills/load-skills.js';
import { AiSdkChatModel, asLanguageModel } from '../../src/models/ai-sdk/index.js';
import { AnthropicChatModel } from '../../src/models/anthropic/index.js';
import {
  CohereChatModel,
  CohereEmbeddingModel,
  CohereReranker,
} from '../../src/models/cohere/index.js';
import { GoogleChatModel, GoogleEmbeddingModel } from '../../src/models/google/index.js';
import { OllamaChatModel, OllamaEmbeddingModel } from '../../src/models/ollama/index.js';
import {
  OpenAIChatModel,
  OpenAIEmbeddingModel,
  openAIModerationRule,
  OpenAIResponsesModel,
} from '../../src/models/openai/index.js';
import { PostgresChatMemoryRepository } from '../../src/stores/chat-memory/postgres-chat-memory-repository.js';
import { RedisChatMemoryRepository } from '../../src/stores/chat-memory/redis-chat-memory-repository.js';
import { SqliteChatMemoryRepository } from '../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import { trimToolResults } from '../../src/stores/chat-memory/index.js';
import { PostgresKeyValueStore } from '../../src/stores/key-value/postgres-key-value-store.js';
import { RedisKeyValueStore } from '../../src/stores/key-value/redis-key-value-store.js';
import { SqliteKeyValueStore } from '../../src/stores/key-value/sqlite-key-value-store.js';
import { PostgresVectorStore } from '../../src/stores/vectors/postgres-vector-store.js';
import { RedisVectorStore } from '../../src/stores/vectors/redis-vector-store.js';
import { SqliteVectorStore } from '../../src/stores/vectors/sqlite-vector-store.js';
import { InMemoryTurnLog, TurnStreams } from '../../src/bridges/turn-log/index.js';
import { PostgresTurnLog } from '../../src/stores/turn-logs/postgres-turn-log.js';
import { RedisTurnLog } from '../../src/stores/turn-logs/redis-turn-log.js';
import { OfflineChatModel, ScriptedChatModel, serveOffline } from '../../src/testing/index.js';

type Make = (unknown: object) => unknown;

const model = new ScriptedChatModel([]);
const client = chain.ChatClient.create(model);
const store = new chain.InMemoryKeyValueStore();
const repository = new chain.InMemoryChatMemoryRepository();
const chatMemory = new chain.MessageWindowChatMemory({ repository });
const engine = new chain.InMemoryDurableEngine();
const embeddingModel = { embed: () => Promise.reject(new Error('not called')) };
const tools = [chain.defineTool({ name: 'tool', execute: () => 'x' })];
const policy = { rules: chain.piiRule(), action: 'redact' } as const;
const http = { apiKey: 'k', model: 'm' };
const sqlite = { database: { prepare: () => undefined, exec: () => undefined, close: () => undefined } }; // prettier-ignore
const postgres = { client: { query: () => Promise.resolve({ rows: [] }) } };
const redis = { client: { call: () => Promise.resolve(null) } };
const streams = new TurnStreams({ log: new InMemoryTurnLog() });
const pins = new Map<string, string>();
const turns = DbosTurns.prototype;
const sdk = { specificationVersion: 'v3', provider: 'p', modelId: 'm', doGenerate: () => undefined, doStream: () => undefined }; // prettier-ignore

const vectors = new chain.InMemoryVectorStore();
const retriever = { retrieve: () => Promise.resolve([]) };
const reranker = { rerank: () => Promise.resolve({ scores: [] }) };

const skill = { name: 's', description: 'd', body: 'b' };

/** Makes a part with its required options and unknown ones, by the type of its options. */
const PARTS: Readonly<Record<string, Make>> = {
  AddOptions: (o) => chatMemory.add('c', { role: 'user', content: 'x' }, o),
  AgentToolOptions: (o) => chain.agentTool(client, { name: 'a', ...o }),
  AgUIOptions: (o) => agUI({ threadId: 't', runId: 'r', ...o }),
  AiSdkChatModelOptions: (o) => new AiSdkChatModel({ model: sdk as never, ...o }),
  AnthropicChatModelOptions: (o) => new AnthropicChatModel({ ...http, ...o }),
  AppendOptions: (o) => repository.append('c', [], o),
  ApprovalAdvisorOptions: (o) => new advisors.ApprovalAdvisor({ decide: () => ({ type: 'deny' }), ...o }), // prettier-ignore
  AugmentOptions: (o) => chain.augmentTools(tools, { type: 'object', properties: { a: {} } }, () => undefined, o), // prettier-ignore
  BudgetAdvisorOptions: (o) => new advisors.BudgetAdvisor({ maxTokens: 1, ...o }),
  ChatOptions: (o) => client.prompt('x').options(o),
  CohereChatModelOptions: (o) => new CohereChatModel({ ...http, ...o }),
  CohereEmbeddingModelOptions: (o) => new CohereEmbeddingModel({ ...http, ...o } as never),
  CohereRerankerOptions: (o) => new CohereReranker({ ...http, ...o }),
  CompactionAdvisorOptions: (o) => new advisors.CompactionAdvisor({ maxTokens: 1_000, ...o }),
  CompressQueryOptions: (o) => knowledge.compressQuery({ model, ...o }),
  ConversationIdsOptions: (o) => repository.conversationIds(o),
  ConversationLockAdvisorOptions: (o) => new advisors.ConversationLockAdvisor(o),
  DbosQueueOptions: (o) => new DbosTurns({ name: 'n', run: () => client.prompt('x'), queue: o }),
  DbosTurnsOptions: (o) => new DbosTurns({ name: 'n', run: () => client.prompt('x'), ...o }),
  DefaultOptions: (o) => new advisors.DefaultsAdvisor({ options: o }),
  DefaultsAdvisorOptions: (o) => new advisors.DefaultsAdvisor(o),
  DiversifyDocumentsOptions: (o) => knowledge.diversifyDocuments({ topK: 1, ...o }),
  DrainOptions: (o) => DbosTurns.drain(o),
  DryRunOptions: (o) => advisors.dryRun(o),
  DurableAdvisorOptions: (o) => new advisors.DurableAdvisor({ engine: () => undefined, ...o }),
  EmbeddedDatabaseOptions: (o) => embeddedDatabase({ directory: '/dev/null/x', ...o }),
  EntityOptions: (o) => client.prompt('x').call().entity({ type: 'object' }, o),
  ExpandQueryOptions: (o) => knowledge.expandQuery({ model, ...o }),
  FactsOptions: (o) => knowledge.factsOf({ model, ...o }),
  FallbackAdvisorOptions: (o) => new advisors.FallbackAdvisor({ models: [model], ...o }),
  ForkOptions: (o) => turns.fork('t', 's', o),
  GoogleChatModelOptions: (o) => new GoogleChatModel({ ...http, ...o }),
  GoogleEmbeddingModelOptions: (o) => new GoogleEmbeddingModel({ ...http, ...o }),
  GroundednessOptions: (o) => evaluation.groundednessEvaluator(o),
  GuardAdvisorOptions: (o) => new advisors.GuardAdvisor({ input: [policy], ...o }),
  HistoryOptions: (o) => chatMemory.history('c', o),
  HybridRetrieverOptions: (o) => new knowledge.HybridRetriever({ retrievers: [retriever], ...o }),
  HybridToolIndexOptions: (o) => new chain.HybridToolIndex({ indexes: [new chain.KeywordToolIndex()], ...o }), // prettier-ignore
  InMemoryChatMemoryRepositoryOptions: (o) => new chain.InMemoryChatMemoryRepository(o),
  InMemoryKeyValueStoreOptions: (o) => new chain.InMemoryKeyValueStore(o),
  JudgeOptions: (o) => evaluation.factCheckingEvaluator({ model, ...o }),
  InspectorHandlerOptions: (o) => inspectorHandler(new Inspector(), o),
  InspectorOptions: (o) => new Inspector(o),
  IngestOptions: (o) => knowledge.ingest([], { store: vectors, namespace: 'n', ...o }),
  KeyValueOptions: (o) => store.set('k', 'v', o),
  KeywordRetrieverOptions: (o) => new knowledge.KeywordRetriever({ index: new knowledge.KeywordIndex(), ...o }), // prettier-ignore
  KeywordToolIndexOptions: (o) => new chain.KeywordToolIndex(o),
  KindRuleOptions: (o) => chain.secretRule(o),
  KnowledgeToolOptions: (o) => chain.knowledgeTool({ retriever: { retrieve: async () => [] }, scope: () => 'x', ...o }), // prettier-ignore
  LanguageModelOptions: (o) => asLanguageModel(client, o),
  LimitTokensOptions: (o) => knowledge.limitTokens({ maxTokens: 1, ...o }),
  LoadSkillsOptions: (o) => loadSkills('/dev/null', o),
  LoggerAdvisorOptions: (o) => new advisors.LoggerAdvisor(o),
  McpToolsOptions: (o) => mcpTools({ servers: { s: { url: 'http://localhost' } }, ...o }),
  MessageChatMemoryAdvisorOptions: (o) => new advisors.MessageChatMemoryAdvisor({ chatMemory, ...o }), // prettier-ignore
  MessageWindowChatMemoryOptions: (o) => new chain.MessageWindowChatMemory({ repository, ...o }),
  ModelRouterAdvisorOptions: (o) => advisors.modelRouter({ models: { a: model }, choose: () => 'a', ...o }), // prettier-ignore
  ModelRuleOptions: (o) => chain.modelRule({ name: 'n', model, forbids: 'x', ...o }),
  NeighboursOptions: (o) => knowledge.withNeighbours({ store: vectors, ...o }),
  NodeHandlerOptions: (o) => toNodeHandler(() => new Response(), o),
  NoProgressOptions: (o) => new advisors.ToolCallingAdvisor({ noProgress: o }),
  ObservabilityAdvisorOptions: (o) => new advisors.ObservabilityAdvisor(o),
  OfflineChatModelOptions: (o) => new OfflineChatModel(o),
  OfflineServerOptions: (o) => serveOffline(o),
  OffloadOptions: (o) => new advisors.CompactionAdvisor({ maxTokens: 1_000, offload: { store, ...o } }), // prettier-ignore
  OllamaChatModelOptions: (o) => new OllamaChatModel({ ...http, ...o }),
  OllamaEmbeddingModelOptions: (o) => new OllamaEmbeddingModel({ ...http, ...o }),
  OpenAIChatModelOptions: (o) => new OpenAIChatModel({ ...http, ...o }),
  OpenAIEmbeddingModelOptions: (o) => new OpenAIEmbeddingModel({ ...http, ...o }),
  OpenAIModerationRuleOptions: (o) => openAIModerationRule({ apiKey: 'k', ...o }),
  OpenAIResponsesModelOptions: (o) => new OpenAIResponsesModel({ ...http, ...o }),
  PatternRuleOptions: (o) => chain.patternRule({ name: 'n', pattern: /x/g, ...o }),
  PauseOptions: (o) => new advisors.ApprovalAdvisor({ pause: { secrets: 's'.repeat(32), store, ...o } }), // prettier-ignore
  PinOptions: (o) => chain.pinTools(tools, { pins, ...o }),
  PostgresChatMemoryRepositoryOptions: (o) => new PostgresChatMemoryRepository({ ...postgres, ...o }), // prettier-ignore
  PostgresKeyValueStoreOptions: (o) => new PostgresKeyValueStore({ ...postgres, ...o }),
  HnswOptions: (o) => new PostgresVectorStore({ ...postgres, hnsw: { dimensions: 2, ...o } }),
  RedisVectorStoreOptions: (o) => new RedisVectorStore({ ...redis, ...o }),
  PostgresVectorStoreOptions: (o) => new PostgresVectorStore({ ...postgres, ...o }),
  PromptCacheAdvisorOptions: (o) => new advisors.PromptCacheAdvisor(o),
  PromptedToolsModelOptions: (o) => new chain.PromptedToolsModel({ model, ...o }),
  ProviderToolSearchAdvisorOptions: (o) => new advisors.ProviderToolSearchAdvisor({ searchTool: { type: 'x' }, ...o }), // prettier-ignore
  RankFusionOptions: (o) => knowledge.fuseByRank(o),
  RateLimitAdvisorOptions: (o) => new advisors.RateLimitAdvisor({ requestsPerMinute: 1, ...o }),
  ReReadingAdvisorOptions: (o) => new advisors.ReReadingAdvisor(o),
  ReadCsvOptions: (o) => knowledge.readCsv('a', { id: 'x', ...o }),
  ReadHtmlOptions: (o) => knowledge.readHtml('a', { id: 'x', ...o }),
  ReadJsonOptions: (o) => knowledge.readJson('{}', { id: 'x', ...o }),
  ReadOptions: (o) => repository.read('c', o),
  ReadPdfOptions: (o) => knowledge.readPdf(new Uint8Array(), { id: 'x', ...o }),
  ReasoningExtractorOptions: (o) => new advisors.ReasoningExtractor(o),
  RedisChatMemoryRepositoryOptions: (o) => new RedisChatMemoryRepository({ ...redis, ...o }),
  RedisKeyValueStoreOptions: (o) => new RedisKeyValueStore({ ...redis, ...o }),
  ReplaceOptions: (o) => repository.replace('c', [], { expectedVersion: 0, ...o }),
  ResultOptions: (o) => turns.result('t', o),
  RerankDocumentsOptions: (o) => knowledge.rerankDocuments({ reranker, ...o }),
  ResponseCacheAdvisorOptions: (o) => new advisors.ResponseCacheAdvisor({ scope: () => 'x', ...o }),
  RetrievalAdvisorOptions: (o) => new advisors.RetrievalAdvisor({ retriever: { retrieve: async () => [] }, scope: () => 'x', ...o }), // prettier-ignore
  RetryAdvisorOptions: (o) => new advisors.RetryAdvisor(o),
  RewriteQueryOptions: (o) => knowledge.rewriteQuery({ model, ...o }),
  RunInputOptions: (o) => fromRunInput({}, o),
  SafeGuardAdvisorOptions: (o) => new advisors.SafeGuardAdvisor({ sensitiveWords: ['x'], ...o }),
  SendOptions: (o) => new chain.SteeringInbox().send('x', o),
  ServeMcpOptions: (o) => serveMcp(tools, o),
  SemanticCacheOptions: (o) => new advisors.ResponseCacheAdvisor({ scope: () => 'x', semantic: { embeddingModel, ...o } }), // prettier-ignore
  SimulatedStreamingAdvisorOptions: (o) => new advisors.SimulatedStreamingAdvisor(o),
  SkillToolOptions: (o) => knowledge.skillTools([skill], o),
  SqliteChatMemoryRepositoryOptions: (o) => new SqliteChatMemoryRepository({ ...sqlite, ...o }),
  SqliteKeyValueStoreOptions: (o) => new SqliteKeyValueStore({ ...sqlite, ...o }),
  SqliteVectorStoreOptions: (o) => new SqliteVectorStore({ ...sqlite, ...o }),
  StartOptions: (o) => turns.start('x', o),
  SteeringAdvisorOptions: (o) => new advisors.SteeringAdvisor({ inbox: new chain.SteeringInbox(), ...o }), // prettier-ignore
  StreamOptions: (o) => client.prompt('x').stream(o),
  StructuredOutputAdvisorOptions: (o) => new advisors.StructuredOutputAdvisor(o),
  SummarizingChatMemoryOptions: (o) => new chain.SummarizingChatMemory({ repository, model, ...o }),
  TextSplitterOptions: (o) => new knowledge.TextSplitter(o),
  TimeoutAdvisorOptions: (o) => new advisors.TimeoutAdvisor({ iteration: 1, ...o }),
  ServeOpenAIOptions: (o) => serveOpenAI({ clients: client, ...o }),
  SealedHistoryOptions: (o) => new SealedHistory({ secrets: 's'.repeat(32), ...o }),
  SealedHistoryInputOptions: (o) => new SealedHistory({ secrets: 's'.repeat(32) }).fromUIMessages({}, { conversation: 'c', ...o }), // prettier-ignore
  FromUIMessagesOptions: (o) => fromUIMessages({ messages: [] }, o as object),
  UIMessageResponseOptions: (o) =>
    toUIMessageStreamResponse(client.prompt('x').stream(), o as object),
  UIMessageChunksOptions: (o) => toUIMessageStream(client.prompt('x').stream(), o as object),
  UIMessageStreamOptions: (o) => uiMessageStream(o as object),
  InMemoryTurnLogOptions: (o) => new InMemoryTurnLog(o),
  PostgresTurnLogOptions: (o) => new PostgresTurnLog({ ...postgres, ...o } as never),
  RedisTurnLogOptions: (o) => new RedisTurnLog({ ...redis, ...o }),
  ReadJsonInputOptions: (o) => readJsonInput(new Request('http://localhost/'), o as object),
  ResumeTurnOptions: (o) => streams.resume('k', o),
  StartTurnOptions: (o) => streams.start('k', client.prompt('x').stream(), o),
  TurnStreamsOptions: (o) => new TurnStreams({ log: new InMemoryTurnLog(), ...o }),
  ToResponseOptions: (o) => toResponse(client.prompt('x').stream(), { format: 'sse', ...o }),
  ToolCacheAdvisorOptions: (o) => new advisors.ToolCacheAdvisor({ scope: () => 'x', ...o }),
  ToolCallingAdvisorOptions: (o) => new advisors.ToolCallingAdvisor(o),
  ToolCallingManagerOptions: (o) => new chain.ToolCallingManager(o),
  ToolLedgerAdvisorOptions: (o) => new advisors.ToolLedgerAdvisor({ store, ...o }),
  ToolOptions: (o) => chain.defineTool({ name: 't', execute: () => 'x', ...o }),
  ToolProviderOptions: (o) => chain.defineToolProvider({ name: 'n', tools, ...o }),
  ToolSearchAdvisorOptions: (o) => new advisors.ToolSearchAdvisor({ toolIndex: new chain.KeywordToolIndex(), ...o }), // prettier-ignore
  ToolSelectorAdvisorOptions: (o) => new advisors.ToolSelectorAdvisor({ model, ...o }),
  TranslateQueryOptions: (o) => knowledge.translateQuery({ model, language: 'x', ...o }),
  TrimOptions: (o) => trimToolResults(o),
  UpsertOptions: (o) => vectors.upsert('n', [], o),
  UseSkillToolOptions: (o) => knowledge.useSkillTool([skill], o),
  VectorMemoryAdvisorOptions: (o) => new advisors.VectorMemoryAdvisor({ store: vectors, embeddingModel, scope: () => 'x', ...o }), // prettier-ignore
  VectorRetrieverOptions: (o) => new knowledge.VectorRetriever({ store: vectors, embeddingModel, ...o }), // prettier-ignore
  VectorToolIndexOptions: (o) => new chain.VectorToolIndex({ embeddingModel, ...o }),
  WaitOptions: (o) => engine.waitFor('w', { timeout: 0, ...o }),
  WordRuleOptions: (o) => chain.wordRule({ words: ['x'], ...o }),
  WriteOptions: (o) => repository.append('c', [], o),
};

/** Types of options without a name of their own in the table. */
const COVERED: Readonly<Record<string, string>> = {
  AiSdkCallOptions: 'of the AI SDK, which adds to them',
  DecodingOptions: 'part of the options of each store',
  LoadOptions: 'the signal of a read',
  ModelCallErrorOptions: 'of an error, which must not fail to be made',
  RecordingSpanOptions: 'of OpenTelemetry, which has more of them',
};

/** Other objects of options: parts of options, and objects in them. */
const OTHERS: Readonly<Record<string, Make>> = {
  'a shared budget': (o) => new advisors.BudgetAdvisor({ shared: [{ name: 'n', key: () => 'k', maxTokens: 1, ...o }] }), // prettier-ignore
  'prices of a model': (o) => chain.priceTable({ m: { input: 1, ...o } }),
  'a policy of a guard': (o) => new advisors.GuardAdvisor({ input: [{ ...policy, ...o }] }),
  'a server of MCP': (o) => mcpTools({ servers: { s: { url: 'http://localhost', ...o } } }),
  'a schedule of turns': (o) => turns.schedule({ name: 'n', cron: '* * * * *', input: 'x', ...o }),
  'functions of an advisor': (o) => chain.defineAdvisor({ name: 'a', order: 0, before: () => undefined, ...o }), // prettier-ignore
  'an answer of a script': (o) => new ScriptedChatModel([{ text: 'x', ...o }]),
  'a tool call of a script': (o) => new ScriptedChatModel([{ toolCalls: [{ name: 'f', ...o }] }]),
};

async function failureOf(make: Make, options: object): Promise<Error> {
  try {
    await make(options);
  } catch (error) {
    return error as Error;
  }
  return new Error('nothing was refused');
}

describe('[D92] an unknown option', () => {
  it('is tried for each type of options of the public API', () => {
    const sources = ['../public-api.test.ts', '../../advisors/index.ts'].map((file) =>
      readFileSync(new URL(file, import.meta.url), 'utf8'),
    );
    const types = new Set(sources.join('\n').match(/\b[A-Z]\w*Options\b/g));

    expect([...Object.keys(PARTS), ...Object.keys(COVERED)]).to.have.members([...types]);
  });

  for (const [name, make] of Object.entries({ ...PARTS, ...OTHERS }))
    it(`[D92] is refused in ${name}`, async () => {
      const error = await failureOf(make, { 'wrong name': undefined });

      expect(error.message).to.match(/there is no option `.*wrong name`; /);
      expect(['invalid_argument', 'tool_definition']).to.include((error as chain.AdvisorChainError).code); // prettier-ignore
    });

  for (const [make, message] of [
    [() => new advisors.RetryAdvisor({ retries: 3 } as object), 'RetryAdvisor: there is no option `retries`; did you mean `maxRetries`?'], // prettier-ignore
    [() => new advisors.ToolCallingAdvisor({ toolCallingManager: 1 } as object), 'ToolCallingAdvisor: there is no option `toolCallingManager`; did you mean `manager`?'], // prettier-ignore
    [() => new OpenAIChatModel({ ...http, streamUsag: true } as never), 'OpenAIChatModel: there is no option `streamUsag`; did you mean `streamUsage`?'], // prettier-ignore
    [() => new OpenAIChatModel({ ...http, logit_bias: {} } as never), 'OpenAIChatModel: there is no option `logit_bias`; put fields of a provider into extraBody'], // prettier-ignore
    [() => new advisors.SimulatedStreamingAdvisor({ foo: 1 } as object), 'SimulatedStreamingAdvisor: there is no option `foo`; there are when, name, order'], // prettier-ignore
    [() => new advisors.RetryAdvisor('x' as never), 'RetryAdvisor: options must be a plain object, not "x"'], // prettier-ignore
  ] as const)
    it(`[D92] is refused with advice: ${message}`, async () => {
      expect((await failureOf(make, {})).message).to.equal(message);
    });
});
