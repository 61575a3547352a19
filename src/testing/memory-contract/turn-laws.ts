import assert from 'node:assert/strict';
import { MemoryConflictError } from '../../core/errors/errors.js';
import type { ChatMemoryRepository } from '../../stores/chat-memory/chat-memory-repository.js';
import {
  contentsOf,
  logOf,
  newId,
  numbered,
  rejectInvalid,
  user,
  type MemoryLaws,
} from './samples.js';

/** Laws of a turn that is attempted several times: its writes take the place of earlier ones. */
export const TURN_LAWS: MemoryLaws = {
  'replaces the messages of a turn in one write, and no others': async (repository, id) => {
    await repository.append(id, numbered(1, 2), { turnId: 'other' });
    await repository.append(id, numbered(3, 4), { turnId: 'turn' });
    await repository.append(id, numbered(5, 5));
    await repository.append(id, numbered(6, 6), { turnId: 'turn' });
    const all = { turnId: 'turn', supersedesAfter: 0 };
    assert.equal(await repository.append(id, numbered(7, 8), all), 8);
    const expected = logOf(
      8,
      [1, '1', 'other'],
      [2, '2', 'other'],
      [5, '5'],
      [7, '7', 'turn'],
      [8, '8', 'turn'],
    );
    assert.deepEqual(await repository.read(id), expected);
    const other = newId('other');
    assert.equal(await repository.append(other, numbered(1, 1), all), 1);
    assert.deepEqual(await contentsOf(repository, other), ['1']);
  },

  'replaces the messages of a turn from a place on': async (repository, id) => {
    const turnId = 'turn';
    await repository.append(id, numbered(1, 2), { turnId, supersedesAfter: 0 });
    await repository.append(id, numbered(3, 4), { turnId, supersedesAfter: 2 });
    await repository.append(id, numbered(5, 5));
    assert.equal(await repository.append(id, numbered(6, 6), { turnId, supersedesAfter: 2 }), 6);
    assert.deepEqual(await contentsOf(repository, id), ['1', '2', '5', '6']);
    for (const supersedesAfter of [3, 5, 7]) await rejectsPlace(repository, id, supersedesAfter);
    assert.deepEqual(await contentsOf(repository, id), ['1', '2', '5', '6']);
    await rejectsPlace(repository, newId('missing'), 1);
  },

  'pages over what was replaced': async (repository, id) => {
    const turnId = 'turn';
    await repository.append(id, numbered(1, 2));
    await repository.append(id, numbered(3, 7), { turnId });
    await repository.append(id, numbered(8, 9));
    await repository.append(id, numbered(10, 10), { turnId, supersedesAfter: 0 });
    for (const [options, contents] of [
      [{ limit: 3 }, ['8', '9', '10']],
      [{ limit: 2, beforeVersion: 8 }, ['1', '2']],
      [{ limit: 1, beforeVersion: 6 }, ['2']],
      [{ limit: 4, beforeVersion: 10 }, ['1', '2', '8', '9']],
      [{ beforeVersion: 8 }, ['1', '2']],
    ] as const)
      assert.deepEqual(await contentsOf(repository, id, options), contents);
  },

  'changes nothing of a turn that has ended': async (repository, id) => {
    const [turnId, supersedesAfter] = ['turn', 0];
    await repository.append(id, numbered(1, 1), { turnId, supersedesAfter });
    const end = { turnId, writeId: turnId, supersedesAfter };
    assert.equal(await repository.append(id, numbered(2, 3), end), 3);
    assert.equal(await repository.append(id, numbered(4, 4)), 4);
    assert.equal(await repository.append(id, numbered(5, 5), { turnId, supersedesAfter }), 3);
    assert.equal(await repository.append(id, numbered(6, 6), end), 3);
    const gone = { turnId, supersedesAfter: 1, expectedVersion: 1 };
    assert.equal(await repository.append(id, numbered(7, 7), gone), 3);
    assert.deepEqual(await contentsOf(repository, id), ['2', '3', '4']);
  },

  'stores a write that supersedes once, also if it is repeated after others': async (
    repository,
    id,
  ) => {
    const turnId = 'turn';
    const write = { turnId, writeId: 'first', supersedesAfter: 0 };
    assert.equal(await repository.append(id, numbered(1, 2), write), 2);
    assert.equal(await repository.append(id, numbered(1, 2), write), 2);
    await repository.append(id, numbered(3, 3), { turnId, supersedesAfter: 2 });
    assert.equal(await repository.append(id, numbered(1, 2), write), 2);
    assert.deepEqual(await contentsOf(repository, id), ['1', '2', '3']);
    await repository.append(id, numbered(4, 4), { turnId, supersedesAfter: 0 });
    assert.equal(await repository.append(id, numbered(1, 2), write), 2);
    assert.deepEqual(await contentsOf(repository, id), ['4']);
  },

  'expects a version without the messages of the turn': async (repository, id) => {
    const turnId = 'turn';
    await repository.append(id, numbered(1, 1));
    await repository.append(id, numbered(2, 3), { turnId });
    const write = { turnId, supersedesAfter: 0, expectedVersion: 1 };
    assert.equal(await repository.append(id, numbered(4, 4), write), 4);
    await repository.append(id, numbered(5, 5));
    await rejectsVersion(repository.append(id, numbered(6, 6), write), id, 1, 5);
    await rejectsVersion(
      repository.append(id, [user('a')], { turnId, expectedVersion: 1 }),
      id,
      1,
      5,
    );
    const later = { ...write, expectedVersion: 6 };
    await rejectsVersion(repository.append(id, numbered(6, 6), later), id, 6, 5);
    assert.deepEqual(await contentsOf(repository, id), ['1', '4', '5']);
  },

  'has one of several attempts of a turn that are written concurrently': async (repository, id) => {
    const attempts = Array.from({ length: 12 }, (_, at) => at);
    await repository.append(id, [user('before')]);
    await Promise.all(
      attempts.flatMap((at) => [
        repository.append(id, numbered(at * 10, at * 10 + 2), {
          turnId: 'turn',
          supersedesAfter: 0,
        }),
        repository.append(id, [user(`other ${at}`)], { turnId: `${at}`, supersedesAfter: 0 }),
      ]),
    );
    const { messages, version } = await repository.read(id);
    assert.equal(version, 49);
    assert.equal(messages.filter(({ turnId }) => turnId !== 'turn').length, 13);
    const left = messages.filter(({ turnId }) => turnId === 'turn');
    const first = left[0]?.message;
    const number = first?.role === 'user' ? Number(first.content) : -1;
    assert.deepEqual(
      left.map(({ message }) => message),
      numbered(number, number + 2),
    );
  },

  'has the end of a turn that is written concurrently with its attempts': async (
    repository,
    id,
  ) => {
    for (let round = 0; round < 5; round++) {
      const turnId = `turn ${round}`;
      const writes = Array.from({ length: 8 }, (_, at) =>
        at === round
          ? repository.append(id, [user('end')], { turnId, writeId: turnId, supersedesAfter: 0 })
          : repository.append(id, [user('partial')], { turnId, supersedesAfter: 0 }),
      );
      await Promise.all(writes);
    }
    assert.deepEqual(await contentsOf(repository, id), Array<string>(5).fill('end'));
  },

  'keeps the turns of the messages that replace a log': async (repository, id) => {
    await repository.append(id, numbered(1, 4), { turnId: 'turn' });
    const turnIds = [undefined, 'a', 'turn'];
    await repository.replace(id, numbered(5, 7), { expectedVersion: 4, turnIds });
    assert.deepEqual(
      await repository.read(id),
      logOf(7, [5, '5'], [6, '6', 'a'], [7, '7', 'turn']),
    );
    await repository.append(id, numbered(8, 8), { turnId: 'turn', supersedesAfter: 0 });
    assert.deepEqual(await contentsOf(repository, id), ['5', '6', '8']);
    await rejectsPlace(repository, id, 4);
  },

  'forgets the turns of a deleted conversation': async (repository, id) => {
    const end = { turnId: 'turn', writeId: 'turn', supersedesAfter: 0 };
    await repository.append(id, numbered(1, 1), end);
    await repository.delete(id);
    assert.equal(await repository.append(id, numbered(2, 2), end), 1);
    assert.deepEqual(await contentsOf(repository, id), ['2']);
  },

  'rejects invalid places and turns': async (repository, id) => {
    const one = numbered(1, 1);
    await rejectInvalid(
      () => repository.append(id, one, { supersedesAfter: 0 }),
      () => repository.append(id, one, { turnId: 'turn', supersedesAfter: -1 }),
      () => repository.append(id, one, { turnId: 'turn', supersedesAfter: 0.5 }),
      () => repository.replace(id, one, { expectedVersion: 0, turnIds: [] }),
      () => repository.replace(id, one, { expectedVersion: 0, turnIds: [' '] }),
    );
    assert.equal((await repository.read(id)).version, 0);
  },
};

async function rejectsPlace(
  repository: ChatMemoryRepository,
  id: string,
  supersedesAfter: number,
): Promise<void> {
  const write = repository.append(id, [user('lost')], { turnId: 'turn', supersedesAfter });
  await assert.rejects(write, MemoryConflictError);
}

async function rejectsVersion(
  write: Promise<number>,
  conversationId: string,
  expectedVersion: number,
  version: number,
): Promise<void> {
  const name = 'MemoryConflictError';
  await assert.rejects(write, { name, conversationId, expectedVersion, version });
}
