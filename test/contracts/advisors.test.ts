import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import {
  catchError,
  concat,
  defer,
  filter,
  merge,
  of,
  race,
  repeat,
  retry,
  takeUntil,
  tap,
  timeout,
  timer,
} from 'rxjs';
import * as advisors from '../../advisors/index.js';
import { AdvisorOrder, type Advisor, type AdvisorChain } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { defineAdvisor } from '../../src/core/advisor/define-advisor.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import { ChatResponse } from '../../src/core/chat/chat-response.js';
import { ContextKey, CONVERSATION_ID } from '../../src/core/chat/context.js';
import { InMemoryChatMemoryRepository } from '../../src/stores/chat-memory/in-memory-chat-memory-repository.js';
import { InMemoryDurableEngine } from '../../src/engines/in-memory-engine.js';
import { InMemoryKeyValueStore } from '../../src/stores/key-value/in-memory-key-value-store.js';
import { MessageWindowChatMemory } from '../../src/stores/chat-memory/message-window-chat-memory.js';
import { textOf } from '../../src/core/chat/message.js';
import type { GuardAdvisorOptions, GuardPolicy } from '../../advisors/guard/guard-options.js';
import type { CheckRule, TextRule } from '../../advisors/guard/guard-rule.js';
import type { Observable } from '../../src/core/internal/rxjs.js';
import {
  itBehavesLikeAnAdvisor,
  ScriptedChatModel,
  type AdvisorContract,
} from '../../src/testing/index.js';
import { SteeringInbox } from '../../advisors/steering/steering-inbox.js';
import { KeywordToolIndex } from '../../src/stores/tool-indexes/keyword-tool-index.js';
import { InMemoryVectorStore } from '../../src/stores/vectors/in-memory-vector-store.js';
import { observed } from '../support/observers.js';
import { SimilarEmbedding } from '../support/question-pairs.js';
import { SORRY, untilAnswer } from '../support/rxjs-kit.js';
import { memoryParts, USER } from '../support/vector-memory.js';

/** A memory advisor with a repository of its own, whose messages are the effects; each user has a conversation. */
function memory(options: Partial<advisors.MessageChatMemoryAdvisorOptions> = {}): AdvisorContract {
  let repository = new InMemoryChatMemoryRepository();
  return {
    name: `chat-memory with ${JSON.stringify(options)}`,
    create: () => {
      repository = new InMemoryChatMemoryRepository();
      return new advisors.MessageChatMemoryAdvisor({
        chatMemory: new MessageWindowChatMemory({ repository }),
        ...options,
      });
    },
    request: (request) =>
      request.withContext(CONVERSATION_ID, textOf(request.prompt.userMessage?.content ?? '')),
    observe: async () => {
      const ids = await repository.conversationIds();
      const logs = await Promise.all(ids.map((id) => repository.read(id)));
      return logs.map(({ messages }) => messages.map(({ message }) => message));
    },
  };
}

/** A memory with a store of its own, whose memories are the effects; each user has a namespace. */
function vectorMemory(options: Partial<advisors.VectorMemoryAdvisorOptions> = {}): AdvisorContract {
  let store = new InMemoryVectorStore();
  return {
    name: `vector-memory with ${JSON.stringify(options)}`,
    create: () => {
      store = new InMemoryVectorStore();
      return memoryParts(options, store).memory;
    },
    request: (request) =>
      request.withContext(USER, textOf(request.prompt.userMessage?.content ?? '')),
    observe: async () =>
      [...(await store.list('anna')), ...(await store.list('bert'))].map(({ text }) => text),
  };
}

function toolSearch(
  name: string,
  options: Partial<advisors.ToolSearchAdvisorOptions> = {},
  conversation?: string,
): AdvisorContract {
  return {
    name,
    create: () => new advisors.ToolSearchAdvisor({ toolIndex: new KeywordToolIndex(), ...options }),
    ...(conversation !== undefined && {
      request: (request) => request.withContext(CONVERSATION_ID, conversation),
    }),
  };
}

