import assert from 'node:assert/strict';
import type { Message } from '../chat/message.js';
import { InvalidArgumentError, MemoryConflictError } from '../errors.js';
import type { ChatMemoryRepository } from '../memory/chat-memory-repository.js';
import { deletes, listsIds, refusesIds, separatesIds } from './memory-id-laws.js';
import { everyKindOfMessage } from './memory-messages.js';
import { contents, fresh, texts, user } from './memory-samples.js';

/** A sentence that holds for every store of conversations, and how to check it. */
export interface MemoryLaw {
  readonly title: string;
  readonly check: (repository: ChatMemoryRepository) => Promise<void>;
}

/** The laws of {@link ChatMemoryRepository}; each uses conversations of its own, so the store may have others. */
export const MEMORY_LAWS: readonly MemoryLaw[] = [
  { title: 'knows nothing of a conversation that is not there', check: startsEmpty },
  { title: 'gives back what was appended, in order, with versions and turns', check: appends },
  { title: 'gives back every kind of message with every field', check: keepsEveryField },
  { title: 'reads the newest messages, and pages backwards', check: pages },
  { title: 'appends nothing unless the version is the expected one', check: checksVersions },
  { title: 'replaces a log, and goes on with its versions', check: replaces },
  { title: 'replaces only the version that it was told', check: checksReplacements },
  { title: 'keeps the system messages of the last write that had any', check: keepsSystemMessages },
  { title: 'deletes a conversation and no other', check: deletes },
  { title: 'lists ids by page and literal prefix, in the order of their bytes', check: listsIds },
  { title: 'takes any id as data: no conversation sees another', check: separatesIds },
  { title: 'refuses what is no id', check: refusesIds },
  { title: 'keeps every write whole, and all of them, when many write at the same time', check: keepsWritesWhole },
  { title: 'lets one of many writers win that expect the same version', check: letsOneWin },
  { title: 'refuses what would not come back as it is, and writes nothing of it', check: refusesUnfit },
  { title: 'keeps nothing of the objects that it was given', check: copies },
];

async function startsEmpty(repository: ChatMemoryRepository): Promise<void> {
  assert.deepEqual(await repository.read(fresh()), { version: 0, messages: [], systemMessages: [] });
}

async function appends(repository: ChatMemoryRepository): Promise<void> {
  const id = fresh();
  assert.equal(await repository.append(id, [user('a'), user('b')], { turnId: 'turn "1"\n' }), 2);
  assert.equal(await repository.append(id, [user('c')]), 3);
  assert.equal(await repository.append(id, []), 3);
  assert.deepEqual(await repository.read(id), {
    version: 3,
    messages: [
      { version: 1, turnId: 'turn "1"\n', message: user('a') },
      { version: 2, turnId: 'turn "1"\n', message: user('b') },
      { version: 3, turnId: undefined, message: user('c') },
    ],
    systemMessages: [],
  });
  const empty = fresh('empty');
  assert.equal(await repository.append(empty, []), 0);
  assert.deepEqual(await repository.conversationIds({ prefix: empty }), [], 'nothing was appended, but the conversation is there');
}

async function keepsEveryField(repository: ChatMemoryRepository): Promise<void> {
  const id = fresh();
  await repository.append(id, everyKindOfMessage());
  const { messages, systemMessages } = await repository.read(id);
  everyKindOfMessage().forEach((message, at) => {
    assert.deepStrictEqual(messages[at]?.message, message, `message ${at} came back as another one`);
    assert.equal(JSON.stringify(messages[at]?.message), JSON.stringify(message), `the fields of message ${at} came back in another order`);
  });
  assert.deepStrictEqual(systemMessages, everyKindOfMessage().slice(0, 1));
}

