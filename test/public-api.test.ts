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
      'DurableTurnError',
      'GuardError',
      'HybridToolIndex',
      'InMemoryChatMemoryRepository',
      'InMemoryDurableEngine',
      'InMemoryKeyValueStore',
      'InMemoryVectorStore',
      'IncompleteResponseError',
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
      'RateLimitError',
      'RegexToolIndex',
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
      'agentTool',
      'augmentTools',
      'base64Rule',
      'decodeMessage',
      'defineAdvisor',
      'defineTool',
      'defineToolProvider',
      'encodeMessage',
      'filterTools',
      'injectionRule',
      'modelRule',
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
      'Citation',
      'CompactionAdvisorOptions',
      'CompactionFailure',
      'CompactionReport',
      'CompactionRung',
      'ContentPart',
      'ConversationLockReason',
      'CustomEvent',
      'CustomEvents',
      'Decide',
      'Decision',
      'DecisionContext',
      'Decisions',
      'DeepPartial',
      'DurableEngine',
      'DurableEntries',
      'EffectPolicy',
      'EmbeddingModel',
      'EmbeddingResponse',
      'EntityOptions',
      'ExceededRate',
      'ExecutedToolCall',
      'FailedOperation',
      'FailedRead',
      'FailedWrite',
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
      'InjectionKind',
      'IterableObservable',
      'JsonSchema',
      'KeyValueOptions',
      'KeyValueStore',
      'KeywordToolIndexOptions',
      'KindRuleOptions',
      'LimitDetails',
      'LimitKind',
      'MediaPart',
      'Message',
      'MessageWindowChatMemoryOptions',
      'Metadata',
      'ModelCallErrorOptions',
      'ModelCallRecord',
      'ModelRuleOptions',
      'Next',
      'NoProgressOptions',
      'OffloadOptions',
      'OutputFormat',
      'PartialEntity',
      'PatternRuleOptions',
      'PauseOptions',
      'PausedStateReason',
      'PausedTurn',
      'PendingRequest',
      'PiiKind',
      'PinOptions',
      'PolicyFunction',
      'PolicyVerdict',
      'PriceOfCall',
      'PromptCache',
      'PromptCacheBreak',
      'PromptSpec',
      'PromptedToolsModelOptions',
      'QuestionRequest',
      'RateLimitMeasure',
      'RecordedCall',
      'Redact',
      'ResponseEntity',
      'ResponseFormat',
      'ResultOffloaded',
      'RetractedText',
      'RunReport',
      'SecretKind',
      'SendOptions',
      'SharedBudget',
      'SteeringMode',
      'SteeringOutcome',
      'Step',
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
      'ToolResolver',
      'ToolResult',
      'ToolRun',
      'ToolSelection',
      'TurnBudgetLimits',
      'UnknownOutcome',
      'Usage',
      'UserMessage',
      'UserSpec',
      'Vector',
      'VectorEntry',
      'VectorMatch',
      'VectorMetadata',
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
    values: ['CohereChatModel', 'CohereEmbeddingModel'],
    types: ['CohereChatModelOptions', 'CohereEmbeddingModelOptions'],
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
    values: ['repairHistory', 'trimToolResults'],
    types: [
      'AddOptions',
      'ChatMemoryCapabilities',
      'ConversationIdsOptions',
      'ConversationLog',
      'DecodingOptions',
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
    values: ['StreamFold', 'TurnId', 'addUsage', 'mergeOptions', 'withUniqueCallIds'],
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
  './evaluation': {
    values: ['compareSearchReports', 'toolSearchReport'],
    types: [
      'CatalogueTool',
      'Interval',
      'LabelledQuery',
      'QueryResult',
      'Recall',
      'SearchQuality',
      'ToolSearchReport',
      'ToolSearchReportOptions',
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
      'describeRun',
      'itBehavesLikeAChatMemoryRepository',
      'itBehavesLikeADurableEngine',
      'itBehavesLikeAKeyValueStore',
      'itBehavesLikeAToolIndex',
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
  for (const [, path = ''] of source.matchAll(/^export \* from '\.\/(.+)\.js';/gm)) {
    const others = declared(`${dirname(file)}/${path}.ts`);
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
      const bundled = ['@cfworker/json-schema', '@noble/hashes'];
      const loaded = packagesOf(file).filter((path) => !['rxjs', ...bundled].includes(path));

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
