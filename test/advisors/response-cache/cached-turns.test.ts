import { expect } from 'chai';
import {
  BudgetAdvisor,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  InMemoryChatMemoryRepository,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  ResponseCacheAdvisor,
  RetrievalAdvisor,
  RetryAdvisor,
  type KeyValueStore,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { durableSpec, finish } from '../../support/durable.js';
import { MODES } from '../../support/modes.js';
import { cachedClient, COUNTING, EVERYONE, turnOf } from '../../support/response-cache.js';

const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const ORDER_OF_TURN = 4_000;

/** A store whose operations fail. */
function brokenStore(...operations: readonly ('get' | 'set')[]): KeyValueStore {
  const store = new InMemoryKeyValueStore();
  const fail = (): never => {
    throw new Error('the store is down');
  };
  for (const operation of operations) store[operation] = async () => fail();
  return store;
}

/** A client with a memory and a cache. */
function remembering() {
  const model = new ScriptedChatModel(COUNTING);
  const repository = new InMemoryChatMemoryRepository();
  const chatMemory = new MessageWindowChatMemory({ repository });
  const client = ChatClient.builder(model)
    .defaultAdvisors(
      new MessageChatMemoryAdvisor({ chatMemory }),
      new ResponseCacheAdvisor(EVERYONE),
    )
    .build();
  const ask = (question: string, id: string) =>
    client.prompt(question).advisors((a) => a.param(CONVERSATION_ID, id));
  const texts = async (id: string) => {
    const { messages } = await chatMemory.load(id);
    return messages.map(({ content }) => content);
  };
  return { model, ask, texts };
}

for (const mode of MODES)
  describe(`ResponseCacheAdvisor in a turn (${mode})`, () => {
    it('a memory stores a hit as a turn', async () => {
      const { ask, texts } = remembering();

      for (const id of ['anna', 'ben']) await turnOf(ask('?', id), mode);

      expect(await texts('ben')).to.deep.equal(['?', 'Answer 0.']);
      expect(await texts('anna')).to.deep.equal(['?', 'Answer 0.']);
    });

    it('the conversation so far is part of the key', async () => {
      const { ask } = remembering();
      const turn = async (question: string, id: string) =>
        (await turnOf(ask(question, id), mode)).text;

      for (const id of ['anna', 'ben']) await turn('?', id);
      const same = [await turn('And?', 'anna'), await turn('And?', 'ben')];
      const other = [await turn('Hello', 'carl'), await turn('And?', 'carl')];

      expect(same).to.deep.equal(['Answer 1.', 'Answer 1.']);
      expect(other).to.deep.equal(['Answer 2.', 'Answer 3.']);
    });

    it('the documents of a retrieval are part of the key, and a hit has its sources', async () => {
      const texts = ['Refunds take 5 days.', 'Refunds take 5 days.', 'Refunds take 9 days.'];
      const retrieval = new RetrievalAdvisor({
        scope: () => 'acme',
        retriever: {
          name: 'handbook',
          retrieve: async () => [{ id: 'refunds', text: texts.shift() ?? '' }],
        },
      });
      const { client } = cachedClient({}, COUNTING, retrieval);

      const turns = [];
      for (let turn = 0; turn < 3; turn++)
        turns.push(await turnOf(client.prompt('How long?'), mode));

      expect(turns.map(({ text }) => text)).to.deep.equal(['Answer 0.', 'Answer 0.', 'Answer 1.']);
      expect(turns[1]?.response?.metadata?.['documents']).to.have.length(1);
      expect(client.explain().warnings).to.deep.equal([]);
    });

    it('a hit spends nothing of a budget', async () => {
      const budget = new BudgetAdvisor({ maxTokens: 8, onLimit: 'throw' });
      const shared = new BudgetAdvisor({
        name: 'shared',
        shared: [{ name: 'tenant', key: () => 'acme', maxTokens: 8 }],
        onLimit: 'throw',
        order: ORDER_OF_TURN,
      });
      const { client } = cachedClient({}, [{ text: 'Rome.', usage: USAGE }], budget, shared);

      const texts = [];
      for (let turn = 0; turn < 3; turn++)
        texts.push((await turnOf(client.prompt('?'), mode)).text);

      expect(texts).to.deep.equal(['Rome.', 'Rome.', 'Rome.']);
    });

    it('a turn that is attempted again looks up again', async () => {
      const attempts: number[] = [];
      const failing = defineAdvisor({
        name: 'failing once',
        order: ORDER_OF_TURN,
        around: async (request, next) => {
          const response = await next(request);
          if (attempts.push(1) === 1) throw new ModelCallError('busy', { retryable: true });
          return response;
        },
      });
      const retry = new RetryAdvisor({ firstDelay: 0, order: ORDER_OF_TURN - 1 });
      const { client, model } = cachedClient({}, COUNTING, failing, retry);

      const { text } = await turnOf(client.prompt('?'), mode);

      expect([text, attempts.length, model.prompts.length]).to.deep.equal(['Answer 0.', 2, 1]);
    });

    for (const operation of ['get', 'set'] as const)
      it(`a store that fails to ${operation} costs the hit, not the turn`, async () => {
        const { client } = cachedClient({ store: brokenStore(operation) });

        const { text } = await turnOf(client.prompt('?'), mode);
        const { reports } = await turnOf(client.prompt('?'));

        expect(text).to.equal('Answer 0.');
        expect(reports.at(-1)).to.have.property('outcome', 'failed');
        expect(reports.at(-1)?.error).to.have.property('message', 'the store is down');
      });

    it('an answer that cannot be read is a failure of the store', async () => {
      const store = new InMemoryKeyValueStore();
      const set = store.set.bind(store);
      store.set = (key, _, options) =>
        set(key, '{"stamps":{},"response":{"generations":[7]}}', options);
      const { client } = cachedClient({ store });
      await turnOf(client.prompt('?'), mode);

      const { text } = await turnOf(client.prompt('?'), mode);

      expect(text).to.equal('Answer 1.');
    });

    it('a durable turn that runs again takes the same way, without the store', async () => {
      const store = new InMemoryKeyValueStore();
      const turn = (own: KeyValueStore, model = new ScriptedChatModel([])) => ({
        model,
        advisors: [new ResponseCacheAdvisor({ ...EVERYONE, store: own, tags: () => ['a'] })],
      });
      const [missed, hit] = [new InMemoryDurableEngine(), new InMemoryDurableEngine()];
      await finish(durableSpec(turn(store, new ScriptedChatModel(COUNTING)), missed), mode);
      await finish(durableSpec(turn(store), hit), mode);

      const replays = [];
      for (const engine of [missed, hit]) {
        const again = new InMemoryDurableEngine(engine.entries());
        replays.push(await turnOf(durableSpec(turn(brokenStore('get', 'set')), again), mode));
      }

      expect(replays.map(({ text, error }) => [text, error])).to.deep.equal([
        ['Answer 0.', undefined],
        ['Answer 0.', undefined],
      ]);
      expect(hit.entries().map(([name]) => name)).to.deep.equal(['response-cache lookup']);
      expect(missed.entries().map(([name]) => name)).to.deep.equal([
        'response-cache lookup',
        'model 0',
        'response-cache write',
      ]);
    });

    it('a durable turn without a working store runs again without one', async () => {
      const advisors = [new ResponseCacheAdvisor({ ...EVERYONE, store: brokenStore('get') })];
      const engine = new InMemoryDurableEngine();
      const first = { model: new ScriptedChatModel(COUNTING), advisors };
      await finish(durableSpec(first, engine), mode);

      const again = {
        model: new ScriptedChatModel([]),
        advisors: [new ResponseCacheAdvisor(EVERYONE)],
      };
      const replay = await turnOf(
        durableSpec(again, new InMemoryDurableEngine(engine.entries())),
        mode,
      );

      expect(replay.text).to.equal('Answer 0.');
      expect(replay.error).to.equal(undefined);
    });
  });

describe('ResponseCacheAdvisor in a replay', () => {
  it('marks its events', async () => {
    const engine = new InMemoryDurableEngine();
    const turn = {
      model: new ScriptedChatModel(COUNTING),
      advisors: [new ResponseCacheAdvisor(EVERYONE)],
    };
    await finish(durableSpec(turn, engine), 'stream');

    const { events } = await turnOf(durableSpec(turn, new InMemoryDurableEngine(engine.entries())));

    const reports = events.filter(({ type }) => type === 'custom');
    expect(reports.map((event) => 'isReplayed' in event)).to.deep.equal([true, true]);
  });
});