async function pages(repository: ChatMemoryRepository): Promise<void> {
  const id = fresh();
  await repository.append(id, texts(1, 10));
  assert.deepEqual(await contents(repository, id, { limit: 3 }), ['8', '9', '10']);
  assert.deepEqual(await contents(repository, id, { limit: 0 }), []);
  assert.deepEqual(await contents(repository, id, { limit: 3, beforeVersion: 8 }), ['5', '6', '7']);
  assert.deepEqual(await contents(repository, id, { limit: 3, beforeVersion: 2 }), ['1']);
  assert.deepEqual(await contents(repository, id, { beforeVersion: 1 }), []);
  assert.deepEqual(await contents(repository, id, { beforeVersion: 0 }), []);
  assert.deepEqual(await contents(repository, id, { beforeVersion: 100, limit: 1 }), ['10']);
  assert.equal((await repository.read(id, { limit: 0 })).version, 10);
  const { messages } = await repository.read(id, { limit: 2, beforeVersion: 5 });
  assert.deepEqual(
    messages.map(({ version }) => version),
    [3, 4],
  );
  for (const options of [{ limit: -1 }, { limit: 1.5 }, { beforeVersion: Number.NaN }])
    await assert.rejects(repository.read(id, options), InvalidArgumentError);
}

async function checksVersions(repository: ChatMemoryRepository): Promise<void> {
  const id = fresh();
  await conflicts(repository.append(id, [user('a')], { expectedVersion: 1 }), id, 1, 0);
  assert.equal(await repository.append(id, [user('a')], { expectedVersion: 0 }), 1);
  await conflicts(repository.append(id, [user('b')], { expectedVersion: 0 }), id, 0, 1);
  await conflicts(repository.append(id, [], { expectedVersion: 0 }), id, 0, 1);
  assert.equal(await repository.append(id, [user('b'), user('c')], { expectedVersion: 1 }), 3);
  assert.deepEqual(await contents(repository, id), ['a', 'b', 'c']);
}

async function conflicts(write: Promise<number>, id: string, expected: number, version: number): Promise<void> {
  await assert.rejects(write, (error: unknown) => {
    assert.ok(error instanceof MemoryConflictError, `expected a MemoryConflictError, not ${String(error)}`);
    assert.deepEqual([error.conversationId, error.expectedVersion, error.version], [id, expected, version]);
    return true;
  });
}

async function replaces(repository: ChatMemoryRepository): Promise<void> {
  const id = fresh();
  await repository.append(id, texts(1, 5));
  assert.equal(await repository.replace(id, texts(6, 7), { expectedVersion: 5, turnId: 't' }), 7);
  assert.equal(await repository.append(id, texts(8, 8)), 8);
  const { messages, version } = await repository.read(id);
  assert.deepEqual(
    messages.map(({ version: at, turnId }) => [at, turnId]),
    [
      [6, 't'],
      [7, 't'],
      [8, undefined],
    ],
  );
  assert.equal(version, 8);
  assert.deepEqual(await contents(repository, id, { beforeVersion: 8, limit: 1 }), ['7']);
  assert.equal(await repository.replace(id, [], { expectedVersion: 8 }), 9);
  assert.deepEqual(await repository.read(id), { version: 9, messages: [], systemMessages: [] });
  assert.equal(await repository.append(id, texts(10, 10), { expectedVersion: 9 }), 10);
  assert.deepEqual(await contents(repository, id), ['10']);
}

async function checksReplacements(repository: ChatMemoryRepository): Promise<void> {
  const id = fresh();
  await conflicts(repository.replace(id, texts(1, 1), { expectedVersion: 4 }), id, 4, 0);
  await repository.append(id, texts(1, 3));
  await conflicts(repository.replace(id, [], { expectedVersion: 2 }), id, 2, 3);
  assert.deepEqual(await contents(repository, id), ['1', '2', '3']);
  await assert.rejects(repository.replace(id, [], undefined as never), InvalidArgumentError);
}