function routing(
  name: string,
  options: Partial<advisors.ModelRouterAdvisorOptions<'other'>>,
): AdvisorContract {
  const models = { other: new ScriptedChatModel([]) };
  const choose = (): undefined => undefined;
  return { name, create: () => advisors.modelRouter({ models, choose, ...options }) };
}

function caching(options: Partial<advisors.ResponseCacheAdvisorOptions>): AdvisorContract {
  return { create: () => new advisors.ResponseCacheAdvisor({ scope: () => 'all', ...options }) };
}

/** Errors of the laws come from no model: all of them are repeated. */
const always = (error: unknown): boolean => error !== undefined;

function fallback(name: string, when?: typeof always): AdvisorContract {
  const models = [new ScriptedChatModel([])];
  return {
    name,
    create: () => new advisors.FallbackAdvisor({ models, when }),
    handlesErrors: true,
    writesFields: true,
  };
}

function retrying(name: string, options: advisors.RetryAdvisorOptions): AdvisorContract {
  const create = (): Advisor => new advisors.RetryAdvisor({ firstDelay: 0, ...options });
  return { name, create, handlesErrors: true };
}

const NOTHING: TextRule = {
  name: 'nothing',
  scan: (text) => ({ findings: [], settled: text.length }),
};
const PASSES: CheckRule = { name: 'passes', check: () => later({ flagged: false }) };
const REFUSES: CheckRule = { name: 'refuses', check: () => later({ flagged: true }) };
const blocking = (...rules: readonly (TextRule | CheckRule)[]): readonly GuardPolicy[] => [
  { rules, action: 'block' },
];
const LOOKS = blocking(NOTHING);
const JUDGES = blocking(NOTHING, PASSES);
const BLOCKS = blocking(REFUSES);

function guarding(
  name: string,
  options: GuardAdvisorOptions,
  more: Partial<AdvisorContract> = {},
): AdvisorContract {
  return { name, create: () => new advisors.GuardAdvisor(options), ...more };
}

/** The guard of answers, a part of the advisor. */
function guardingAnswers(
  name: string,
  options: GuardAdvisorOptions,
  more: Partial<AdvisorContract> = {},
): AdvisorContract {
  const create = (): Advisor => new advisors.GuardAdvisor(options).parts[0] as Advisor;
  return { name, create, ...more };
}

const provider = new BasicTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(new InMemorySpanExporter())],
});
const silent = { info: () => undefined, error: () => undefined };

const NO_DOCUMENTS = { retrieve: async () => [] };
const DOCUMENTS = { retrieve: () => later([{ id: 'a', text: 'It is [s0000000].' }]) };

