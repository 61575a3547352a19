import { expect } from 'chai';
import { textOf } from '../../../src/core/chat/message.js';
import {
  ApprovalAdvisor,
  ChatClient,
  defineAdvisor,
  defineTool,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  InMemoryVectorStore,
  MemoryReadError,
  MemoryWriteError,
  ModelCallError,
  type ChatClientResponse,
  type VectorStore,
} from '../../../src/index.js';
import { factsOf } from '../../../src/knowledge/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { durableSpec, finish, KilledEngine } from '../../support/durable.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { deferred, settle, until } from '../../support/promises.js';
import { SECRET } from '../../support/paused-turns.js';
import { asUser, memoryParts, textsIn, USER } from '../../support/vector-memory.js';

const noop = defineTool({ name: 'noop', execute: () => 'ok' });
const asAnna = defineAdvisor({
  name: 'anna',
  order: 0,
  before: (request) => request.withContext(USER, 'anna'),
});

/** A store that counts its calls, of which some fail. */
class CountingStore extends InMemoryVectorStore {
  searches = 0;
  upserts = 0;
  failure: Error | undefined;

  override async search(
    ...args: Parameters<VectorStore['search']>
  ): ReturnType<VectorStore['search']> {
    this.searches++;
    if (this.failure?.message === 'search') throw this.failure;
    return super.search(...args);
  }

  override async upsert(...args: Parameters<VectorStore['upsert']>): Promise<void> {
    this.upserts++;
    if (this.failure?.message === 'upsert') throw this.failure;
    return super.upsert(...args);
  }
}