async function keepsSystemMessages(repository: ChatMemoryRepository): Promise<void> {
  const id = fresh();
  const system = (text: string): Message => ({ role: 'system', text });
  await repository.append(id, [system('a'), user('x'), system('b')]);
  await repository.append(id, texts(1, 30));
  assert.deepEqual((await repository.read(id, { limit: 1 })).systemMessages, [system('a'), system('b')]);
  const version = await repository.append(id, [user('y'), system('c')]);
  assert.deepEqual((await repository.read(id, { limit: 0 })).systemMessages, [system('c')]);
  await repository.replace(id, [user('z')], { expectedVersion: version });
  assert.deepEqual((await repository.read(id)).systemMessages, []);
}

async function keepsWritesWhole(repository: ChatMemoryRepository): Promise<void> {
  const id = fresh();
  const writers = Array.from({ length: 25 }, (_, at) => `${at}`);
  const versions = await Promise.all(writers.map((turnId) => repository.append(id, texts(1, 4), { turnId })));
  const { messages, version } = await repository.read(id);
  assert.equal(version, 100);
  assert.deepEqual(
    versions.toSorted((a, b) => a - b),
    writers.map((_, at) => (at + 1) * 4),
  );
  for (let at = 0; at < messages.length; at += 4) {
    const write = messages.slice(at, at + 4);
    assert.equal(new Set(write.map(({ turnId }) => turnId)).size, 1, 'two writes are mixed');
    assert.equal(versions[Number(write[0]?.turnId)], at + 4, 'a writer was told another version than that of its messages');
    assert.deepEqual(
      write.map(({ message }) => message),
      texts(1, 4),
    );
  }
}

async function letsOneWin(repository: ChatMemoryRepository): Promise<void> {
  const id = fresh();
  for (let round = 0; round < 5; round++) {
    const writes = Array.from({ length: 8 }, (_, at) => repository.append(id, [user(`${round}.${at}`)], { expectedVersion: round }));
    const outcomes = await Promise.allSettled(writes);
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.equal(failed.length, 7);
    for (const { reason } of failed) assert.ok(reason instanceof MemoryConflictError, String(reason));
  }
  assert.equal((await contents(repository, id)).length, 5);
}

async function refusesUnfit(repository: ChatMemoryRepository): Promise<void> {
  const id = fresh();
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const values = [1n, () => 1, Symbol('s'), new Date(0), new Map(), Number.NaN, -0, cyclic, JSON.parse('{"__proto__":1}') as unknown];
  for (const value of values)
    await assert.rejects(repository.append(id, [user('a'), { role: 'user', content: 'b', metadata: { value } }]), InvalidArgumentError);
  await assert.rejects(repository.append(id, [user('a'), { role: 'robot' } as unknown as Message]), InvalidArgumentError);
  for (const text of ['a\0', '\ud800', 'x'.repeat(513), 1 as unknown as string]) {
    await assert.rejects(repository.append(id, [user('a')], { turnId: text }), InvalidArgumentError);
    await assert.rejects(repository.replace(id, [user('a')], { expectedVersion: 0, turnId: text }), InvalidArgumentError);
    await assert.rejects(repository.conversationIds({ prefix: text }), InvalidArgumentError);
    await assert.rejects(repository.conversationIds({ after: text }), InvalidArgumentError);
  }
  assert.equal((await repository.read(id)).version, 0);
}

async function copies(repository: ChatMemoryRepository): Promise<void> {
  const id = fresh();
  const message = { role: 'user' as const, content: 'as it was', metadata: { list: [1] } };
  const writing = repository.append(id, [message]);
  message.content = 'changed';
  message.metadata.list.push(2);
  await writing;
  const read = (await repository.read(id)).messages[0]?.message as typeof message;
  assert.deepEqual(read, { role: 'user', content: 'as it was', metadata: { list: [1] } });
  read.content = 'changed';
  assert.deepEqual(await contents(repository, id), ['as it was']);
}