/** The contracts of each export of advisors/index.ts; `none` for exports that are no advisors. */
const CONTRACTS: Readonly<Record<string, AdvisorContract | readonly AdvisorContract[] | 'none'>> = {
  BudgetAdvisor: [
    { create: () => new advisors.BudgetAdvisor({ maxTokens: 1_000_000, maxToolCalls: 1_000 }) },
    {
      name: 'budget of a tenant',
      create: () =>
        new advisors.BudgetAdvisor({
          shared: [{ name: 'tenant', key: () => 'acme', maxTokens: 1_000_000 }],
        }),
    },
  ],
  GuardAdvisor: [
    guarding('guard of questions and tools', { input: LOOKS, toolResults: LOOKS }),
    guarding('guard of whole questions and results', { input: JUDGES, toolResults: JUDGES }),
    guarding('guard of whole questions beside the model', { input: JUDGES, parallel: true }),
    guarding('guard that marks results', { untrusted: ['echo'] }, { changesAnswer: true }),
    guarding(
      'guard that blocks questions',
      { input: BLOCKS, toolResults: LOOKS },
      { answersItself: true, changesAnswer: true },
    ),
    ...(['checked', 'after', 'end'] as const).flatMap((release) => [
      guardingAnswers(`guard of answers, released ${release}`, { output: LOOKS, release }),
      guardingAnswers(`guard of whole answers, released ${release}`, { output: JUDGES, release }),
    ]),
    ...(['checked', 'end'] as const).map((release) =>
      guardingAnswers(
        `guard that blocks answers, released ${release}`,
        { output: BLOCKS, release },
        { changesAnswer: true },
      ),
    ),
  ],
  CompactionAdvisor: [
    { create: () => new advisors.CompactionAdvisor({ maxTokens: 1_000_000 }) },
    {
      name: 'compaction of every second iteration',
      create: () =>
        new advisors.CompactionAdvisor({
          maxTokens: 40,
          keepIterations: 1,
          tokenCounter: ({ role }) => (role === 'tool' ? 10 : 1),
        }),
    },
  ],
  ConversationLockAdvisor: [
    { create: () => new advisors.ConversationLockAdvisor() },
    {
      name: 'conversation-lock of a conversation',
      create: () => new advisors.ConversationLockAdvisor(),
      request: (request) =>
        request.withContext(CONVERSATION_ID, textOf(request.prompt.userMessage?.content ?? '')),
    },
  ],
  LoggerAdvisor: { create: () => new advisors.LoggerAdvisor({ logger: silent }) },
  MessageChatMemoryAdvisor: [
    memory(),
    memory({ storeToolMessages: true, onIncomplete: 'keep-partial' }),
    memory({ onConflict: 'fail' }),
    memory({ order: AdvisorOrder.TOOL_CALLING + 1 }),
  ],
  ModelRouterAdvisor: [
    routing('model-router that keeps the model', {}),
    routing('model-router after a promise', { choose: () => later(undefined) }),
    routing('model-router per iteration', { order: AdvisorOrder.TOOL_CALLING + 1 }),
  ],
  modelRouter: 'none',
  ObservabilityAdvisor: [
    { create: () => new advisors.ObservabilityAdvisor() },
    {
      name: 'observability of everything',
      create: () =>
        new advisors.ObservabilityAdvisor({
          tracer: provider.getTracer('contract'),
          captureContent: true,
        }),
    },
  ],
  PromptCacheAdvisor: [
    { create: () => new advisors.PromptCacheAdvisor() },
    {
      name: 'prompt-cache that marks all',
      create: () => new advisors.PromptCacheAdvisor({ minTokens: 0 }),
      request: (request) => request.withContext(CONVERSATION_ID, 'c'),
    },
  ],
  ProviderToolSearchAdvisor: {
    create: () => new advisors.ProviderToolSearchAdvisor({ searchTool: { type: 'tool_search' } }),
  },
  ReasoningExtractor: [
    { create: () => new advisors.ReasoningExtractor() },
    {
      name: 'reasoning-extractor with reasoning in the answer',
      create: () => new advisors.ReasoningExtractor(),
      answer: ' <think>Hm.</think> Yes.',
      changesAnswer: true,
    },
    {
      name: 'reasoning-extractor left of the loop',
      create: () => new advisors.ReasoningExtractor({ order: AdvisorOrder.GUARD }),
    },
  ],
  DefaultsAdvisor: {
    create: () => new advisors.DefaultsAdvisor({ options: { seed: 1 }, system: 'Be brief.' }),
  },
  RetrievalAdvisor: [
    {
      create: () => new advisors.RetrievalAdvisor({ retriever: NO_DOCUMENTS, scope: () => 'x' }),
    },
    {
      name: 'retrieval that finds documents',
      create: () => new advisors.RetrievalAdvisor({ retriever: DOCUMENTS, scope: () => 'x' }),
    },
    {
      name: 'retrieval that refuses',
      create: () =>
        new advisors.RetrievalAdvisor({
          retriever: NO_DOCUMENTS,
          scope: () => 'x',
          onEmpty: 'refuse',
        }),
      answersItself: true,
      changesAnswer: true,
    },
  ],
  ReReadingAdvisor: { create: () => new advisors.ReReadingAdvisor() },
  SafeGuardAdvisor: [
    { create: () => new advisors.SafeGuardAdvisor({ sensitiveWords: ['forbidden'] }) },
    {
      name: 'safe-guard that refuses',
      create: () => new advisors.SafeGuardAdvisor({ sensitiveWords: ['a', 'e', 'i', 'o', 'u'] }),
      answersItself: true,
      changesAnswer: true,
    },
  ],
  SimulatedStreamingAdvisor: {
    create: () => new advisors.SimulatedStreamingAdvisor(),
    callsInStreams: true,
  },
  SteeringAdvisor: [
    {
      name: 'steering without an inbox',
      create: () => new advisors.SteeringAdvisor({ inbox: () => undefined }),
    },
    {
      name: 'steering with an inbox for each turn',
      create: () => new advisors.SteeringAdvisor({ inbox: () => new SteeringInbox() }),
    },
  ],
  StructuredOutputAdvisor: { create: () => new advisors.StructuredOutputAdvisor() },
  FallbackAdvisor: [
    fallback('fallback after failures of models'),
    fallback('fallback after every error', always),
  ],
  RateLimitAdvisor: [
    {
      create: () =>
        new advisors.RateLimitAdvisor({ requestsPerMinute: 1_000, tokensPerMinute: 1_000_000 }),
    },
  ],
  RetryAdvisor: [
    retrying('retry of failures of models', {}),
    retrying('retry of every error', { when: always }),
    retrying('retry of every error and of empty answers', {
      when: (error, response) => later(always(error) || !response?.text),
    }),
  ],
  TimeoutAdvisor: [
    {
      name: 'timeout of each model call',
      create: () =>
        new advisors.TimeoutAdvisor({ firstDelta: 9_000, idle: 9_000, iteration: 9_000 }),
    },
    { create: () => new advisors.TimeoutAdvisor({ turn: 9_000 }) },
  ],
  ToolSearchAdvisor: [
    toolSearch('tool-search'),
    toolSearch('tool-search in a conversation', {}, 'a conversation'),
    toolSearch('tool-search that does not accumulate', { accumulate: false }, 'a conversation'),
    toolSearch('tool-search for many tools alone', { minTools: 100 }),
  ],
  ToolSelectorAdvisor: {
    create: () => new advisors.ToolSelectorAdvisor({ model: new ScriptedChatModel([]) }),
  },
  ResponseCacheAdvisor: [
    { ...caching({}), answersItself: true },
    {
      ...caching({ toolCalls: 'read', tags: () => ['a', 'b'] }),
      name: 'response-cache with tags, of turns that call tools',
      answersItself: true,
    },
    {
      ...caching({ semantic: { embeddingModel: new SimilarEmbedding(), agrees: () => true } }),
      name: 'response-cache of similar questions',
      answersItself: true,
    },
    { ...caching({ maxLength: 1 }), name: 'response-cache that never has an answer' },
    { ...caching({ scope: () => undefined }), name: 'response-cache without a scope' },
  ],
  ToolCacheAdvisor: {
    create: () => new advisors.ToolCacheAdvisor({ scope: () => 'everyone' }),
  },
  VectorMemoryAdvisor: [
    vectorMemory(),
    vectorMemory({ topK: 1, order: AdvisorOrder.TOOL_CALLING + 1 }),
  ],
  dryRun: [
    { name: 'dry-run', create: () => advisors.dryRun(), answersItself: true, changesAnswer: true },
    {
      name: 'dry-run with an answer',
      create: () => advisors.dryRun({ answer: () => 'Simulated.' }),
      answersItself: true,
      changesAnswer: true,
    },
  ],
  ApprovalAdvisor: [
    { create: () => new advisors.ApprovalAdvisor({ policy: () => 'allow' }) },
    {
      name: 'approval by a person',
      create: () => new advisors.ApprovalAdvisor({ decide: () => ({ type: 'allow' }) }),
    },
    {
      name: 'approval that denies',
      create: () => new advisors.ApprovalAdvisor({ policy: { '*': 'deny' } }),
      answersItself: true,
      changesAnswer: true,
    },
  ],
  DurableAdvisor: {
    create: () => new advisors.DurableAdvisor({ engine: () => new InMemoryDurableEngine() }),
  },
  ToolLedgerAdvisor: {
    create: () => new advisors.ToolLedgerAdvisor({ store: new InMemoryKeyValueStore() }),
  },
  ToolCallingAdvisor: [
    { create: () => new advisors.ToolCallingAdvisor() },
    {
      name: 'tool-calling without history',
      create: () => new advisors.ToolCallingAdvisor({ keepHistory: false }),
    },
  ],
};

