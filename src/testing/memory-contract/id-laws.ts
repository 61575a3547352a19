import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  contentsOf,
  INVALID_IDS,
  logOf,
  newId,
  numbered,
  rejectInvalid,
  UNUSUAL_IDS,
  user,
  type MemoryLaws,
} from './samples.js';

/** Laws of conversation ids. */
export const ID_LAWS: MemoryLaws = {
  'deletes a conversation and no other': async (repository) => {
    const prefix = newId('');
    const [one, other] = [`${prefix}1`, `${prefix}2`];
    await repository.append(one, numbered(1, 3));
    await repository.append(other, numbered(4, 5));
    await repository.delete(one);
    await repository.delete(one);
    assert.deepEqual(await repository.read(one), logOf(0));
    assert.deepEqual(await repository.conversationIds({ prefix }), [other]);
    assert.deepEqual(await contentsOf(repository, other), ['4', '5']);
    assert.equal(await repository.append(one, numbered(1, 1), { expectedVersion: 0 }), 1);
  },

  'lists ids by page and literal prefix, in the order of their bytes': async (repository) => {
    const prefix = newId('%_*');
    const numbers = Array.from({ length: 230 }, (_, at) => `n${at}`);
    const letters = ['é', '\uffff', '😀', '\u{10FFFF}', '*', 'Z', 'a'];
    const ids = [...numbers, ...letters].map((name) => prefix + name);
    await repository.append(prefix.replace('%_*', 'abc'), numbered(1, 1));
    for (const id of ids) await repository.append(id, numbered(1, 1));
    const inBytes = ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const listed = async (limit?: number, name = ''): Promise<readonly string[]> =>
      repository.conversationIds({ prefix: prefix + name, limit });
    assert.deepEqual(await listed(1_000), inBytes);
    assert.deepEqual(await listed(), inBytes.slice(0, 100));
    const seen: string[] = [];
    for (let page = await listed(90); page.length > 0;) {
      seen.push(...page);
      page = await repository.conversationIds({ prefix, limit: 90, after: page.at(-1) });
    }
    assert.deepEqual(seen, inBytes);
    const twenties = inBytes.filter((id) => id.startsWith(`${prefix}n22`));
    assert.deepEqual(await listed(1_000, 'n22'), twenties);
    assert.deepEqual(await listed(100, '\u{10FFFF}'), [`${prefix}\u{10FFFF}`]);
  },

  'treats every id as data, so that no conversation reads another': async (repository) => {
    const suffix = ` ${randomUUID()}`;
    const ids = UNUSUAL_IDS.map((id) => id + suffix);
    for (const id of ids) await repository.append(id, [user(`canary of ${id}`)]);
    for (const id of ids) assert.deepEqual(await contentsOf(repository, id), [`canary of ${id}`]);
    for (const id of ids) {
      assert.deepEqual((await repository.conversationIds({ prefix: id })).slice(0, 1), [id]);
      await repository.delete(id);
      assert.deepEqual(await contentsOf(repository, id), []);
    }
  },

  'rejects invalid ids': async (repository) => {
    for (const id of INVALID_IDS as readonly string[])
      await rejectInvalid(
        () => repository.append(id, numbered(1, 1)),
        () => repository.read(id),
        () => repository.replace(id, [], { expectedVersion: 0 }),
        () => repository.delete(id),
      );
  },
};
