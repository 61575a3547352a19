import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { expect } from 'chai';
import * as advisors from '../advisors/index.js';

interface Surface {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

/** Exports of each entry, without the advisors. A change here changes the API: name it in the CHANGELOG. */
const SURFACE: Readonly<Record<string, Surface>> = {
  '.': {
    values: [
      'AdvisorChainError',
      'AdvisorContext',
      'AdvisorOrder',
      'ApprovalError',
      'CONVERSATION_ID',
      'CancelledError',
      'ChainError',
      'ChatClient',
      'ChatClientRequest',
      'ChatClientResponse',
      'ChatResponse',
      'ContextKey',
      'ConversationLockError',
      'DocumentReadError',
      'DurableTurnError',
      'GuardError',
      'HybridToolIndex',
      'InMemoryChatMemoryRepository',
      'InMemoryDurableEngine',
      'InMemoryKeyValueStore',
      'InMemoryVectorStore',
      'IncompleteResponseError',
      'IngestError',
      'InvalidArgumentError',
      'JsonError',
      'KeyValueError',
      'KeywordToolIndex',
      'LimitExceededError',
      'MODEL_RETRIES',
      'McpServerError',
      'MemoryConflictError',
      'MemoryReadError',
      'MemoryWriteError',
      'MessageWindowChatMemory',
      'ModelCallError',
      'ModelTimeoutError',
      'NonDeterminismError',
      'OUTPUT_FORMAT',
      'PausedStateError',
      'Prompt',
      'PromptedToolsModel',
      'RETRIEVAL_FILTER',
      'RETRIEVED_DOCUMENTS',
      'RateLimitError',
      'RegexToolIndex',
      'RetrievalError',
      'SteeringInbox',
      'StoreBusyError',
      'StructuredOutputError',
      'SummarizingChatMemory',
      'TemplateError',
      'Tool',
      'ToolCallingManager',
      'ToolDefinitionError',
      'ToolError',
      'ToolExecutionError',
      'ToolOutcomeUnknownError',
      'ToolOutputError',
      'ToolProviderError',
      'ToolQuestionError',
      'TurnPausedError',
      'VectorToolIndex',
      'afterCalls',
      'afterToolCall',
      'agentTool',
      'augmentTools',
      'base64Rule',
      'citedSources',
      'decodeMessage',
      'defineAdvisor',
      'defineTool',
      'defineToolProvider',
      'encodeMessage',
      'filterTools',
      'injectionRule',
      'knowledgeTool',
      'modelRule',
      'oneAtATime',
      'patternRule',
      'piiRule',
      'pinTools',
      'prefixTools',
      'priceTable',
      'renameTools',
      'renderTemplate',
      'secretRule',
      'textOf',
      'toolCallingAutoRegister',
      'toolResult',
      'toolsFrom',
      'withToolNames',
      'wordRule',
    ],
    types: [
      'Advisor',
      'AdvisorChain',
      'AdvisorFunctions',
      'AdvisorPlace',
      'AdvisorTrait',
      'AgentOutput',
      'AgentToolOptions',
      'ApprovalAdvisorOptions',
      'ApprovalRequest',
      'AroundChain',
      'AskVerdict',
      'AssistantMessage',
      'AugmentOptions',
      'BudgetAdvisorOptions',
      'BudgetLimits',
      'BudgetStatus',
      'CallResult',
      'ChainExplanation',
      'ChatClient',
      'ChatClientBuilder',
      'ChatEvent',
      'ChatMemory',
      'ChatMemoryRepository',
      'ChatModel',
      'ChatOptions',
      'CheckRule',
      'CheckedCall',
      'Citation',
      'CitationProblem',
      'CitedDocument',
      'CitedSources',
      'ContentPart',
      'ConversationLockReason',
      'CustomEvent',
      'CustomEvents',
      'Decide',
      'Decision',
      'DecisionContext',
      'Decisions',
      'DeepPartial',
      'Document',
      'DocumentMetadata',
      'DocumentRetriever',
      'DocumentStore',
      'DurableEngine',
      'DurableEntries',
      'EffectPolicy',
      'EmbeddingModel',
      'EmbeddingResponse',
      'EntityOptions',
      'ExceededRate',
      'Exchange',
      'ExecutedToolCall',
      'FailedDocument',
      'FailedIngest',
      'FailedOperation',
      'FailedRead',
      'FailedReading',
      'FailedRetrieval',
      'FailedWrite',
      'Filter',
      'GuardAction',
      'GuardAdvisorOptions',
      'GuardCheckContext',
      'GuardErrorDetails',
      'GuardFinding',
      'GuardPlace',
      'GuardPolicy',
      'GuardReport',
      'GuardRule',
      'GuardVerdict',
      'HybridToolIndexOptions',
      'InMemoryChatMemoryRepositoryOptions',
      'InMemoryKeyValueStoreOptions',
      'InferToolInput',
      'InferToolOutput',
      'IngestReport',
      'InjectionKind',
      'IterableObservable',
      'JsonSchema',
      'KeyValueOptions',
      'KeyValueStore',
      'KeywordToolIndexOptions',
      'KindRuleOptions',
      'KnowledgeToolOptions',
      'LimitDetails',
      'LimitKind',
      'ListQuery',
      'MediaPart',
      'MemoryExtractor',
      'Message',
      'MessageWindowChatMemoryOptions',
      'Metadata',
      'ModelCallErrorOptions',
      'ModelCallRecord',
      'ModelRuleOptions',
      'NamedTool',
      'NewMemory',
      'Next',
      'NoProgressOptions',
      'OutputFormat',
      'PartialEntity',
      'PatternRuleOptions',
      'PauseOptions',
      'PausedStateReason',
      'PausedTurn',
      'PendingRequest',
      'PendingTurn',
      'PiiKind',
      'PinOptions',
      'PolicyFunction',
      'PolicyVerdict',
      'PriceOfCall',
      'PromptCache',
      'PromptCacheBreak',
      'PromptSpec',
      'PromptedToolsModelOptions',
      'Query',
      'QuestionRequest',
      'RateLimitMeasure',
      'Reconcile',
      'ReconcileOption',
      'Reconciled',
      'RecordedCall',
      'Redact',
      'RememberedDecision',
      'RememberedOf',
      'ResponseEntity',
      'ResponseFormat',
      'ResumeDecisions',
      'RetractedText',
      'RetrievalAdvisorOptions',
      'RunReport',
      'SecretKind',
      'SendOptions',
      'SharedBudget',
      'Source',
      'SourcesEvent',
      'SteeringMode',
      'SteeringOutcome',
      'Step',
      'StopCondition',
      'StoredMessages',
      'StreamOptions',
      'StreamResult',
      'StructuredOutputReason',
      'SummarizingChatMemoryOptions',
      'SystemMessage',
      'SystemSpec',
      'TemplateParams',
      'TemplateRenderer',
      'TextRule',
      'TextScan',
      'TokenPrices',
      'Tool',
      'ToolApprovalEvent',
      'ToolCall',
      'ToolCallHandler',
      'ToolCallRecord',
      'ToolCallingManagerOptions',
      'ToolChoice',
      'ToolContext',
      'ToolContextValues',
      'ToolDefinition',
      'ToolEffect',
      'ToolErrorPolicy',
      'ToolExecutionResult',
      'ToolIndex',
      'ToolInvocation',
      'ToolLedgerAdvisorOptions',
      'ToolManager',
      'ToolMessage',
      'ToolMetadata',
      'ToolNameRule',
      'ToolOptions',
      'ToolPins',
      'ToolPolicy',
      'ToolProvider',
      'ToolProviderOptions',
      'ToolReconcileEvent',
      'ToolResolver',
      'ToolResult',
      'ToolRun',
      'ToolSelection',
      'TurnBudgetLimits',
      'UpsertOptions',
      'Usage',
      'UserMessage',
      'UserSpec',
      'Vector',
      'VectorQuery',
      'VectorStore',
      'VectorToolIndexOptions',
      'WaitOptions',
      'WordRuleOptions',
    ],
  },
  './openai': {
    values: [
      'OpenAIChatModel',
      'OpenAIEmbeddingModel',
      'OpenAIResponsesModel',
      'openAIModerationRule',
    ],
    types: [
      'OpenAIChatModelOptions',
      'OpenAIClient',
      'OpenAIEmbeddingModelOptions',
      'OpenAIModerationRule',
      'OpenAIModerationRuleOptions',
      'OpenAIResponsesModelOptions',
    ],
  },
  './anthropic': {
    values: ['AnthropicChatModel'],
    types: ['AnthropicChatModelOptions'],
  },
  './google': {
    values: ['GoogleChatModel', 'GoogleEmbeddingModel'],
    types: ['GoogleChatModelOptions', 'GoogleEmbeddingModelOptions'],
  },
  './cohere': {
    values: ['CohereChatModel', 'CohereEmbeddingModel', 'CohereReranker'],
    types: [
      'CohereChatModelOptions',
      'CohereEmbeddingModelOptions',
      'CohereRerankerOptions',
      'RerankResponse',
      'Reranker',
    ],
  },
  './ollama': {
    values: ['OllamaChatModel', 'OllamaEmbeddingModel'],
    types: ['OllamaChatModelOptions', 'OllamaEmbeddingModelOptions'],
  },
  './ai-sdk': {
    values: ['AiSdkChatModel', 'asLanguageModel'],
    types: [
      'AiSdkCallOptions',
      'AiSdkChatModelOptions',
      'AiSdkLanguageModel',
      'LanguageModelOptions',
      'LanguageModelV3',
    ],
  },
  './ui': {
    values: ['fromUIMessages', 'toUIMessageStreamResponse', 'uiMessageStream', 'visibleParts'],
    types: [
      'FromUIMessagesOptions',
      'UIFinishReason',
      'UIInput',
      'UIMessageChunk',
      'UIMessageMetadata',
      'UIMessageResponseOptions',
      'UIMessageStreamOptions',
      'UIPart',
    ],
  },
  './ag-ui': {
    values: ['agUI', 'fromRunInput'],
    types: ['AgUIOptions', 'RunInput', 'RunInputOptions'],
  },
  './http': {
    values: [
      'errorResponse',
      'invalidInput',
      'readInput',
      'toHttpError',
      'toNodeHandler',
      'toResponse',
    ],
    types: [
      'EventSource',
      'FormatName',
      'HeaderFields',
      'HttpError',
      'NodeHandler',
      'NodeHandlerOptions',
      'NodeIncoming',
      'NodeOutgoing',
      'ObservableEvents',
      'StreamEncoder',
      'StreamFormat',
      'ToResponseOptions',
      'WrappedIncoming',
      'WrappedOutgoing',
    ],
  },
  './serve': {
    values: ['serveOpenAI'],
    types: ['ServeOpenAIOptions', 'ServedCall'],
  },
  './mcp': {
    values: ['mcpTools', 'serveMcp'],
    types: [
      'McpClient',
      'McpEndpoint',
      'McpProblem',
      'McpProgram',
      'McpRequestContext',
      'McpServer',
      'McpServerSettings',
      'McpTools',
      'McpToolsOptions',
      'McpTransport',
      'ServeMcpOptions',
    ],
  },
  './memory': {
    values: ['isSummary', 'repairHistory', 'trimToolResults'],
    types: [
      'AddOptions',
      'AppendOptions',
      'ChatMemoryCapabilities',
      'ConversationIdsOptions',
      'ConversationLog',
      'DecodingOptions',
      'HistoryCall',
      'HistoryMessage',
      'HistoryOptions',
      'HistoryPage',
      'LoadOptions',
      'MemorySnapshot',
      'MessageTrimmer',
      'OversizedTurn',
      'ReadOptions',
      'ReplaceOptions',
      'RunningTurn',
      'StoredMessage',
      'TrimOptions',
      'UnreadableMessage',
      'WriteOptions',
    ],
  },
  './memory/sqlite': {
    values: ['SqliteChatMemoryRepository'],
    types: ['SqliteChatMemoryRepositoryOptions', 'SqliteDatabase'],
  },
  './memory/postgres': {
    values: ['PostgresChatMemoryRepository'],
    types: ['PostgresChatMemoryRepositoryOptions', 'PostgresClient'],
  },
  './memory/redis': {
    values: ['RedisChatMemoryRepository'],
    types: ['RedisChatMemoryRepositoryOptions', 'RedisClient'],
  },
  './key-value/sqlite': {
    values: ['SqliteKeyValueStore'],
    types: ['SqliteDatabase', 'SqliteKeyValueStoreOptions'],
  },
  './key-value/postgres': {
    values: ['PostgresKeyValueStore'],
    types: ['PostgresClient', 'PostgresKeyValueStoreOptions'],
  },
  './key-value/redis': {
    values: ['RedisKeyValueStore'],
    types: ['RedisClient', 'RedisKeyValueStoreOptions'],
  },
  './vectors/sqlite': {
    values: ['SqliteVectorStore'],
    types: ['SqliteDatabase', 'SqliteVectorStoreOptions'],
  },
  './vectors/redis': {
    values: ['RedisVectorStore'],
    types: ['RedisClient', 'RedisVectorStoreOptions'],
  },
  './vectors/postgres': {
    values: ['PostgresVectorStore'],
    types: ['HnswOptions', 'PostgresClient', 'PostgresVectorStoreOptions'],
  },
  './durable/dbos': {
    values: ['DbosTurns', 'dbosEngine'],
    types: [
      'DbosQueueOptions',
      'DbosTurn',
      'DbosTurnStatus',
      'DbosTurnsOptions',
      'DrainOptions',
      'Drained',
      'ForkOptions',
      'RecordedStep',
      'ResultOptions',
      'StartOptions',
      'TurnSchedule',
    ],
  },
  './durable/embedded': {
    values: ['embeddedDatabase'],
    types: ['EmbeddedDatabase', 'EmbeddedDatabaseOptions', 'EmbeddedDbosConfig'],
  },
  './chat': {
    values: ['StreamFold', 'TurnId', 'addUsage', 'mergeOptions'],
    types: [
      'Backpressure',
      'Cancellable',
      'ChatResponseFields',
      'Generation',
      'ModelProvider',
      'ModelRun',
      'OfferedTool',
      'RateLimit',
      'ToolCallPiece',
    ],
  },
  './tool-search': {
    values: ['AlwaysEviction', 'CompositeEviction', 'LruEviction', 'NeverEviction', 'TtlEviction'],
    types: [
      'EvictionStrategy',
      'ToolIndexRequest',
      'ToolReference',
      'ToolRemovalRequest',
      'ToolSearchRequest',
      'ToolSearchResponse',
    ],
  },
  './knowledge': {
    values: [
      'HybridRetriever',
      'Ingest',
      'KeywordIndex',
      'KeywordRetriever',
      'TextSplitter',
      'VectorRetriever',
      'checkFilter',
      'compressQuery',
      'concatenateDocuments',
      'diversifyDocuments',
      'expandQuery',
      'factsOf',
      'fuseByRank',
      'ingest',
      'insightsOf',
      'limitTokens',
      'matchesFilter',
      'minimumScore',
      'parseFilter',
      'parseSkill',
      'readCsv',
      'readDocx',
      'readHtml',
      'readJson',
      'readMarkdown',
      'readPdf',
      'readText',
      'rerankDocuments',
      'rewriteQuery',
      'skillTools',
      'translateQuery',
      'useSkillTool',
      'withNeighbours',
    ],
    types: [
      'Comparison',
      'CompressQueryOptions',
      'DiversifyDocumentsOptions',
      'Document',
      'DocumentJoiner',
      'DocumentMetadata',
      'DocumentOutcome',
      'DocumentPostProcessor',
      'DocumentRetriever',
      'DocumentSource',
      'DocumentSplitter',
      'DocumentStore',
      'Exchange',
      'ExpandQueryOptions',
      'FactsOptions',
      'FileContent',
      'Filter',
      'HybridRetrieverOptions',
      'IngestEvent',
      'IngestOptions',
      'IngestReport',
      'KeywordRetrieverOptions',
      'LimitTokensOptions',
      'ListQuery',
      'MemoryExtractor',
      'MetadataValue',
      'NeighboursOptions',
      'NewMemory',
      'Query',
      'QueryExpander',
      'QueryFilter',
      'QueryTransformer',
      'RankFusionOptions',
      'ReadCsvOptions',
      'ReadHtmlOptions',
      'ReadJsonOptions',
      'ReadOptions',
      'ReadPdfOptions',
      'RerankDocumentsOptions',
      'RerankResponse',
      'Reranker',
      'RewriteQueryOptions',
      'Scalar',
      'Skill',
      'SkillFile',
      'SkillToolOptions',
      'TextQuery',
      'TextSplitterOptions',
      'TranslateQueryOptions',
      'UpsertOptions',
      'UseSkillToolOptions',
      'VectorQuery',
      'VectorRetrieverOptions',
      'VectorStore',
    ],
  },
  './evaluation': {
    values: [
      'checkCitations',
      'evaluationInput',
      'factCheckingEvaluator',
      'groundednessEvaluator',
      'relevancyEvaluator',
    ],
    types: [
      'CheckedCitation',
      'CheckedSentence',
      'Citation',
      'CitationProblem',
      'CitationReport',
      'Document',
      'Evaluation',
      'EvaluationInput',
      'Evaluator',
      'GroundednessOptions',
      'JudgeOptions',
    ],
  },
  './knowledge/worker': {
    values: ['readInWorker'],
    types: ['FileReaders', 'WorkerLimits'],
  },
  './skills': {
    values: ['loadSkills'],
    types: ['LoadSkillsOptions'],
  },
  './json-schema': {
    values: [
      'augmentSchema',
      'canonicalJson',
      'compatibilityReport',
      'normalizeSchema',
      'parseJson',
    ],
    types: [
      'CompatibilityReport',
      'InferInput',
      'InferOutput',
      'InputSchema',
      'JsonValue',
      'NormalizedSchema',
      'PublishedTool',
      'SchemaChange',
      'ToolCompatibility',
      'Validation',
    ],
  },
  './zod3': {
    values: [],
    types: [],
  },
  './testing': {
    values: [
      'OfflineChatModel',
      'RecordingTracer',
      'ScriptExhaustedError',
      'ScriptedChatModel',
      'approveAll',
      'collect',
      'describeRun',
      'itBehavesLikeAChatMemoryRepository',
      'itBehavesLikeADurableEngine',
      'itBehavesLikeAKeyValueStore',
      'itBehavesLikeAToolIndex',
      'itBehavesLikeAVectorStore',
      'itBehavesLikeAnAdvisor',
      'offlineAnswer',
      'serveOffline',
    ],
    types: [
      'AdvisorContract',
      'ChatMemoryRepositoryContract',
      'DurableEngineContract',
      'KeyValueStoreContract',
      'OfflineAnswer',
      'OfflineChatModelOptions',
      'OfflineQuestion',
      'OfflineRequest',
      'OfflineServer',
      'OfflineServerOptions',
      'PlannedCall',
      'RecordedSpan',
      'RecordingSpan',
      'RecordingSpanOptions',
      'Script',
      'ScriptedAnswer',
      'ScriptedParts',
      'ScriptedToolCall',
      'SpanLike',
      'TestRunner',
      'ToolIndexContract',
      'TurnBody',
      'VectorStoreContract',
    ],
  },
};

/** The names that a file exports, from its source: types leave no trace at run time. */
function declared(file: string): Surface {
  const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  const values: string[] = [];
  const types: string[] = [];
  for (const [, kind, list = ''] of source.matchAll(/^export (type )?\{([^}]*)\}/gm))
    for (const name of list
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean))
      ((kind ?? name.startsWith('type ')) ? types : values).push(
        name.replace(/^type /, '').replace(/^.* as /, ''),
      );
  for (const [, name = ''] of source.matchAll(/^export (?:type|interface) (\w+)/gm))
    types.push(name);
  for (const [, name = ''] of source.matchAll(
    /^export (?:const|(?:async )?function|(?:abstract )?class) (\w+)/gm,
  ))
    values.push(name);
  for (const [, path = ''] of source.matchAll(/^export \* from '(.+)\.js';/gm)) {
    if (path.endsWith('advisors/index')) continue;
    const others = declared(join(dirname(file), `${path}.ts`));
    values.push(...others.values);
    types.push(...others.types);
  }
  return { values: values.toSorted(), types: types.toSorted() };
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

