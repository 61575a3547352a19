import { readFileSync } from 'node:fs';
import { expect } from 'chai';

interface Surface {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

/** What each entry exports. A change here is a change for every user: say so in the CHANGELOG. */
const SURFACE: Readonly<Record<string, Surface>> = {
  '.': {
    values: [
      'AdvisorChainError',
      'AdvisorContext',
      'AdvisorOrder',
      'AdvisorSpec',
      'AlwaysEviction',
      'CONVERSATION_ID',
      'CancelledError',
      'ChainError',
      'ChatClient',
      'ChatClientRequest',
      'ChatClientResponse',
      'ChatResponse',
      'CompositeEviction',
      'ContextKey',
      'HybridToolIndex',
      'InMemoryChatMemoryRepository',
      'InMemoryVectorStore',
      'IncompleteResponseError',
      'InvalidArgumentError',
      'JsonError',
      'KeywordToolIndex',
      'LimitExceededError',
      'LoggerAdvisor',
      'LruEviction',
      'MemoryConflictError',
      'MemoryReadError',
      'MemoryWriteError',
      'MessageChatMemoryAdvisor',
      'MessageWindowChatMemory',
      'ModelCallError',
      'ModelTimeoutError',
      'NeverEviction',
      'Prompt',
      'ProviderToolSearchAdvisor',
      'RegexToolIndex',
      'StreamFold',
      'StructuredOutputError',
      'SummarizingChatMemory',
      'TemplateError',
      'Tool',
      'ToolCallingAdvisor',
      'ToolCallingManager',
      'ToolDefinitionError',
      'ToolError',
      'ToolExecutionError',
      'ToolProviderError',
      'ToolSearchAdvisor',
      'TtlEviction',
      'Turn',
      'VectorToolIndex',
      'addUsage',
      'augmentTools',
      'canonicalJson',
      'compatibilityReport',
      'decodeMessage',
      'defineAdvisor',
      'defineTool',
      'defineToolProvider',
      'encodeMessage',
      'filterTools',
      'mergeOptions',
      'normalizeSchema',
      'parseJson',
      'pinTools',
      'prefixTools',
      'renameTools',
      'renderTemplate',
      'repairHistory',
      'textOf',
      'toolCallingAutoRegister',
      'toolFingerprint',
      'toolResult',
      'toolSearchReport',
      'toolsFrom',
      'trimToolResults',
      'withToolNames',
      'withUniqueCallIds',
    ],
    types: [
      'AddOptions',
      'Advisor',
      'AdvisorChain',
      'AdvisorConfigurer',
      'AdvisorFunctions',
      'After',
      'Around',
      'AssistantMessage',
      'AugmentOptions',
      'AugmentedCall',
      'Before',
      'CallCounts',
      'CallResult',
      'Cancellable',
      'CatalogueTool',
      'ChainExplanation',
      'ChangedSource',
      'ChangedTool',
      'ChatClient',
      'ChatClientBuilder',
      'ChatClientRequestFields',
      'ChatEvent',
      'ChatMemory',
      'ChatMemoryCapabilities',
      'ChatMemoryRepository',
      'ChatModel',
      'ChatOptions',
      'ChatResponseFields',
      'CompatibilityReport',
      'ContentPart',
      'ConversationIdsOptions',
      'ConversationLog',
      'EmbeddingModel',
      'EmbeddingResponse',
      'ErrorClass',
      'EvictionStrategy',
      'ExecutedToolCall',
      'Generation',
      'HybridToolIndexOptions',
      'InMemoryChatMemoryRepositoryOptions',
      'InferInput',
      'InputSchema',
      'JsonSchema',
      'JsonValue',
      'KeywordToolIndexOptions',
      'LabelledQuery',
      'LimitBreach',
      'LimitKind',
      'LogEntry',
      'LoggerAdvisorOptions',
      'MediaPart',
      'Message',
      'MessageChatMemoryAdvisorOptions',
      'MessageTrimmer',
      'MessageWindowChatMemoryOptions',
      'Metadata',
      'ModelCallErrorOptions',
      'ModelRun',
      'Next',
      'NormalizedSchema',
      'OfferedTool',
      'OversizedTurn',
      'PinOptions',
      'PromptSpec',
      'ProvidedTools',
      'ProviderToolSearchAdvisorOptions',
      'PublishedTool',
      'RateLimit',
      'ReadOptions',
      'Ready',
      'Remembered',
      'ReplaceOptions',
      'ResponseEntity',
      'ResponseEvent',
      'ResponseFormat',
      'RunningTurn',
      'SchemaChange',
      'StoredMessage',
      'StreamResult',
      'SummarizingChatMemoryOptions',
      'SystemInput',
      'SystemMessage',
      'SystemSpec',
      'TemplateParams',
      'TemplateRenderer',
      'Tool',
      'ToolCall',
      'ToolCallDelta',
      'ToolCallHandler',
      'ToolCallPiece',
      'ToolCallWrapper',
      'ToolCallingAdvisorOptions',
      'ToolCallingManagerOptions',
      'ToolChoice',
      'ToolCompatibility',
      'ToolContext',
      'ToolContextInput',
      'ToolContextValues',
      'ToolDefinition',
      'ToolEffect',
      'ToolErrorPolicy',
      'ToolExecutionResult',
      'ToolIndex',
      'ToolIndexRequest',
      'ToolInput',
      'ToolInvocation',
      'ToolMessage',
      'ToolMetadata',
      'ToolMethodOptions',
      'ToolNameRule',
      'ToolOptions',
      'ToolPins',
      'ToolProvider',
      'ToolProviderOptions',
      'ToolProviderRequest',
      'ToolReference',
      'ToolResolver',
      'ToolResolverRequest',
      'ToolResult',
      'ToolRun',
      'ToolSearchAdvisorOptions',
      'ToolSearchOptions',
      'ToolSearchReport',
      'ToolSearchReportOptions',
      'ToolSearchRequest',
      'ToolSearchResponse',
      'ToolSettings',
      'ToolSource',
      'ToolValue',
      'TrimOptions',
      'Usage',
      'UserInput',
      'UserMessage',
      'UserSpec',
      'Validation',
      'Vector',
      'VectorEntry',
      'VectorMatch',
      'VectorMetadata',
      'VectorQuery',
      'VectorStore',
      'VectorToolIndexOptions',
      'WriteOptions',
    ],
  },
  './openai': {
    values: ['OpenAIChatModel', 'OpenAIEmbeddingModel'],
    types: ['OpenAIChatModelOptions', 'OpenAIEmbeddingModelOptions'],
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
  './testing': {
    values: [
      'OfflineChatModel',
      'ScriptExhaustedError',
      'ScriptedChatModel',
      'itBehavesLikeAChatMemoryRepository',
      'itBehavesLikeAToolIndex',
      'itBehavesLikeAnAdvisor',
      'offlineAnswer',
      'serveOffline',
    ],
    types: [
      'AdvisorContract',
      'ChatMemoryRepositoryContract',
      'OfflineAnswer',
      'OfflineChatModelOptions',
      'OfflineQuestion',
      'OfflineRequest',
      'OfflineServer',
      'OfflineServerOptions',
      'PlannedCall',
      'Script',
      'ScriptedAnswer',
      'ScriptedParts',
      'ScriptedToolCall',
      'ToolIndexContract',
    ],
  },
};

/** The names that an entry exports, from its source: types leave no trace at run time. */
function declared(file: string): Surface {
  const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  const values: string[] = [];
  const types: string[] = [];
  for (const [, kind, list = ''] of source.matchAll(/^export (type )?\{([^}]*)\}/gm))
    for (const name of list
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean))
      ((kind ?? name.startsWith('type ')) ? types : values).push(name.replace(/^type /, '').replace(/^.* as /, ''));
  for (const [, name = ''] of source.matchAll(/^export (?:type|interface) (\w+)/gm)) types.push(name);
  for (const [, name = ''] of source.matchAll(/^export (?:const|class) (\w+)/gm)) values.push(name);
  return { values: values.toSorted(), types: types.toSorted() };
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Manifest;

/** The source of each entry of the package. */
const entries = Object.entries(manifest.exports).flatMap(([entry, target]) =>
  typeof target === 'string' ? [] : [[entry, target.default.replace('./dist/', '').replace(/\.js$/, '.ts')] as const],
);

describe('the public names', () => {
  it('are listed here for every entry of the package', () => {
    expect(Object.keys(SURFACE)).to.deep.equal(entries.map(([entry]) => entry));
  });

  for (const [entry, file] of entries) {
    it(`of "${entry}" are those and no others`, () => {
      expect(declared(file)).to.deep.equal(SURFACE[entry]);
    });

    it(`of "${entry}" that are values are there at run time`, async () => {
      const module = (await import(`../${file}`)) as object;

      expect(Object.keys(module).toSorted()).to.deep.equal(SURFACE[entry]?.values);
      expect(Object.values(module).every((value) => value !== undefined)).to.equal(true);
    });
  }
});