describe('advisors/index.ts', () => {
  it('exports no advisor without a contract', () => {
    const without = Object.keys(advisors).filter((name) => CONTRACTS[name] === undefined);

    expect(without).to.deep.equal([]);
  });
});

for (const contract of Object.values(CONTRACTS).flat())
  if (contract !== 'none') itBehavesLikeAnAdvisor(observed(contract));

const order = AdvisorOrder.LOGGER;
const SEEN = new ContextKey('test.seen', 0);
const later = <T>(value: T): Promise<T> =>
  new Promise((resolve) => setImmediate(() => resolve(value)));
const loud = (response: ChatResponse): ChatResponse => withText(response, `${response.text}!`);

function withText(response: ChatResponse, text: string): ChatResponse {
  const [first, ...others] = response.generations;
  if (!first) return ChatResponse.ofText(text);
  return response.with({
    generations: [{ ...first, message: { ...first.message, content: text } }, ...others],
  });
}

/** Of a cache that outlives its runs. */
const answers = new Map<string, ChatResponse>();

class Plain implements Advisor {
  readonly name = 'plain';
  readonly order = order;

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return chain.next(request);
  }
}

const SHAPES: readonly AdvisorContract[] = [
  shape('before', { before: (request) => request.withContext(SEEN, 1) }),
  shape('before without changes', { before: () => undefined }),
  shape('async before', { before: (request) => later(request.withContext(SEEN, 1)) }),
  shape('after without changes', { after: (response) => void response.text }),
  shape('async after', { after: (response) => later(response.withContext(SEEN, 1)) }),
  shape(
    'after that changes the text',
    { after: (response) => loud(response.chatResponse), holdDeltas: true },
    { changesAnswer: true },
  ),
  shape('onEvent without changes', { onEvent: () => undefined }),
  shape('onEvent that returns two events for one', {
    onEvent: (event) => (event.type === 'tool-progress' ? [event, event] : event),
  }),
  shape('around that passes the request', { around: (request, next) => next(request) }),
  shape(
    'around that answers without the rest of the chain',
    { around: () => ChatResponse.ofText('no') },
    { answersItself: true, changesAnswer: true },
  ),
  shape('around that calls the rest twice', {
    around: async (request, next) => {
      await next(request);
      return next(request);
    },
  }),
  shape('around that calls the rest twice, concurrently', {
    around: async (request, next) => (await Promise.all([next(request), next(request)]))[1],
  }),
  shape('around that races two runs', {
    around: (request, next) => Promise.race([next(request), next(request)]),
  }),
  shape(
    'around that retries',
    {
      around: async (request, next) => {
        try {
          return await next(request);
        } catch {
          return await next(request);
        }
      },
    },
    { handlesErrors: true },
  ),
  shape(
    'around that falls back on a text',
    { around: (request, next) => next(request).catch(() => ChatResponse.ofText('sorry')) },
    { handlesErrors: true, changesAnswer: true },
  ),
  shape('before, after and onEvent', {
    before: (request) => request.withContext(SEEN, 1),
    after: (response) => response.withContext(SEEN, 2),
    onEvent: () => undefined,
  }),
  shape('all functions', {
    before: (request) => later(request.withContext(SEEN, 1)),
    around: (request, next) => next(request),
    after: (response) => later(response),
    onEvent: (event) => event,
    aroundTool: (call, next) => next(call),
  }),
  shape('aroundTool only', { aroundTool: (call, next) => next(call) }),
  shape(
    'aroundTool that retries',
    {
      aroundTool: async (call, next) => {
        try {
          return await next(call);
        } catch {
          return await next(call);
        }
      },
    },
    { handlesErrors: true },
  ),
  shape(
    'aroundTool that rejects the call',
    { aroundTool: () => Promise.resolve({ content: 'no' }) },
    { answersItself: true, changesAnswer: true },
  ),
  operators('retry', (attempt) => attempt().pipe(retry(2))),
  operators('retry with a delay', (attempt) => attempt().pipe(retry({ count: 2, delay: 1 }))),
  operators('catchError to the rest', (attempt) => attempt().pipe(catchError(attempt))),
  operators('catchError to an answer', (attempt) => attempt().pipe(catchError(() => of(SORRY)))),
  operators('timeout', (attempt) => attempt().pipe(timeout({ each: 500, with: attempt }))),
  operators('race', (attempt) => race(attempt(), attempt())),
  operators('defer', (attempt) => defer(attempt).pipe(retry(1))),
  operators('hedge', (attempt) => merge(attempt(), attempt()).pipe(untilAnswer)),
  operators('takeUntil', (attempt) =>
    concat(attempt().pipe(takeUntil(timer(500))), of(SORRY)).pipe(untilAnswer),
  ),
  operators('repeat', (attempt) =>
    defer(() => {
      let answers = 0;
      return attempt().pipe(
        repeat(2),
        filter(({ type }) => type !== 'response' || ++answers === 2),
      );
    }),
  ),
  shape('[D18] cache', {}, { create: () => cache(new Map()), answersItself: true }),
  shape('[D18] cache of all runs', {}, { create: () => cache(answers), answersItself: true }),
  shape(
    '[D18] cache of events',
    {},
    {
      create: () => {
        const stored = new Map<string, ChatEvent>();
        const advise: Advisor['advise'] = (request, chain) =>
          defer(() => {
            const key = JSON.stringify(request.prompt);
            const found = stored.get(key);
            if (found) return of(found);
            return chain
              .next(request)
              .pipe(tap((event) => void (event.type === 'response' && stored.set(key, event))));
          });
        return { name: 'cache', order, advise };
      },
      answersItself: true,
    },
  ),
  {
    name: 'a class without operators',
    create: () => new Plain(),
  },
];

function operators(
  name: string,
  of: (attempt: () => Observable<ChatEvent>) => Observable<ChatEvent>,
): AdvisorContract {
  const advise: Advisor['advise'] = (request, chain) => of(() => chain.next(request));
  return {
    name: `[D3] operator ${name}`,
    create: () => ({ name, order, advise }),
    handlesErrors: true,
  };
}

function cache(stored: Map<string, ChatResponse>): Advisor {
  return defineAdvisor({
    name: 'cache',
    order,
    around: async (request, next) => {
      const key = JSON.stringify(request.prompt);
      const found = stored.get(key);
      if (found) return found;
      const response = await next(request);
      stored.set(key, response);
      return response;
    },
  });
}

function shape(
  name: string,
  functions: Omit<Parameters<typeof defineAdvisor>[0], 'name' | 'order'>,
  contract: Partial<AdvisorContract> = {},
): AdvisorContract {
  return {
    name: `defineAdvisor: ${name}`,
    create: () => defineAdvisor({ name, order, ...functions }),
    ...contract,
  };
}

for (const contract of SHAPES) itBehavesLikeAnAdvisor(observed(contract));
