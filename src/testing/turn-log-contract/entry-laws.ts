import assert from 'node:assert/strict';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { append, begin, entriesOf, type TurnLogLaws } from './log-under-test.js';

const UNUSUAL = [
  ['with space ', 'new\nline', '"; DROP TABLE turn_log; --', "') OR ('1'='1", '%', '_', '$1', '\\'],
  ['a:{b}', '{}', '*', '?', '[a-z]*', '../x', '__proto__', 'constructor', 'null', 'NULL', '0', ','],
  ['\u202eright', 'é', 'e\u0301', '😀', '\u{10FFFF}', '\uffff', '\u0001'],
].flat();

export const ENTRY_LAWS: TurnLogLaws = {
  'reads what was appended, in order, also by another connection': async (log, key, other) => {
    const { generation } = await begin(log, key);
    assert.deepEqual(await entriesOf(other, key), []);
    await append(log, key, { generation, after: 0, entries: ['a', 'b'] });
    await append(other, key, { generation, after: 2, entries: ['c'] });
    for (const each of [log, other]) assert.deepEqual(await entriesOf(each, key), ['a', 'b', 'c']);
    const page = await other.read(key, { after: 1, limit: 1 });
    assert.deepEqual(page, { generation, entries: ['b'], turnId: undefined, silence: 0 });
    assert.deepEqual((await log.read(key, { after: 3, limit: 5 }))?.entries, []);
    assert.equal(
      await log.read(key, { generation: generation - 1, after: 0, limit: 1 }),
      undefined,
    );
  },

  'appends entries once, also if they are sent again': async (log, key, other) => {
    const { generation } = await begin(log, key);
    const batch = { generation, after: 0, entries: ['a', 'b'] };
    for (const each of [log, other, log]) await append(each, key, batch);
    // with entries that the first attempt did not have
    await append(other, key, { ...batch, entries: ['a', 'b', 'c'] });
    await append(log, key, { generation, after: 1, entries: ['b', 'c', 'd'], end: 'complete' });
    assert.ok(await append(other, key, { generation, after: 1, entries: ['b', 'c', 'd'], end: 'complete' })); // prettier-ignore
    assert.equal(await append(log, key, { generation, after: 4, entries: ['e'] }), undefined);
    assert.deepEqual(await entriesOf(other, key), ['a', 'b', 'c', 'd']);
  },

  'refuses entries after a gap, of another writer and of another run': async (log, key) => {
    const { generation } = await begin(log, key);
    const batch = { generation, after: 0, entries: ['a'] };
    for (const wrong of [{ after: 1 }, { writer: 'b' }, { generation: generation + 1 }])
      assert.equal(await append(log, key, { ...batch, ...wrong }), undefined);
    assert.deepEqual(await entriesOf(log, key), []);
  },

  'appends each of many concurrent batches once': async (log, key, other) => {
    const { generation } = await begin(log, key);
    const entries = Array.from({ length: 40 }, (_, at) => `${at}`);
    const send = (end: number): unknown =>
      append(end % 2 ? log : other, key, { generation, after: 0, entries: entries.slice(0, end) });
    await Promise.all(entries.map((_, at) => send(((at * 7) % 40) + 1)));
    assert.deepEqual(await entriesOf(log, key), entries);
  },

  'keeps entries of any characters, the empty one, and large ones': async (log, key, other) => {
    const { generation } = await begin(log, key);
    const entries = ['', ' ', ...UNUSUAL, 'x😀"\\\n'.repeat(200_000)];
    await append(log, key, { generation, after: 0, entries });
    assert.deepEqual(await entriesOf(other, key), entries);
  },

  'keeps keys of any characters apart': async (log, key, other) => {
    const keys = [...UNUSUAL, '日'.repeat(700)].map((text) => `${key} ${text}`);
    const unique = [...new Set([...keys, ...keys.map((text) => text.toUpperCase())])];
    await Promise.all(
      unique.map(async (each) => {
        const { generation } = await begin(log, each);
        await append(log, each, { generation, after: 0, entries: [`entry of ${each}`] });
      }),
    );
    for (const each of unique) assert.deepEqual(await entriesOf(other, each), [`entry of ${each}`]);
  },

  'rejects entries that some databases cannot store': async (log, key) => {
    const { generation } = await begin(log, key);
    const batch = { generation, after: 0, entries: ['a'] };
    const large = 'x'.repeat(4_000_001);
    for (const bad of ['a\0', '\udfff', large, 7, null, undefined, {}] as never[])
      await assert.rejects(() => append(log, key, { ...batch, entries: ['a', bad] }), InvalidArgumentError); // prettier-ignore
    for (const bad of [{ after: -1 }, { after: 0.5 }, { end: 'x' }, { entries: 'a' }] as never[])
      await assert.rejects(() => append(log, key, { ...batch, ...(bad as object) }), InvalidArgumentError); // prettier-ignore
    for (const bad of [{ after: -1 }, { limit: 0 }, { generation: 0 }, { generation: 1.5 }])
      await assert.rejects(() => log.read(key, { after: 0, limit: 1, ...bad }), InvalidArgumentError); // prettier-ignore
    assert.deepEqual(await entriesOf(log, key), []);
  },
};
