import assert from 'node:assert/strict';
import type { Message } from '../../core/chat/message.js';
import { MemoryConflictError } from '../../core/errors/errors.js';
import {
  contentsOf,
  everyKindOfMessage,
  logOf,
  newId,
  numbered,
  rejectInvalid,
  user,
  type MemoryLaws,
} from './samples.js';

/** Laws of reading and writing a conversation. */
export const LOG_LAWS: MemoryLaws = {
  'reads an unknown conversation as empty': async (repository, id) => {
    assert.deepEqual(await repository.read(id), logOf(0));
  },

  'returns appended messages in order, with versions and turn ids': async (repository, id) => {
    const turnId = 'turn "1"\n';
    assert.equal(await repository.append(id, [user('a'), user('b')], { turnId }), 2);
    assert.equal(await repository.append(id, [user('c')]), 3);
    assert.equal(await repository.append(id, []), 3);
    const expected = logOf(3, [1, 'a', turnId], [2, 'b', turnId], [3, 'c']);
    assert.deepEqual(await repository.read(id), expected);
    const empty = newId('empty');
    assert.equal(await repository.append(empty, []), 0);
    const ids = await repository.conversationIds({ prefix: empty });
    assert.deepEqual(ids, [], 'an empty append created the conversation');
  },

  'returns every kind of message with every field': async (repository, id) => {
    await repository.append(id, everyKindOfMessage());
    const { messages, systemMessages } = await repository.read(id);
    for (const [at, message] of everyKindOfMessage().entries()) {
      const read = messages[at]?.message;
      assert.deepEqual(read, message, `message ${at} changed`);
      const [text, expected] = [JSON.stringify(read), JSON.stringify(message)];
      assert.equal(text, expected, `the fields of message ${at} changed their order`);
    }
    assert.deepEqual(systemMessages, everyKindOfMessage().slice(0, 1));
  },

  'reads the newest messages, and pages backwards': async (repository, id) => {
    await repository.append(id, numbered(1, 10));
    for (const [options, contents] of [
      [{ limit: 3 }, ['8', '9', '10']],
      [{ limit: 0 }, []],
      [{ limit: 3, beforeVersion: 8 }, ['5', '6', '7']],
      [{ limit: 3, beforeVersion: 2 }, ['1']],
      [{ beforeVersion: 1 }, []],
      [{ beforeVersion: 0 }, []],
      [{ beforeVersion: 100, limit: 1 }, ['10']],
    ] as const)
      assert.deepEqual(await contentsOf(repository, id, options), contents);
    assert.equal((await repository.read(id, { limit: 0 })).version, 10);
    const page = await repository.read(id, { limit: 2, beforeVersion: 5 });
    assert.deepEqual(page, logOf(10, [3, '3'], [4, '4']));
    for (const options of [{ limit: -1 }, { limit: 1.5 }, { beforeVersion: Number.NaN }])
      await rejectInvalid(() => repository.read(id, options));
  },

  'appends only at the expected version': async (repository, id) => {
    await rejectsConflict(repository.append(id, [user('a')], { expectedVersion: 1 }), id, 1, 0);
    assert.equal(await repository.append(id, [user('a')], { expectedVersion: 0 }), 1);
    await rejectsConflict(repository.append(id, [user('b')], { expectedVersion: 0 }), id, 0, 1);
    await rejectsConflict(repository.append(id, [], { expectedVersion: 0 }), id, 0, 1);
    assert.equal(await repository.append(id, [user('b'), user('c')], { expectedVersion: 1 }), 3);
    assert.deepEqual(await contentsOf(repository, id), ['a', 'b', 'c']);
  },

  'replaces a log and continues its versions': async (repository, id) => {
    await repository.append(id, numbered(1, 5));
    const options = { expectedVersion: 5, turnId: 't' };
    assert.equal(await repository.replace(id, numbered(6, 7), options), 7);
    assert.equal(await repository.append(id, numbered(8, 8)), 8);
    const expected = logOf(8, [6, '6', 't'], [7, '7', 't'], [8, '8']);
    assert.deepEqual(await repository.read(id), expected);
    assert.deepEqual(await contentsOf(repository, id, { beforeVersion: 8, limit: 1 }), ['7']);
    assert.equal(await repository.replace(id, [], { expectedVersion: 8 }), 9);
    assert.deepEqual(await repository.read(id), logOf(9));
    assert.equal(await repository.append(id, numbered(10, 10), { expectedVersion: 9 }), 10);
    assert.deepEqual(await contentsOf(repository, id), ['10']);
  },

  'replaces only the expected version': async (repository, id) => {
    await rejectsConflict(repository.replace(id, numbered(1, 1), { expectedVersion: 4 }), id, 4, 0);
    await repository.append(id, numbered(1, 3));
    await rejectsConflict(repository.replace(id, [], { expectedVersion: 2 }), id, 2, 3);
    assert.deepEqual(await contentsOf(repository, id), ['1', '2', '3']);
    await rejectInvalid(() => repository.replace(id, [], undefined as never));
  },

  'keeps the system messages of the last write that had any': async (repository, id) => {
    const system = (text: string): Message => ({ role: 'system', content: text });
    await repository.append(id, [system('a'), user('x'), system('b')]);
    await repository.append(id, numbered(1, 30));
    const { systemMessages: first } = await repository.read(id, { limit: 1 });
    assert.deepEqual(first, [system('a'), system('b')]);
    const version = await repository.append(id, [user('y'), system('c')]);
    assert.deepEqual((await repository.read(id, { limit: 0 })).systemMessages, [system('c')]);
    await repository.replace(id, [user('z')], { expectedVersion: version });
    assert.deepEqual((await repository.read(id)).systemMessages, []);
  },

  'keeps concurrent writes complete and unmixed': async (repository, id) => {
    const writers = Array.from({ length: 25 }, (_, at) => at);
    const versions = await Promise.all(
      writers.map((at) => repository.append(id, numbered(1, 4), { turnId: `${at}` })),
    );
    const { messages, version } = await repository.read(id);
    assert.equal(version, 100);
    assert.equal(new Set(versions).size, 25, 'two writes have the same version');
    for (const at of writers) {
      const write = messages.filter(({ turnId }) => turnId === `${at}`);
      const end = versions[at] ?? 0;
      const expected = ['1', '2', '3', '4'].map((text, index): [number, string, string] => {
        return [end - 3 + index, text, `${at}`];
      });
      assert.deepEqual(write, logOf(100, ...expected).messages, 'two writes were mixed');
    }
  },

  'lets one of several concurrent writers with the same expected version win': async (
    repository,
    id,
  ) => {
    for (let round = 0; round < 5; round++) {
      const writes = Array.from({ length: 8 }, (_, at) =>
        repository.append(id, [user(`${round}.${at}`)], { expectedVersion: round }),
      );
      const outcomes = await Promise.allSettled(writes);
      const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
      assert.equal(failed.length, 7);
      for (const { reason } of failed)
        assert.ok(reason instanceof MemoryConflictError, String(reason));
    }
    assert.equal((await contentsOf(repository, id)).length, 5);
  },

  'rejects values that would not come back unchanged, and writes nothing of them': async (
    repository,
    id,
  ) => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const ownProto = JSON.parse('{"__proto__":1}') as unknown;
    const values = [1n, () => 1, Symbol('s'), new Date(0), new Map(), NaN, -0, cyclic, ownProto];
    const messages = [
      ...values.map((value): Message => ({ ...user('b'), metadata: { value } })),
      { role: 'robot' } as unknown as Message,
      { ...user('b'), metadata: null as never },
    ];
    for (const message of messages)
      await rejectInvalid(() => repository.append(id, [user('a'), message]));
    for (const list of [null, undefined, 'a', { length: 1 }, [null]] as never[])
      await rejectInvalid(
        () => repository.append(id, list),
        () => repository.replace(id, list, { expectedVersion: 0 }),
      );
    await rejectInvalid(() => repository.append(id, [user('a')], null as never));
    for (const text of ['a\0', '\ud800', 'x'.repeat(513), 1 as unknown as string])
      await rejectInvalid(
        () => repository.append(id, [user('a')], { turnId: text }),
        () => repository.replace(id, [user('a')], { expectedVersion: 0, turnId: text }),
        () => repository.conversationIds({ prefix: text }),
        () => repository.conversationIds({ after: text }),
      );
    assert.equal((await repository.read(id)).version, 0);
  },

  'keeps no reference to the objects of a write or a read': async (repository, id) => {
    const message = { role: 'user' as const, content: 'original', metadata: { list: [1] } };
    const writing = repository.append(id, [message]);
    message.content = 'changed';
    message.metadata.list.push(2);
    await writing;
    const read = (await repository.read(id)).messages[0]?.message as typeof message;
    assert.deepEqual(read, { role: 'user', content: 'original', metadata: { list: [1] } });
    read.content = 'changed';
    assert.deepEqual(await contentsOf(repository, id), ['original']);
  },
};

async function rejectsConflict(
  write: Promise<number>,
  conversationId: string,
  expectedVersion: number,
  version: number,
): Promise<void> {
  const name = 'MemoryConflictError';
  await assert.rejects(write, { name, conversationId, expectedVersion, version });
}
