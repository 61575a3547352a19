import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { InvalidArgumentError } from '../errors.js';
import type { ChatMemoryRepository } from '../memory/chat-memory-repository.js';
import { BAD_IDS, STRANGE_IDS } from './memory-messages.js';
import { contents, fresh, texts, user } from './memory-samples.js';

export async function deletes(repository: ChatMemoryRepository): Promise<void> {
  const prefix = fresh('');
  const [one, other] = [`${prefix}1`, `${prefix}2`];
  await repository.append(one, texts(1, 3));
  await repository.append(other, texts(4, 5));
  await repository.delete(one);
  await repository.delete(one);
  assert.deepEqual(await repository.read(one), { version: 0, messages: [], systemMessages: [] });
  assert.deepEqual(await repository.conversationIds({ prefix }), [other]);
  assert.deepEqual(await contents(repository, other), ['4', '5']);
  assert.equal(await repository.append(one, texts(1, 1), { expectedVersion: 0 }), 1);
}

export async function listsIds(repository: ChatMemoryRepository): Promise<void> {
  const prefix = fresh('%_*');
  const names = [...Array.from({ length: 230 }, (_, at) => `n${at}`), 'é', '\uffff', '😀', '\u{10FFFF}', '*', 'Z', 'a'];
  const ids = names.map((name) => prefix + name);
  await repository.append(prefix.replace('%_*', 'abc'), texts(1, 1));
  for (const id of ids) await repository.append(id, texts(1, 1));
  const inBytes = ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  assert.deepEqual(await repository.conversationIds({ prefix, limit: 1_000 }), inBytes);
  assert.deepEqual(await repository.conversationIds({ prefix }), inBytes.slice(0, 100));
  const seen: string[] = [];
  for (let page = await repository.conversationIds({ prefix, limit: 90 }); page.length > 0;) {
    seen.push(...page);
    page = await repository.conversationIds({ prefix, limit: 90, after: page.at(-1) });
  }
  assert.deepEqual(seen, inBytes);
  assert.deepEqual(await repository.conversationIds({ prefix: `${prefix}n22`, limit: 1_000 }), [
    `${prefix}n22`,
    ...Array.from({ length: 10 }, (_, at) => `${prefix}n22${at}`),
  ]);
  assert.deepEqual(await repository.conversationIds({ prefix: `${prefix}\u{10FFFF}` }), [`${prefix}\u{10FFFF}`]);
}

export async function separatesIds(repository: ChatMemoryRepository): Promise<void> {
  const suffix = ` ${randomUUID()}`;
  const ids = STRANGE_IDS.map((id) => id + suffix);
  for (const id of ids) await repository.append(id, [user(`canary of ${id}`)]);
  for (const id of ids) assert.deepEqual(await contents(repository, id), [`canary of ${id}`]);
  for (const id of ids) {
    assert.deepEqual((await repository.conversationIds({ prefix: id })).slice(0, 1), [id]);
    await repository.delete(id);
    assert.deepEqual(await contents(repository, id), []);
  }
}

export async function refusesIds(repository: ChatMemoryRepository): Promise<void> {
  for (const id of BAD_IDS as readonly string[]) {
    await assert.rejects(repository.append(id, texts(1, 1)), InvalidArgumentError);
    await assert.rejects(repository.read(id), InvalidArgumentError);
    await assert.rejects(repository.replace(id, [], { expectedVersion: 0 }), InvalidArgumentError);
    await assert.rejects(repository.delete(id), InvalidArgumentError);
  }
}
