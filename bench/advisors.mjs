// The cost of one more advisor: microseconds for each call, nanoseconds for each chunk of a stream. Needs `npm run build`.
// Usage: node bench/advisors.mjs [a part of the names of the kinds to measure]
import {
  ApprovalAdvisor,
  BudgetAdvisor,
  ChatClient,
  ChatResponse,
  CompactionAdvisor,
  ConversationLockAdvisor,
  defineAdvisor,
  dryRun,
  DurableAdvisor,
  FallbackAdvisor,
  GuardAdvisor,
  InMemoryKeyValueStore,
  piiRule,
  PromptCacheAdvisor,
  RateLimitAdvisor,
  RetrievalAdvisor,
  ResponseCacheAdvisor,
  RetryAdvisor,
  SafeGuardAdvisor,
  SteeringAdvisor,
  SteeringInbox,
  TimeoutAdvisor,
  ToolCacheAdvisor,
  ToolLedgerAdvisor,
  ToolSelectorAdvisor,
  VectorMemoryAdvisor,
} from '../dist/index.js';
import { Observable } from 'rxjs';

const [, , wanted = ''] = process.argv;
const CHUNKS = 2_000;
const ROUNDS = 15;
const COUNTS = [0, 10, 50];
const text = 'word '.repeat(CHUNKS);
const deltas = Array.from({ length: CHUNKS }, () => ({ type: 'text-delta', text: 'word ' }));
const model = {
  defaultOptions: { model: 'bench' },
  call: () => Promise.resolve(ChatResponse.ofText('word')),
  stream: () =>
    new Observable((subscriber) => {
      for (const delta of deltas) subscriber.next(delta);
      subscriber.next({ type: 'response', response: ChatResponse.ofText(text) });
      subscriber.complete();
    }),
};

/** Records nothing. */
const ENGINE = {
  isReplaying: false,
  step: (_, run) => run(),
  sleep: () => Promise.resolve(),
  waitFor: () => Promise.resolve(undefined),
};

/** Finds and keeps nothing. */
const MEMORY_PARTS = {
  store: { search: () => Promise.resolve([]), upsert: () => Promise.resolve() },
  embeddingModel: {
    embed: (texts) => Promise.resolve({ vectors: texts.map(() => new Float32Array(1)) }),
  },
};

/** Four documents of 1,000 characters. */
const DOCUMENTS = {
  retrieve: async () =>
    ['a', 'b', 'c', 'd'].map((id) => ({ id, text: `${id} `.repeat(500), metadata: { title: id } })),
};

const KINDS = {
  around: (own) => defineAdvisor({ ...own, around: (request, next) => next(request) }),
  before: (own) => defineAdvisor({ ...own, before: (request) => request }),
  onEvent: (own) => defineAdvisor({ ...own, onEvent: (event) => event }),
  'advise that passes the rest': (own) => ({
    ...own,
    advise: (request, { next }) => next(request),
  }),
  'GuardAdvisor, input': ({ name, order }) =>
    new GuardAdvisor({ name, order, input: [{ rules: piiRule(), action: 'redact' }] }),
  'GuardAdvisor, output': ({ name, order: outputOrder }) =>
    new GuardAdvisor({ name, outputOrder, output: [{ rules: piiRule(), action: 'redact' }] }),
  SafeGuardAdvisor: (own) => new SafeGuardAdvisor({ ...own, sensitiveWords: ['bomb'] }),
  RetryAdvisor: (own) => new RetryAdvisor(own),
  FallbackAdvisor: (own) => new FallbackAdvisor({ ...own, models: [model] }),
  ApprovalAdvisor: (own) => new ApprovalAdvisor(own),
  BudgetAdvisor: (own) => new BudgetAdvisor({ ...own, maxTokens: 1_000_000 }),
  ToolSelectorAdvisor: (own) => new ToolSelectorAdvisor({ ...own, model }),
  'ResponseCacheAdvisor, no scope': (own) =>
    new ResponseCacheAdvisor({ ...own, scope: () => undefined }),
  'ResponseCacheAdvisor, hits': (own) =>
    new ResponseCacheAdvisor({ ...own, scope: () => 'everyone' }),
  ToolCacheAdvisor: (own) => new ToolCacheAdvisor({ ...own, scope: () => 'everyone' }),
  dryRun: (own) => dryRun(own),
  ToolLedgerAdvisor: (own) => new ToolLedgerAdvisor({ ...own, store: new InMemoryKeyValueStore() }),
  PromptCacheAdvisor: (own) => new PromptCacheAdvisor(own),
  'PromptCacheAdvisor, marks': (own) => new PromptCacheAdvisor({ ...own, minTokens: 0 }),
  'SteeringAdvisor without an inbox': (own) =>
    new SteeringAdvisor({ ...own, inbox: () => undefined }),
  SteeringAdvisor: (own) => new SteeringAdvisor({ ...own, inbox: new SteeringInbox() }),
  'ConversationLockAdvisor, no conversation': (own) => new ConversationLockAdvisor(own),
  CompactionAdvisor: (own) => new CompactionAdvisor({ ...own, maxTokens: 1_000_000 }),
  DurableAdvisor: (own) => new DurableAdvisor({ ...own, engine: ENGINE }),
  VectorMemoryAdvisor: (own) =>
    new VectorMemoryAdvisor({ ...own, ...MEMORY_PARTS, scope: () => 'bench' }),
  RateLimitAdvisor: (own) => new RateLimitAdvisor({ ...own, requestsPerMinute: 1_000_000 }),
  RetrievalAdvisor: (own) =>
    new RetrievalAdvisor({ ...own, retriever: DOCUMENTS, scope: () => 'x' }),
  'TimeoutAdvisor, iteration': (own) => new TimeoutAdvisor({ ...own, iteration: 60_000 }),
  'TimeoutAdvisor, idle': (own) => new TimeoutAdvisor({ ...own, idle: 60_000 }),
};

const clientOf = (count, create) =>
  ChatClient.builder(model)
    .defaultAdvisors(
      ...Array.from({ length: count }, (_, at) =>
        create({ name: `advisor ${at}`, order: 6_000 + at }),
      ),
    )
    .build();

const WORK = {
  call: { times: 400, run: (client) => client.prompt('?').call().content() },
  stream: {
    times: 4,
    run: (client) =>
      new Promise((resolve, reject) => {
        const subscriber = { next: () => undefined, error: reject, complete: resolve };
        client.prompt('?').stream().content().subscribe(subscriber);
      }),
  },
};

async function cpuOf({ times, run }, client) {
  const before = process.cpuUsage();
  for (let each = 0; each < times; each++) await run(client);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

for (const [kind, create] of Object.entries(KINDS)) {
  if (!kind.includes(wanted)) continue;
  const clients = COUNTS.map((count) => clientOf(count, create));
  for (const [mode, work] of Object.entries(WORK)) {
    const samples = COUNTS.map(() => []);
    for (let round = 0; round < ROUNDS; round++)
      for (const [at, client] of clients.entries()) samples[at].push(await cpuOf(work, client));
    const [none, ...some] = samples.map((each) => median(each.slice(ROUNDS / 3)));
    const costs = some.map((value, at) => (value - none) / COUNTS[at + 1]);
    const unit = mode === 'call' ? 'µs a call' : 'ns a chunk';
    const shown = costs.map((cost) =>
      (mode === 'call' ? cost : (cost * 1_000) / CHUNKS).toFixed(1),
    );
    console.log(
      `${kind}: one of ${COUNTS[1]} ${shown[0]}, one of ${COUNTS[2]} ${shown[1]} ${unit}`,
    );
  }
}
