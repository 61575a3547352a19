// The house: its wings and their rooms, each with a sentence and with what it may import. `import-rules.mjs` checks the imports,
// `maps.mjs` draws the tree of CONTRIBUTING.md.

/** `doors`: the wings whose doors a wing may import besides itself; of the core, every file. */
export const WINGS = {
  core: { is: 'a turn with tools, and the words that wings share', doors: [] },
  stores: {
    is: 'interfaces of stores, with those in memory; databases behind them',
    doors: ['core'],
  },
  models: { is: 'chat and embedding models, one folder for each wire', doors: ['core', 'stores'] },
  engines: {
    is: 'engines of durable turns, and the recorder that runs a turn on them',
    doors: ['core', 'stores'],
  },
  // the inspector shows no secrets: it has the rules of the guard for them
  bridges: { is: 'protocols in and out', doors: ['core', 'stores', 'advisors'] },
  knowledge: {
    is: 'documents: readers, splitters, ingest, retrievers, evaluators',
    doors: ['core', 'stores'],
  },
  testing: {
    is: 'scripted and offline models, contract suites',
    doors: ['core', 'stores', 'engines'],
  },
  advisors: {
    is: 'a file for each feature, or a folder of its name with its options and parts',
    doors: ['core', 'stores', 'engines', 'knowledge'],
  },
  cli: {
    is: 'the command line; nothing imports it',
    doors: ['core', 'stores', 'models', 'engines', 'bridges', 'knowledge', 'testing', 'advisors'],
  },
};

/** Sources without state, of which the command line may have a copy; all else it takes from the built entries. */
export const COPIED_BY_CLI =
  /^(src\/core\/(internal|errors)\/|src\/core\/chat\/(estimate-tokens|message|media-content)\.|src\/core\/tool\/hidden-text\.|src\/stores\/tool-indexes\/tool-index\.|src\/bridges\/inspector\/(request|message)-difference\.|advisors\/tool-search\/search-(result-text|tool-definition)\.)/;

const BASE = ['errors', 'internal'];
const CHAT = [...BASE, 'chat'];
const TOOL = [...CHAT, 'observation', 'json-schema', 'tool'];

/** `imports`: the rooms of its own wing that a room may import besides itself. In `testing` all rooms may. */
export const ROOMS = {
  'core/errors': { is: 'every error class with its code', imports: [] },
  'core/internal': {
    is: 'checks of options, JSON, cancellation, back-off, text; not exported',
    imports: ['errors'],
  },
  'core/chat': {
    is: 'messages, prompt, options, response, events, stream fold, record of a run',
    imports: BASE,
  },
  'core/observation': { is: 'the interface that chain, tools and models report to', imports: CHAT },
  'core/json-schema': { is: 'any schema as JSON Schema; normalizing, validating', imports: CHAT },
  'core/tool': {
    is: 'defineTool, @Tool, providers, transformations',
    imports: [...CHAT, 'observation', 'json-schema'],
  },
  'core/tool-execution': {
    is: 'tool calls: manager, checks, limits, schedule, attempts',
    imports: TOOL,
  },
  'core/advisor': {
    is: 'the chain, its positions and invariants, request, response, tool loop',
    imports: [...TOOL, 'tool-execution'],
  },
  'core/client': {
    is: 'ChatClient, prompt spec, results of call and stream',
    imports: [...TOOL, 'tool-execution', 'advisor'],
  },
  'stores/databases': { is: 'clients of SQLite, PostgreSQL and Redis', imports: [] },
  'stores/chat-memory': {
    is: 'chat memory: log, windows, summaries, repositories',
    imports: ['databases'],
  },
  'stores/key-value': {
    is: 'small shared states: locks, budgets, results of tools',
    imports: ['databases'],
  },
  'stores/turn-logs': { is: 'events of turns, for streams that resume', imports: ['databases'] },
  'stores/vectors': { is: 'embedding models and vector stores', imports: ['databases'] },
  'stores/texts': {
    is: 'the words of texts, their postings, the keyword index of documents',
    imports: ['vectors'],
  },
  'stores/tool-indexes': {
    is: 'tool indexes: keyword, regex, vector, hybrid',
    imports: ['vectors', 'texts'],
  },
  'models/http': { is: 'requests with timers and retries, streams, errors of APIs', imports: [] },
  'models/openai': { is: 'chat completions, Responses API, embeddings', imports: ['http'] },
  'models/anthropic': { is: 'Messages API', imports: ['http'] },
  'models/google': { is: 'Gemini API and Vertex AI', imports: ['http'] },
  'models/cohere': { is: 'Cohere chat and embeddings', imports: ['http'] },
  'models/ollama': { is: 'Ollama chat and embeddings', imports: ['http'] },
  'models/ai-sdk': { is: 'language models of the AI SDK, and a client as one', imports: ['http'] },
  'models/prompted-tools': { is: 'tools by text, around any model', imports: [] },
  'engines/recorder': { is: 'the recorder of a turn: names, steps, replay', imports: ['.'] },
  'engines/dbos': { is: 'DBOS: workflows, queues, schedules', imports: ['.', 'recorder'] },
  'engines/embedded': { is: 'a PostgreSQL in a folder', imports: ['.'] },
  'bridges/http': { is: 'runs as responses, errors as statuses, formats of events', imports: [] },
  'bridges/ui': { is: 'runs as UI message streams of the AI SDK', imports: ['http'] },
  'bridges/serve': { is: 'clients as an endpoint of the OpenAI API', imports: ['http'] },
  'bridges/ag-ui': { is: 'runs as events of AG-UI, and its requests', imports: ['http'] },
  'bridges/turn-log': { is: 'streams of runs that resume, in any process', imports: ['http'] },
  'bridges/inspector': {
    is: 'turns as a page: chains, timelines, changes of requests',
    imports: ['http'],
  },
  'bridges/mcp': { is: 'tools of MCP servers; tools or a client as an MCP server', imports: [] },
  'cli/chat': {
    is: 'the command chat: lines, turns, approvals, commands of a session',
    imports: [],
  },
  'knowledge/evaluation': {
    is: 'evaluators of answers: by a model, and of citations',
    imports: [],
  },
  'knowledge/skills': { is: 'skills: SKILL.md, tools that read them', imports: [] },
  'knowledge/readers': { is: 'files as documents, by optional packages', imports: [] },
  'knowledge/worker': { is: 'a file read in a process of its own', imports: ['readers'] },
  'knowledge/splitters': { is: 'chunks of documents by their structure', imports: [] },
  'knowledge/ingest': { is: 'documents into stores, again and again', imports: ['splitters'] },
  'testing/advisor-contract': { is: 'laws of advisors', imports: [] },
  'testing/memory-contract': { is: 'laws of chat memory repositories', imports: [] },
  'testing/key-value-contract': { is: 'laws of key-value stores', imports: [] },
  'testing/turn-log-contract': { is: 'laws of turn logs', imports: [] },
  'testing/vector-contract': { is: 'laws of vector stores', imports: [] },
  'cli/report': { is: 'advisor-chain tool-search-report: quality of tool indexes', imports: [] },
  'cli/doctor': { is: 'advisor-chain doctor: versions, packages, keys', imports: [] },
  'cli/run': { is: 'advisor-chain run: exported turns again, with their differences', imports: [] },
  'cli/memory': { is: 'advisor-chain memory: conversations of a store', imports: [] },
};