const manifest = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as Manifest;

/** The source of each entry of the package. */
const entries = Object.entries(manifest.exports).flatMap(([entry, target]) =>
  typeof target === 'string'
    ? []
    : [[entry, target.types.replace('./dist/types/', '').replace(/\.d\.ts$/, '.ts')] as const],
);

/** Packages that a file loads when it is imported; imports of types alone are erased. */
function packagesOf(file: string, visited = new Set<string>()): readonly string[] {
  if (visited.has(file)) return [];
  visited.add(file);
  const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  const paths = [...source.matchAll(/^(?:import|export) (?!type)(?:[^;']* from )?'([^']+)';/gm)];
  const found = paths.flatMap(([, path = '']) =>
    path.startsWith('.')
      ? packagesOf(join(dirname(file), path.replace(/\.js$/, '.ts')), visited)
      : [
          path
            .split('/')
            .slice(0, path.startsWith('@') ? 2 : 1)
            .join('/'),
        ],
  );
  return [...new Set(found)].filter((path) => !path.startsWith('node:')).toSorted();
}

describe('importing an entry', () => {
  /** Besides those that the build makes a part of the package. */
  const PACKAGES: Readonly<Record<string, readonly string[]>> = {
    './durable/dbos': ['@dbos-inc/dbos-sdk'],
    './zod3': ['zod', 'zod-to-json-schema'],
  };

  for (const [entry, file] of entries)
    it(`[D35] "${entry}" loads no package but ${PACKAGES[entry]?.join(', ') ?? 'rxjs'}`, () => {
      const loaded = packagesOf(file).filter((path) => !['rxjs', '@noble/hashes'].includes(path));

      expect(loaded).to.deep.equal(PACKAGES[entry] ?? []);
    });
});

describe('the public names', () => {
  it('include every advisor of advisors/', async () => {
    const main = await import('../src/index.js');

    expect(Object.keys(main)).to.include.members(Object.keys(advisors));
  });

  it('are listed here for every entry of the package', () => {
    expect(Object.keys(SURFACE)).to.deep.equal(entries.map(([entry]) => entry));
  });

  for (const [entry, file] of entries) {
    it(`of "${entry}" are those and no others`, () => {
      expect(declared(file)).to.deep.equal(SURFACE[entry]);
    });

    it(`of "${entry}" that are values are there at run time`, async () => {
      const module = (await import(`../${file}`)) as object;
      const own = Object.keys(module).filter((name) => !(name in advisors));

      expect(own.toSorted()).to.deep.equal(SURFACE[entry]?.values);
      expect(Object.values(module).every((value) => value !== undefined)).to.equal(true);
    });
  }
});
