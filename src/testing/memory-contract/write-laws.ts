import assert from 'node:assert/strict';
import { contentsOf, newId, numbered, rejectInvalid, user, type MemoryLaws } from './samples.js';

/** Laws of the ids of writes: a write that is repeated is stored once. */
export const WRITE_LAWS: MemoryLaws = {
  'stores a write once, also if it is repeated after others': async (repository, id) => {
    const write = { turnId: 'turn', writeId: 'write "1"\n' };
    assert.equal(await repository.append(id, numbered(1, 2), write), 2);
    assert.equal(await repository.append(id, numbered(1, 2), write), 2);
    assert.equal(await repository.append(id, numbered(3, 3), { writeId: 'write 2' }), 3);
    assert.equal(await repository.append(id, numbered(1, 2), write), 2);
    assert.equal(await repository.append(id, numbered(3, 3), { writeId: 'write 2' }), 3);
    const { messages, version } = await repository.read(id);
    assert.equal(version, 3);
    const turnIds = messages.map(({ turnId }) => turnId);
    assert.deepEqual(turnIds, ['turn', 'turn', undefined]);
    assert.deepEqual(await contentsOf(repository, id), ['1', '2', '3']);
  },

  'stores a write once that is repeated concurrently': async (repository, id) => {
    for (let round = 1; round <= 5; round++) {
      // the first write creates the conversation
      const [expectedVersion, writeId] = [round % 2 ? (round - 1) * 2 : undefined, `${round}`];
      const writes = Array.from({ length: 8 }, () =>
        repository.append(id, numbered(1, 2), { writeId, expectedVersion }),
      );
      assert.deepEqual(new Set(await Promise.all(writes)), new Set([round * 2]));
    }
    const contents = Array.from({ length: 5 }, () => ['1', '2']).flat();
    assert.deepEqual(await contentsOf(repository, id), contents);
  },

  'stores equal messages of several writes, with and without ids': async (repository, id) => {
    const turnId = 'turn';
    for (const writeId of ['a', 'A', 'a ', undefined, undefined])
      await repository.append(id, [user('again')], { turnId, writeId });
    assert.deepEqual(await contentsOf(repository, id), Array<string>(5).fill('again'));
  },

  'knows the ids of a conversation only': async (repository, id) => {
    const other = newId('other');
    for (const conversationId of [id, other])
      assert.equal(await repository.append(conversationId, [user('a')], { writeId: 'w' }), 1);
    assert.deepEqual(await contentsOf(repository, other), ['a']);
  },

  'accepts a repeated write whatever version it expected': async (repository, id) => {
    const write = { writeId: 'w', expectedVersion: 0 };
    assert.equal(await repository.append(id, [user('a')], write), 1);
    await repository.append(id, [user('b')]);
    assert.equal(await repository.append(id, [user('a')], write), 1);
    assert.deepEqual(await contentsOf(repository, id), ['a', 'b']);
  },

  'replaces once, and knows the writes before': async (repository, id) => {
    await repository.append(id, numbered(1, 3), { writeId: 'before' });
    const write = { writeId: 'replaced', expectedVersion: 3 };
    assert.equal(await repository.replace(id, numbered(4, 4), write), 4);
    assert.equal(await repository.append(id, numbered(5, 5)), 5);
    assert.equal(await repository.replace(id, numbered(4, 4), write), 4);
    assert.equal(await repository.append(id, numbered(1, 3), { writeId: 'before' }), 3);
    assert.deepEqual(await contentsOf(repository, id), ['4', '5']);
  },

  'forgets the ids of a deleted conversation': async (repository, id) => {
    await repository.append(id, [user('a')], { writeId: 'w' });
    await repository.delete(id);
    assert.equal(await repository.append(id, [user('b')], { writeId: 'w' }), 1);
    assert.deepEqual(await contentsOf(repository, id), ['b']);
  },

  'rejects invalid ids of writes': async (repository, id) => {
    for (const writeId of ['', ' ', 'a\0', '\ud800', 'x'.repeat(513), 1 as unknown as string])
      await rejectInvalid(
        () => repository.append(id, [user('a')], { writeId }),
        () => repository.replace(id, [user('a')], { expectedVersion: 0, writeId }),
      );
  },
};
