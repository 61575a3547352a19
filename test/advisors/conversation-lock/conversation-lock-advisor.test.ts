import { mock } from 'node:test';
import { expect } from 'chai';
import {
  agentTool,
  AdvisorOrder,
  CancelledError,
  ChatClient,
  CONVERSATION_ID,
  ConversationLockAdvisor,
  ConversationLockError,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  type AdvisorChainError,
  type ConversationLockAdvisorOptions,
  type KeyValueStore,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { GatedTurns } from '../../support/gated-turns.js';
import { inConversation, storedTexts } from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { settle } from '../../support/promises.js';
import { VirtualTime } from '../../support/virtual-time.js';

const KEY = 'conversation-lock:c';
const locking = (options: ConversationLockAdvisorOptions = {}): ConversationLockAdvisor =>
  new ConversationLockAdvisor(options);

/** Another view of a store, as another process has one: its turns do not queue with the first one's. */
const viewOf = (store: KeyValueStore): KeyValueStore => ({
  get: (...args) => store.get(...args),
  set: (...args) => store.set(...args),
  delete: (...args) => store.delete(...args),
  add: (...args) => store.add(...args),
});

describe('ConversationLockAdvisor', () => {
  const time = new VirtualTime();
  const useVirtualTime = (): void => {
    time.start();
    mock.method(Date, 'now', () => performance.now());
  };
  afterEach(() => time.restore());

  for (const [options, message] of [
    [{ store: {} }, 'store must be a KeyValueStore, not an object'],
    [{ onBusy: 'queue' }, "onBusy must be 'wait', 'reject' or 'interrupt', not \"queue\""],
    [{ waitTimeout: 0 }, 'waitTimeout must be a number of milliseconds > 0'],
    [{ lease: 99 }, 'lease must be a number of milliseconds from 100 to 3_600_000, not 99'],
    [{ name: '' }, 'name must be a non-blank string, not ""'],
    [{ order: NaN }, 'order must be a finite number, not NaN'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => locking(options as never)).to.throw(
        InvalidArgumentError,
        `ConversationLockAdvisor: ${message}`,
      );
    });

  it('stands left of the memory, and checks the lock right of it', () => {
    const chatMemory = new MessageWindowChatMemory({
      repository: new InMemoryChatMemoryRepository(),
    });
    const client = ChatClient.builder(new ScriptedChatModel([]))
      .defaultAdvisors(locking(), new MessageChatMemoryAdvisor({ chatMemory }))
      .build();

    expect(client.explain().oncePerTurn).to.deep.equal([
      'conversation-lock',
      'chat-memory',
      'conversation-lock-check',
    ]);
    expect(client.explain().warnings).to.deep.equal([]);
  });

  for (const mode of MODES) {
    it(`${mode}: open-design#5490, openclaw#111897: runs turns of a conversation one after the other, in order of arrival`, async () => {
      const turns = new GatedTurns();
      const client = turns.client(locking());
      const asked = ['a', 'b', 'c'].map((name) => turns.ask(client, name, { mode }));
      turns.open('c', 'b', 'a');

      const answers = await Promise.all(asked);

      expect(answers.map(({ text }) => text)).to.deep.equal(['a!', 'b!', 'c!']);
      expect(turns.log).to.deep.equal(
        ['a', 'b', 'c'].flatMap((name) => [`${name} starts`, `${name} ends`]),
      );
    });

    it(`${mode}: lets the next turn see the answer of the one before`, async () => {
      const repository = new InMemoryChatMemoryRepository();
      const chatMemory = new MessageWindowChatMemory({ repository });
      const turns = new GatedTurns();
      const memory = new MessageChatMemoryAdvisor({ chatMemory, onConflict: 'fail' });
      const client = turns.client(locking(), memory);
      const asked = ['a', 'b'].map((name) => turns.ask(client, name, { mode }));
      turns.open('a', 'b');

      await Promise.all(asked);

      expect(await storedTexts(repository)).to.deep.equal(['a', 'a!', 'b', 'b!']);
      expect(turns.model.prompts.map(({ messages }) => messages.length)).to.deep.equal([1, 3]);
    });

    it(`${mode}: keeps no turn of another conversation, or of none, waiting`, async () => {
      const turns = new GatedTurns();
      const client = turns.client(locking());
      const first = turns.ask(client, 'a', { mode });
      await turns.started('a');
      turns.open('b', 'c', 'd');

      await turns.ask(client, 'b', { mode, id: 'other' });
      await turns.ask(client, 'c', { mode, id: '' });
      await turns.ask(client, 'd', { mode, id: '' });

      turns.open('a');
      expect((await first).text).to.equal('a!');
    });

    it(`${mode}: rejects a turn while another one is running, and no other`, async () => {
      const turns = new GatedTurns();
      const client = turns.client(locking({ onBusy: 'reject' }));
      const first = turns.ask(client, 'a', { mode });
      await turns.started('a');

      const error = await failureOf(turns.ask(client, 'b', { mode }));

      expect(error).to.be.instanceOf(ConversationLockError);
      expect(error).to.include({ code: 'conversation_lock', reason: 'busy', conversationId: 'c' });
      turns.open('a', 'c');
      await first;
      expect((await turns.ask(client, 'c', { mode })).text).to.equal('c!');
      expect(turns.model.prompts).to.have.length(2);
    });

    it(`${mode}: interrupts the running turn, and those that wait`, async () => {
      const turns = new GatedTurns();
      const client = turns.client(locking({ onBusy: 'interrupt' }));
      const first = turns.ask(client, 'a', { mode });
      await turns.started('a');
      const second = turns.ask(client, 'b', { mode });
      await settle();
      const third = turns.ask(client, 'c', { mode });
      turns.open('c');

      expect((await third).text).to.equal('c!');
      for (const turn of [first, second]) {
        const error = await failureOf(turn);
        expect(error).to.be.instanceOf(CancelledError);
        expect((error as Error).cause)
          .to.be.instanceOf(ConversationLockError)
          .with.property('reason', 'interrupted');
      }
      expect(turns.log).to.deep.equal(['a starts', 'a ends', 'c starts', 'c ends']);
    });

    it(`${mode}: releases the lock after an error, a cancellation, and the end of a stream's consumer`, async () => {
      const model = new ScriptedChatModel([new ModelCallError('down'), 'fine', 'fine']);
      const failing = ChatClient.builder(model)
        .defaultAdvisors(locking({ onBusy: 'reject' }))
        .build();
      const ask = () => runSpec(mode, inConversation(failing.prompt('?')));
      expect(await failureOf(ask())).to.be.instanceOf(ModelCallError);
      expect((await ask()).text).to.equal('fine');
      expect((await ask()).text).to.equal('fine');

      const turns = new GatedTurns();
      const client = turns.client(locking({ onBusy: 'reject' }));
      const controller = new AbortController();
      const cancelled = turns.ask(client, 'a', { mode, signal: controller.signal });
      await turns.started('a');
      controller.abort();
      expect(await failureOf(cancelled)).to.be.instanceOf(CancelledError);
      turns.open('b');
      expect((await turns.ask(client, 'b', { mode })).text).to.equal('b!');

      const left = inConversation(client.prompt('d')).stream().events().subscribe();
      await turns.started('d');
      left.unsubscribe();
      turns.open('e');
      expect((await turns.ask(client, 'e', { mode })).text).to.equal('e!');
    });

    it(`${mode}: ends a turn that is cancelled while it waits at once, and lets the next one through`, async () => {
      const turns = new GatedTurns();
      const client = turns.client(locking());
      const first = turns.ask(client, 'a', { mode });
      await turns.started('a');
      const controller = new AbortController();
      const second = turns.ask(client, 'b', { mode, signal: controller.signal });
      const third = turns.ask(client, 'c', { mode });
      await settle();
      controller.abort();

      expect(await failureOf(second)).to.be.instanceOf(CancelledError);
      turns.open('a', 'c');
      await first;
      expect((await third).text).to.equal('c!');
      expect(turns.log).not.to.include('b starts');
    });

    it(`${mode}: ends a turn that has waited for too long`, async () => {
      const turns = new GatedTurns();
      const client = turns.client(locking({ waitTimeout: 5 }));
      const first = turns.ask(client, 'a', { mode });
      await turns.started('a');

      const error = await failureOf(turns.ask(client, 'b', { mode }));

      expect(error).to.be.instanceOf(ConversationLockError);
      expect(error).to.include({ reason: 'busy' });
      expect((error as Error).message).to.include('for 5 ms (option waitTimeout)');
      turns.open('a');
      await first;
    });

    it(`${mode}: runs a turn of an agent in the same conversation under the lock of the outer turn`, async () => {
      const store = new InMemoryKeyValueStore();
      const inner = ChatClient.builder(new ScriptedChatModel(['inner']))
        .defaultAdvisors(locking({ store }))
        .build();
      const agent = agentTool(inner, {
        name: 'agent',
        description: 'Asks another one.',
        turn: (turn) => inConversation(turn),
      });
      const call = { id: '1', name: 'agent', arguments: { message: 'hello' } };
      const outer = ChatClient.builder(new ScriptedChatModel([{ toolCalls: [call] }, 'outer']))
        .defaultAdvisors(locking({ store, waitTimeout: 1_000 }))
        .defaultTools(agent)
        .build();

      const response = await runSpec(mode, inConversation(outer.prompt('?')));

      expect(response.text).to.equal('outer');
      expect(response.steps[0]?.toolCalls[0]?.result?.content).to.equal('inner');
      expect(await store.get(KEY)).to.equal(undefined);
    });

    it(`${mode}: effect-gates#64: keeps turns of another process waiting, too`, async () => {
      const store = new InMemoryKeyValueStore();
      const turns = new GatedTurns();
      const client = turns.client(locking({ store }));
      const elsewhere = turns.client(locking({ store: viewOf(store) }));
      const first = turns.ask(client, 'a', { mode });
      await turns.started('a');
      const second = turns.ask(elsewhere, 'b', { mode });
      const refusing = turns.client(locking({ store: viewOf(store), onBusy: 'reject' }));

      expect(await failureOf(turns.ask(refusing, 'c', { mode }))).to.have.property(
        'reason',
        'busy',
      );
      turns.open('a', 'b');
      await first;
      expect((await second).text).to.equal('b!');
      expect(turns.log).to.deep.equal(['a starts', 'a ends', 'b starts', 'b ends']);
    });

    it(`${mode}: interrupts a turn of another process`, async () => {
      const store = new InMemoryKeyValueStore();
      const turns = new GatedTurns();
      const options = { onBusy: 'interrupt', lease: 120 } as const;
      const first = turns.ask(turns.client(locking({ store, ...options })), 'a', { mode });
      await turns.started('a');
      turns.open('b');

      const elsewhere = turns.client(locking({ store: viewOf(store), ...options }));
      const second = await turns.ask(elsewhere, 'b', { mode });

      expect(second.text).to.equal('b!');
      expect(await failureOf(first)).to.be.instanceOf(CancelledError);
      expect(turns.log).to.deep.equal(['a starts', 'a ends', 'b starts', 'b ends']);
    });

    it(`${mode}: stops a turn whose lock was lost, and stores nothing of it`, async () => {
      const store = new InMemoryKeyValueStore();
      const repository = new InMemoryChatMemoryRepository();
      const memory = new MessageChatMemoryAdvisor({
        chatMemory: new MessageWindowChatMemory({ repository }),
      });
      const turns = new GatedTurns();
      const first = turns.ask(turns.client(locking({ store, lease: 100 }), memory), 'a', { mode });
      await turns.started('a');
      await store.set(KEY, 'another process');

      const error = await failureOf(first);

      expect(error).to.be.instanceOf(ConversationLockError).with.property('reason', 'lost');
      await (error as AdvisorChainError).run?.settled;
      expect(await storedTexts(repository)).to.deep.equal([]);
      expect(await store.get(KEY)).to.equal('another process');
    });

    it(`${mode}: stores nothing of a turn whose process was paused for longer than the lease`, async () => {
      const store = new InMemoryKeyValueStore();
      const repository = new InMemoryChatMemoryRepository();
      const memory = new MessageChatMemoryAdvisor({
        chatMemory: new MessageWindowChatMemory({ repository }),
      });
      const turns = new GatedTurns();
      const first = turns.ask(turns.client(locking({ store }), memory), 'a', { mode });
      await turns.started('a');
      const later = Date.now() + 40_000;
      mock.method(Date, 'now', () => later);
      turns.open('a');

      const error = await failureOf(first);

      expect(error).to.be.instanceOf(ConversationLockError).with.property('reason', 'lost');
      expect(await storedTexts(repository)).to.deep.equal([]);
    });
  }

  it('stores the part of an interrupted turn before the next one begins', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const chatMemory = new MessageWindowChatMemory({ repository });
    const memory = new MessageChatMemoryAdvisor({ chatMemory, onIncomplete: 'keep-partial' });
    const model = new ScriptedChatModel([{ text: 'one two', delay: 5 }, 'answer']);
    const client = ChatClient.builder(model)
      .defaultAdvisors(locking({ onBusy: 'interrupt' }), memory)
      .build();
    const second = await new Promise<string | null>((resolve, reject) => {
      const begin = (): void =>
        void inConversation(client.prompt('b')).call().content().then(resolve, reject);
      const first = inConversation(client.prompt('a')).stream().events();
      first.subscribe({
        next: (event) => event.type === 'text-delta' && event.text.startsWith('one') && begin(),
        error: () => undefined,
      });
    });

    expect(second).to.equal('answer');
    const texts = await storedTexts(repository);
    expect(texts[0]).to.equal('a');
    expect(texts.slice(-2)).to.deep.equal(['b', 'answer']);
    expect(texts).to.have.length(4);
  });

  it('waits for the lock of a process that has crashed until its lease has ended', async () => {
    const store = new InMemoryKeyValueStore();
    await store.set(KEY, 'crashed', { ttl: 40 });
    const turns = new GatedTurns();
    turns.open('a');

    const response = await turns.ask(turns.client(locking({ store })), 'a');

    expect(response.text).to.equal('a!');
  });

  it('emits an event when a turn has to wait', async () => {
    const turns = new GatedTurns();
    const client = turns.client(locking());
    const first = turns.ask(client, 'a');
    await turns.started('a');
    const waits: unknown[] = [];
    const done = new Promise<void>((resolve, reject) =>
      inConversation(client.prompt('b'))
        .stream()
        .events()
        .subscribe({
          next: (event) => {
            if (event.type !== 'custom') return;
            waits.push({ name: event.name, data: event.data });
            turns.open('a', 'b');
          },
          error: reject,
          complete: resolve,
        }),
    );
    await Promise.all([first, done]);

    expect(waits).to.deep.equal([{ name: 'conversation-wait', data: { conversationId: 'c' } }]);
  });

  describe('on a store that fails', () => {
    const failingStore = (failing: Partial<KeyValueStore>): KeyValueStore => ({
      ...viewOf(new InMemoryKeyValueStore()),
      ...failing,
    });
    const down = (): Promise<never> => Promise.reject(new Error('store is down'));

    it('runs no turn without a lock', async () => {
      const turns = new GatedTurns();
      const client = turns.client(locking({ store: failingStore({ set: down }) }));

      expect(await failureOf(turns.ask(client, 'a'))).to.have.property('message', 'store is down');
      expect(turns.log).to.deep.equal([]);
    });

    it('returns the answer of a turn whose lock cannot be deleted', async () => {
      const turns = new GatedTurns();
      turns.open('a');
      const client = turns.client(locking({ store: failingStore({ delete: down }) }));

      expect((await turns.ask(client, 'a')).text).to.equal('a!');
    });

    it('returns the answer of a turn whose store does not answer any more', async () => {
      const turns = new GatedTurns();
      turns.open('a');
      const hanging = failingStore({ delete: () => new Promise(() => undefined) });
      const client = turns.client(locking({ store: hanging }));
      time.start();

      expect((await time.until(turns.ask(client, 'a'))).value.text).to.equal('a!');
    });

    it('lets the next turn start when a store has not answered a cancelled one', async () => {
      const memory = new InMemoryKeyValueStore();
      let attempts = 0;
      const store = failingStore({
        get: (key) => memory.get(key),
        set: (key, value, options) =>
          attempts++ ? memory.set(key, value, options) : new Promise(() => undefined),
      });
      const turns = new GatedTurns();
      turns.open('a', 'b');
      const client = turns.client(locking({ store }));
      const controller = new AbortController();
      time.start();
      const first = turns.ask(client, 'a', { signal: controller.signal });
      const second = turns.ask(client, 'b');
      await settle();
      controller.abort();

      expect(await failureOf(first)).to.be.instanceOf(CancelledError);
      expect((await time.until(second)).value.text).to.equal('b!');
    });

    it('continues if the store is back before the lease ends, and stops if it is not', async () => {
      const memory = new InMemoryKeyValueStore();
      let failures = 0;
      const store = failingStore({
        get: (key) => memory.get(key),
        set: (key, value, options) =>
          options?.expected !== null && failures-- > 0 ? down() : memory.set(key, value, options),
      });
      const turns = new GatedTurns();
      const client = turns.client(locking({ store }));
      useVirtualTime();
      failures = 1;
      const first = turns.ask(client, 'a');
      await turns.started('a');
      await time.pass(40_000);
      turns.open('a');
      expect((await first).text).to.equal('a!');

      failures = Infinity;
      const { value: error } = await time.until(failureOf(turns.ask(client, 'b', { id: 'd' })));
      expect(error).to.have.property('reason', 'lost');
      expect((error as Error).message).to.include('store is down');
    });
  });

  it('renews the lock while a turn is running', async () => {
    const store = new InMemoryKeyValueStore();
    const renewals: unknown[] = [];
    const watched: KeyValueStore = {
      ...viewOf(store),
      set: (key, value, options) => {
        renewals.push(options?.expected === value);
        return store.set(key, value, options);
      },
    };
    const turns = new GatedTurns();
    useVirtualTime();
    const first = turns.ask(turns.client(locking({ store: watched })), 'a');
    await time.pass(45_000);
    turns.open('a');

    expect((await first).text).to.equal('a!');
    expect(renewals).to.deep.equal([false, true, true, true, true]);
    expect(await store.get(KEY)).to.equal(undefined);
  });

  it('refuses an invalid conversation id', () => {
    const client = ChatClient.builder(new ScriptedChatModel([])).defaultAdvisors(locking()).build();

    expect(() => client.prompt('?').advisors((a) => a.param(CONVERSATION_ID, ' '))).to.throw(
      InvalidArgumentError,
    );
  });

  it('has the order LOCK', () => {
    expect(locking().order).to.equal(AdvisorOrder.LOCK);
  });
});
