import { expect } from 'chai';
import {
  ChatClient,
  ContextKey,
  InMemoryChatMemoryRepository,
  InMemoryVectorStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  RETRIEVAL_FILTER,
  ResponseCacheAdvisor,
  RetrievalAdvisor,
  textOf,
  VectorMemoryAdvisor,
  type Document,
  type Filter,
} from '../../src/index.js';
import {
  HybridRetriever,
  KeywordIndex,
  KeywordRetriever,
  VectorRetriever,
} from '../../src/knowledge/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { HashedEmbeddingModel } from '../support/hashed-embedding-model.js';
import { MODES, runSpec } from '../support/modes.js';
import { Random } from '../support/random.js';
import { inFull } from '../support/sweep.js';

const TURNS = inFull(1_000, 500);
const AT_ONCE = 10;
const TENANT = new ContextKey<string | undefined>('tenant');
const TENANTS = Array.from({ length: 50 }, (_, at) => `tenant${at}`);
const CANARY = /canary-(tenant\d+)-end/g;

// ids, texts and questions are the same for all tenants, but for the canary
const documentsOf = (tenant: string): readonly Document[] =>
  Array.from({ length: 6 }, (_, at) => ({
    id: `report${at}`,
    text: `Report ${at} of the shop: the secret is canary-${tenant}-end.`,
    metadata: { tenant, year: 2020 + at },
  }));
const QUESTIONS = Array.from({ length: 8 }, (_, at) => `Which secret is in report ${at}?`);

/** Tenants of the canaries in a text. */
const tenantsIn = (text: string): readonly string[] =>
  [...text.matchAll(CANARY)].map(([, tenant = '']) => tenant);

/** Two clients for all tenants, which share documents and cache; one has memories, which make most requests different. */
async function sharedClients() {
  const embeddingModel = new HashedEmbeddingModel(128);
  const [keywords, vectors] = [new KeywordIndex(), new InMemoryVectorStore()];
  for (const tenant of TENANTS) {
    const documents = documentsOf(tenant);
    const embedded = await embeddingModel.embed(documents.map(({ text }) => text));
    await keywords.upsert(tenant, documents);
    await vectors.upsert(
      tenant,
      documents.map((document, at) => ({ ...document, vector: embedded.vectors[at] })),
    );
  }
  const scope = { scope: (context: { get: (key: typeof TENANT) => string | undefined }) => context.get(TENANT) }; // prettier-ignore
  // it repeats every secret that it is shown
  const model = new ScriptedChatModel(({ messages }) => {
    const seen = new Set(tenantsIn(messages.map((message) => textOf(message)).join('\n')));
    return `Seen: ${[...seen].map((tenant) => `canary-${tenant}-end`).join(' ') || 'none'}`;
  });
  const retrievers = [
    new KeywordRetriever({ index: keywords }),
    new VectorRetriever({ store: vectors, embeddingModel }),
  ];
  const chatMemory = new MessageWindowChatMemory({
    repository: new InMemoryChatMemoryRepository(),
    maxMessages: 6,
  });
  const plain = ChatClient.builder(model)
    .defaultAdvisors(
      new RetrievalAdvisor({ retriever: new HybridRetriever({ retrievers }), ...scope }),
      new ResponseCacheAdvisor({ ...scope, semantic: { embeddingModel, threshold: 0.8, agrees: () => true } }), // prettier-ignore
    )
    .build();
  const remembering = plain
    .mutate()
    .defaultAdvisors(
      new MessageChatMemoryAdvisor({ chatMemory }),
      new VectorMemoryAdvisor({ store: new InMemoryVectorStore(), embeddingModel, ...scope, topK: 5 }), // prettier-ignore
    )
    .build();
  return [plain, remembering];
}

describe('knowledge of many tenants', () => {
  it(`has 0 rows and 0 answers of others in ${TURNS} random turns of ${TENANTS.length} tenants`, async () => {
    const random = new Random(2026);
    const clients = await sharedClients();
    const filters: readonly (() => Filter)[] = [
      () => ({}),
      () => ({ tenant: random.pick(TENANTS) }),
      () => ({ or: [{ tenant: random.pick(TENANTS) }, { year: { gte: 2022 } }] }),
      () => ({ not: { tenant: random.pick(TENANTS) } }),
    ];
    let hits = 0;
    const turn = async (at: number): Promise<readonly string[]> => {
      const tenant = random.pick(TENANTS);
      const filter = random.pick(filters)();
      const spec = random
        .pick(clients)
        .prompt(random.pick(QUESTIONS))
        .conversation(`${tenant} ${random.below(30)}`)
        .advisors((a) => a.param(TENANT, tenant).param(RETRIEVAL_FILTER, filter));
      const response = await runSpec(MODES[at % 2] as 'call' | 'stream', spec);
      if (response.metadata?.['responseCache'] !== undefined) hits++;
      const shown = JSON.stringify([response.text, response.metadata?.['documents'], response.transcript]); // prettier-ignore
      return tenantsIn(shown).map((each) => (each === tenant ? 'own' : `${tenant} got ${each}`));
    };

    const seen: string[] = [];
    for (let at = 0; at < TURNS; at += AT_ONCE)
      seen.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, of) => turn(at + of)))).flat()); // prettier-ignore

    expect(seen.filter((each) => each !== 'own')).to.deep.equal([]);
    expect(seen.length).to.be.above(TURNS);
    expect(hits, 'answers of the cache').to.be.above(20);
  });
});