describe('VectorMemoryAdvisor and turns that do not succeed', () => {
  for (const mode of MODES) {
    it(`${mode}: stores nothing of a turn that fails`, async () => {
      const { memory, store } = memoryParts();
      const error = new ModelCallError('down');
      const model = new ScriptedChatModel([{ text: 'Half', error }]);

      const failure = await failureOf(runSpec(mode, asUser('anna', 'Hi', model, memory)));

      expect(failure).to.equal(error);
      expect(await textsIn(store, 'anna')).to.deep.equal([]);
    });

    it(`${mode}: stores nothing of a turn that is cancelled, at any event`, async () => {
      for (let at = 0; at < 12; at++) {
        const { memory, store } = memoryParts();
        const model = new ScriptedChatModel([
          { text: 'Wait.', toolCalls: [{ name: 'noop' }] },
          { deltas: ['one ', 'two'] },
        ]);
        const controller = new AbortController();
        let count = 0;
        const stop = defineAdvisor({
          name: 'stop',
          order: 0,
          onEvent: (event) => {
            if (count++ === at && event.type !== 'response') controller.abort();
          },
        });
        const spec = asUser('anna', 'Hi', model, memory, stop).tools(noop);

        await failureOf(runSpec(mode, spec.signal(controller.signal)));
        await new Promise((resolve) => setImmediate(resolve));

        const expected = controller.signal.aborted ? [] : ['User: Hi\nAssistant: one two'];
        expect(await textsIn(store, 'anna'), `event ${at}`).to.deep.equal(expected);
      }
    });

    it(`${mode}: stores nothing of a turn that is cancelled while its memories are extracted`, async () => {
      const { promise, resolve } = deferred();
      const signals: AbortSignal[] = [];
      const { memory, store, embeddingModel } = memoryParts({
        extract: async ({ question, signal }) => {
          signals.push(signal);
          await promise;
          return [{ type: 'note', text: question }];
        },
      });
      const model = new ScriptedChatModel(['Yes.']);
      const controller = new AbortController();
      const spec = asUser('anna', 'Hi', model, memory).signal(controller.signal);

      const run = failureOf(runSpec(mode, spec));
      await until(() => signals.length > 0);
      controller.abort();
      const failure = await run;
      resolve();
      await settle();

      expect(failure).to.have.property('code', 'cancelled');
      expect(signals[0]?.aborted).to.equal(true);
      expect(await textsIn(store, 'anna')).to.deep.equal([]);
      expect(embeddingModel.texts).to.have.length.lessThan(3);
    });

    it(`${mode}: stores nothing of a turn that pauses, and its end when it is resumed`, async () => {
      const { memory, store, embeddingModel } = memoryParts();
      const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
      const model = new ScriptedChatModel([{ toolCalls: [{ name: 'noop' }] }, 'Done.']);
      const client = ChatClient.builder(model)
        .defaultTools(noop)
        .defaultAdvisors(memory, asAnna, new ApprovalAdvisor({ policy: { '*': 'ask' }, pause }))
        .build();

      const { paused } = await runSpec(mode, client.prompt('Do it.'));
      const stored = await textsIn(store, 'anna');
      await client
        .resume(String(paused?.id), () => ({ type: 'allow' }))
        .call()
        .content();

      expect(stored).to.deep.equal([]);
      expect(await textsIn(store, 'anna')).to.deep.equal(['User: Do it.\nAssistant: Done.']);
      expect(embeddingModel.texts).to.have.length(2);
    });

    it(`${mode}: replaces what an earlier attempt of the turn has stored, and does not find it`, async () => {
      const facts = new ScriptedChatModel(['- A.\n- B.\n- C.', '- D.']);
      const { memory, store } = memoryParts({ extract: factsOf({ model: facts }) });
      const model = new ScriptedChatModel(['One.', 'Two.']);
      const spec = asUser('anna', 'A B C?', model, memory).turnId('turn-1');

      await runSpec(mode, spec);
      const first = await textsIn(store, 'anna');
      await runSpec(mode, spec);

      expect(first).to.deep.equal(['A.', 'B.', 'C.']);
      expect(await textsIn(store, 'anna')).to.deep.equal(['D.']);
      expect(model.prompts[1]?.messages).to.have.length(1);
    });

    it(`${mode}: gives the answer with the error of a write that failed`, async () => {
      const store = new CountingStore();
      store.failure = new Error('upsert');
      const { memory } = memoryParts({}, store);
      const model = new ScriptedChatModel(['Yes.']);

      const failure = await failureOf(runSpec(mode, asUser('anna', 'Hi', model, memory)));

      expect(failure).to.be.instanceOf(MemoryWriteError);
      const { outcome, cause, response } = failure as MemoryWriteError<ChatClientResponse>;
      expect([outcome, cause, response?.text]).to.deep.equal(['unknown', store.failure, 'Yes.']);
    });

    it(`${mode}: stores nothing if the model of the facts writes no list`, async () => {
      const facts = new ScriptedChatModel(['Sorry, I cannot.']);
      const { memory, store } = memoryParts({ extract: factsOf({ model: facts }) });
      const model = new ScriptedChatModel(['Yes.']);

      const failure = await failureOf(runSpec(mode, asUser('anna', 'Hi', model, memory)));

      expect(failure).to.be.instanceOf(MemoryWriteError).and.include({ outcome: 'not-stored' });
      expect(await textsIn(store, 'anna')).to.deep.equal([]);
    });

    it(`${mode}: ends the turn before a model is called if the search fails`, async () => {
      const store = new CountingStore();
      store.failure = new Error('search');
      const { memory } = memoryParts({}, store);
      const model = new ScriptedChatModel(['Yes.']);

      const failure = await failureOf(runSpec(mode, asUser('anna', 'Hi', model, memory)));

      expect(failure).to.be.instanceOf(MemoryReadError).and.have.property('cause', store.failure);
      expect(model.prompts).to.deep.equal([]);
    });

    it(`${mode}: replays a durable turn without a search, an embedding or a write`, async () => {
      const store = new CountingStore();
      const { memory, embeddingModel } = memoryParts({}, store);
      const model = new ScriptedChatModel(() => 'Yes.');
      await runSpec(mode, asUser('anna', 'earlier question', model, memory));
      const engine = new InMemoryDurableEngine();
      const turn = { model, advisors: [memory, asAnna] };

      const first = await finish(durableSpec(turn, engine), mode);
      const counts = [
        store.searches,
        store.upserts,
        embeddingModel.texts.length,
        model.prompts.length,
      ];
      await store.clear('anna');
      const again = await finish(
        durableSpec(turn, new InMemoryDurableEngine(engine.entries())),
        mode,
      );

      expect(again.response?.text).to.equal('Yes.');
      expect(again.response?.transcript).to.deep.equal(first.response?.transcript);
      expect(JSON.stringify(again.response?.transcript)).to.include('earlier question');
      expect(again.response?.usage).to.deep.equal(first.response?.usage);
      expect([
        store.searches,
        store.upserts,
        embeddingModel.texts.length,
        model.prompts.length,
      ]).to.deep.equal(counts);
    });

    it(`${mode}: writes once if the process of a durable turn ends anywhere`, async () => {
      for (const place of ['before', 'after'] as const)
        for (let at = 0; at < 4; at++) {
          const store = new InMemoryVectorStore();
          const { memory } = memoryParts({}, store);
          const turn = { model: new ScriptedChatModel(() => 'Yes.'), advisors: [memory, asAnna] };
          const killed = new KilledEngine([], { at, place });

          await finish(durableSpec(turn, killed), mode);
          const next = new InMemoryDurableEngine(killed.inner.entries());
          const { error } = await finish(durableSpec(turn, next), mode);

          expect(error, `${place} ${at}`).to.equal(undefined);
          expect(await textsIn(store, 'anna')).to.deep.equal(['User: question\nAssistant: Yes.']);
        }
    });
  }

  it('counts embeddings and the model of the facts in the ledger of the turn', async () => {
    const facts = new ScriptedChatModel(['NONE']);
    const { memory, store } = memoryParts({ extract: factsOf({ model: facts }) });
    const model = new ScriptedChatModel(['Yes.']);

    const { ledger } = await runSpec('call', asUser('anna', 'Hi', model, memory));

    expect(ledger.map(({ kind }) => kind)).to.deep.equal([
      'embedding',
      'chat',
      'chat',
      'embedding',
    ]);
    expect(await textsIn(store, 'anna')).to.deep.equal([]);
  });

  it('keeps two concurrent turns of a user apart', async () => {
    const { memory, store } = memoryParts();
    const model = new ScriptedChatModel(
      ({ userMessage }) => `re ${textOf(userMessage?.content ?? '')}`,
    );
    const questions = Array.from({ length: 20 }, (_, at) => `question ${at}`);

    await Promise.all(
      questions.map((each) => runSpec('stream', asUser('anna', each, model, memory))),
    );

    const expected = questions.map((each) => `User: ${each}\nAssistant: re ${each}`);
    expect(await textsIn(store, 'anna')).to.have.members(expected);
  });
});
