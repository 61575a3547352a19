import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import Database from 'libsql';
import {
  CancelledError,
  ChatClient,
  StoreBusyError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
} from '../../../src/index.js';
import { SqliteChatMemoryRepository } from '../../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { turn } from '../../support/conversation.js';
import { inConversation, storedTexts } from '../../support/memory-advisor.js';
import { failureOf } from '../../support/modes.js';
import {
  FULL_LOCK,
  lockDatabase,
  watchEventLoop,
  WRITE_LOCK,
} from '../../support/sqlite-locker.js';

/** Milliseconds that another process holds a lock: it is freed only if the event loop is not blocked. */
const LOCKED = 200;
/** Generous: it is 1 to 10 ms on an idle machine, where others want the processor some hundreds, and was 10,000 ms. */
const MAX_BLOCKED = 2_500;

type Store = SqliteChatMemoryRepository;

describe('SqliteChatMemoryRepository, locked by another process', function () {
  this.timeout(60_000);
  this.slow(10_000);

  const folder = mkdtempSync(join(tmpdir(), 'chat-memory-'));
  let count = 0;
  const newFile = (): string => join(folder, `${++count}.db`);
  after(() => rmSync(folder, { recursive: true }));

  /** A store with one turn, in a file with a write-ahead log. */
  async function openStore(): Promise<{ file: string; store: Store }> {
    const file = newFile();
    const store = await SqliteChatMemoryRepository.open(file);
    await store.append('c', turn(1));
    return { file, store };
  }

  /** The same in a database of the application, which has no write-ahead log. */
  async function shareStore(busyTimeout?: number) {
    const file = newFile();
    const database = new Database(file);
    database.exec('PRAGMA busy_timeout = 5000');
    const store = new SqliteChatMemoryRepository({ database, busyTimeout });
    await store.migrate();
    await store.append('c', turn(1));
    return { file, store, database };
  }

  const OPERATIONS: Readonly<
    Record<string, readonly [lock: string, run: (store: Store) => Promise<unknown>]>
  > = {
    append: [WRITE_LOCK, (store) => store.append('c', turn(2))],
    replace: [WRITE_LOCK, (store) => store.replace('c', turn(2), { expectedVersion: 2 })],
    delete: [WRITE_LOCK, (store) => store.delete('c')],
    read: [FULL_LOCK, (store) => store.read('c')],
    conversationIds: [FULL_LOCK, (store) => store.conversationIds()],
    migrate: [FULL_LOCK, (store) => store.migrate()],
  };

  /** Runs an operation that has to wait, and returns how long the event loop was blocked. */
  async function runLocked(
    file: string,
    lock: string,
    run: () => Promise<unknown>,
  ): Promise<number> {
    const release = await lockDatabase(file, lock);
    const blocked = watchEventLoop();
    let isDone = false;
    const done = run().then(() => (isDone = true));
    await delay(LOCKED);
    expect(isDone, 'the operation waits').to.equal(false);
    await release();
    await done;
    return blocked();
  }

  describe('waits without blocking the event loop', () => {
    const measured: string[] = [];
    after(() => console.log(`      longest block: ${measured.join(', ')}`));

    for (const [name, [lock, run]] of Object.entries(OPERATIONS))
      it(`[D48] in ${name}`, async () => {
        const { file, store, database } = await shareStore();
        const longest = await runLocked(file, lock, () => run(store));

        measured.push(`${name} ${longest.toFixed(1)} ms`);
        expect(longest).to.be.lessThan(MAX_BLOCKED);
        expect(database.prepare('PRAGMA busy_timeout').all()).to.deep.equal([{ timeout: 5_000 }]);
        await store.close();
      });

    it('[D48] in open', async () => {
      const { file } = await shareStore();
      const longest = await runLocked(file, FULL_LOCK, async () => {
        await (await SqliteChatMemoryRepository.open(file)).close();
      });

      measured.push(`open ${longest.toFixed(1)} ms`);
      expect(longest).to.be.lessThan(MAX_BLOCKED);
    });

    it('[D48] with 200 turns that wait', async () => {
      const { file, store } = await openStore();
      const numbers = Array.from({ length: 200 }, (_, at) => at + 2);
      const longest = await runLocked(file, WRITE_LOCK, () =>
        Promise.all(numbers.map((number) => store.append('c', turn(number)))),
      );

      measured.push(`200 turns ${longest.toFixed(1)} ms`);
      expect(longest).to.be.lessThan(MAX_BLOCKED);
      expect(await storedTexts(store)).to.deep.equal(
        [1, ...numbers].flatMap((number) => [`${number}?`, `${number}!`]),
      );
      await store.close();
    });
  });

  it('[D48] stores the turn once when the lock is freed', async () => {
    const { file, store } = await openStore();
    await runLocked(file, WRITE_LOCK, async () =>
      expect(await store.append('c', turn(2))).to.equal(4),
    );

    expect(await storedTexts(store)).to.deep.equal(['1?', '1!', '2?', '2!']);
    await store.close();
  });

  it('[D48] reads while a write waits', async () => {
    const { file, store } = await openStore();
    const release = await lockDatabase(file, WRITE_LOCK);
    const write = store.append('c', turn(2));

    expect(await storedTexts(store)).to.deep.equal(['1?', '1!']);
    await release();
    expect(await write).to.equal(4);
    await store.close();
  });

  it('[D48] keeps the order of its writes, and closes after them', async () => {
    const { file, store } = await openStore();
    const release = await lockDatabase(file, WRITE_LOCK);
    const writes = [
      store.delete('c'),
      ...[2, 3, 4, 5].map((number) => store.append('c', turn(number))),
      store.replace('other', turn(6), { expectedVersion: 0 }),
    ];
    const closed = store.close();
    await delay(100);
    await release();

    expect(await Promise.all(writes)).to.deep.equal([undefined, 2, 4, 6, 8, 2]);
    await closed;
    const reopened = await SqliteChatMemoryRepository.open(file);
    expect(await storedTexts(reopened)).to.deep.equal(
      [2, 3, 4, 5].flatMap((number) => [`${number}?`, `${number}!`]),
    );
    await reopened.close();
  });

  for (const [name, [lock, run]] of Object.entries(OPERATIONS))
    it(`[D48] fails with StoreBusyError in ${name} after busyTimeout, and changes nothing`, async () => {
      const { file, store } = await shareStore(50);
      const release = await lockDatabase(file, lock);
      const error: unknown = await run(store).catch((reason: unknown) => reason);
      await release();

      expect(error).to.be.instanceOf(StoreBusyError);
      expect(error).to.include({ code: 'store_busy', timeout: 50 });
      expect(error).to.have.nested.property('cause.code', 'SQLITE_BUSY');
      expect(await storedTexts(store)).to.deep.equal(['1?', '1!']);
      await store.close();
    });

  const CANCELLABLE: Readonly<
    Record<
      string,
      readonly [lock: string, run: (store: Store, signal: AbortSignal) => Promise<unknown>]
    >
  > = {
    append: [WRITE_LOCK, (store, signal) => store.append('c', turn(2), { signal })],
    replace: [
      WRITE_LOCK,
      (store, signal) => store.replace('c', turn(2), { expectedVersion: 2, signal }),
    ],
    read: [FULL_LOCK, (store, signal) => store.read('c', { signal })],
    'add of a memory': [
      WRITE_LOCK,
      (repository, signal) =>
        new MessageWindowChatMemory({ repository }).add('c', turn(2), { signal }),
    ],
    'load of a memory': [
      FULL_LOCK,
      (repository, signal) =>
        new MessageWindowChatMemory({ repository }).load('c', undefined, { signal }),
    ],
  };

  for (const [name, [lock, run]] of Object.entries(CANCELLABLE))
    it(`[D48] ends the wait in ${name} when its signal aborts, and stores nothing afterwards`, async () => {
      const { file, store } = await shareStore();
      const release = await lockDatabase(file, lock);
      const controller = new AbortController();
      // the second one waits for the first, or for the lock too
      const ends = [1, 2].map(() => failureOf(run(store, controller.signal)));
      await delay(50);
      controller.abort('gone');
      const errors = await Promise.all(ends);
      await release();

      for (const error of errors) {
        expect(error).to.be.instanceOf(CancelledError);
        expect(error).to.have.property('cause', 'gone');
      }
      expect(await store.append('other', turn(3))).to.equal(2);
      expect(await storedTexts(store)).to.deep.equal(['1?', '1!']);
      await store.close();
    });

  /** Cancels a turn while its answer waits for a lock, and returns what is stored in the end. */
  async function cancelTurn(onIncomplete: 'discard' | 'keep-partial') {
    const { file, store } = await shareStore();
    const chatMemory = new MessageWindowChatMemory({ repository: store });
    const release = await lockDatabase(file, WRITE_LOCK);
    const controller = new AbortController();
    const model = new ScriptedChatModel(() => {
      setTimeout(() => controller.abort(), 100);
      return '2!';
    });
    const client = ChatClient.builder(model)
      .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory, onIncomplete }))
      .build();
    const spec = inConversation(client.prompt('2?')).signal(controller.signal);
    const error = await failureOf(spec.call().chatResponse());
    await release();
    await store.close();
    const reopened = await SqliteChatMemoryRepository.open(file);
    const texts = await storedTexts(reopened);
    await reopened.close();
    return { error, texts };
  }

  it('[D48] does not store a turn that is cancelled while it waits', async () => {
    const { error, texts } = await cancelTurn('discard');

    expect(error).to.be.instanceOf(CancelledError);
    expect(texts).to.deep.equal(['1?', '1!']);
  });

  it('[D48] stores a turn that is cancelled while it waits, if partial turns are kept', async () => {
    const { error, texts } = await cancelTurn('keep-partial');

    expect(error).to.be.instanceOf(CancelledError);
    expect(texts).to.deep.equal(['1?', '1!', '2?', '2!']);
  });

  for (const busyTimeout of [0, -1, NaN, '1', null])
    it(`rejects busyTimeout ${String(busyTimeout)}`, () => {
      const database = new Database(':memory:');

      expect(
        () => new SqliteChatMemoryRepository({ database, busyTimeout: busyTimeout as never }),
      ).to.throw('SqliteChatMemoryRepository: busyTimeout must be a number of milliseconds > 0');
    });
});
