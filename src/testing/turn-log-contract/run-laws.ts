import assert from 'node:assert/strict';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import {
  append,
  begin,
  entriesOf,
  SHORT,
  TIMES,
  untilSilent,
  type TurnLogLaws,
} from './log-under-test.js';

export const RUN_LAWS: TurnLogLaws = {
  'has no run before one begins': async (log, key, other) => {
    assert.equal(await log.read(key, { after: 0, limit: 10 }), undefined);
    assert.equal(await other.stop(key, 1), false);
    assert.equal(await append(log, key, { generation: 1, after: 0, entries: ['a'] }), undefined);
  },

  'begins one run at a time': async (log, key, other) => {
    const first = await begin(log, key);
    assert.deepEqual([first.state, first.length], ['begun', 0]);
    assert.deepEqual(await begin(other, key, { writer: 'b' }), { ...first, state: 'running' });
    await append(log, key, { generation: first.generation, after: 0, entries: ['x'], end: 'complete' }); // prettier-ignore
    const second = await begin(other, key, { writer: 'b' });
    assert.deepEqual([second.state, second.length], ['begun', 0]);
    assert.ok(second.generation > first.generation, 'the generation grows');
  },

  'lets one of many win that begin at the same time': async (log, key, other) => {
    const attempts = Array.from({ length: 16 }, (_, at) =>
      begin(at % 2 ? log : other, key, { writer: `writer ${at}` }),
    );
    const states = (await Promise.all(attempts)).map(({ state }) => state);
    assert.equal(states.filter((state) => state === 'begun').length, 1);
  },

  'begins once if the same writer repeats it': async (log, key, other) => {
    const first = await begin(log, key);
    await append(log, key, { generation: first.generation, after: 0, entries: ['a'] });
    assert.deepEqual(await begin(other, key), { ...first, length: 1 });
  },

  'gives a run whose writer has died to no other turn': async (log, key, other) => {
    const first = await begin(log, key, { lease: SHORT, turnId: 'turn 1' });
    await append(log, key, {
      generation: first.generation,
      after: 0,
      entries: ['a'],
      lease: SHORT,
    });
    await untilSilent(other, key);
    const second = await begin(other, key, { writer: 'b', turnId: 'turn 2' });
    assert.ok(second.generation > first.generation);
    assert.equal(second.length, 0);
  },

  'lets a writer of the same durable turn continue, and then no other': async (log, key, other) => {
    const first = await begin(log, key, { lease: SHORT, turnId: 'turn' });
    const { generation } = first;
    await append(log, key, { generation, after: 0, entries: ['a', 'b'], lease: SHORT });
    await untilSilent(other, key);
    assert.deepEqual(await begin(other, key, { writer: 'b', turnId: 'turn' }), { ...first, length: 2 }); // prettier-ignore
    // the dead writer lives: it has lost the log
    assert.equal(await append(log, key, { generation, after: 2, entries: ['x'] }), undefined);
    await append(other, key, { generation, writer: 'b', after: 2, entries: ['c'], end: 'complete' }); // prettier-ignore
    assert.deepEqual(await entriesOf(log, key), ['a', 'b', 'c']);
    const again = await begin(log, key, { writer: 'c', turnId: 'turn' });
    assert.deepEqual(again, { state: 'complete', generation, length: 3 });
    assert.equal((await begin(log, key, { writer: 'd' })).state, 'begun');
  },

  'keeps the log of a writer whose lease is over, until another begins': async (log, key) => {
    const { generation } = await begin(log, key, { lease: SHORT });
    await untilSilent(log, key);
    assert.deepEqual(await append(log, key, { generation, after: 0, entries: ['a'] }), { isStopped: false }); // prettier-ignore
    assert.equal((await log.read(key, { after: 0, limit: 1 }))?.silence, 0);
  },

  'begins another run after a durable turn that has failed': async (log, key) => {
    const { generation } = await begin(log, key, { turnId: 'turn' });
    await append(log, key, { generation, after: 0, entries: ['a'], end: 'failed' });
    const next = await begin(log, key, { writer: 'b', turnId: 'turn' });
    assert.ok(next.state === 'begun' && next.generation > generation);
  },

  'asks the writer to stop, also before it continues a turn': async (log, key, other) => {
    const { generation } = await begin(log, key, { lease: SHORT, turnId: 'turn' });
    assert.equal(await other.stop(key, generation + 1), false);
    assert.equal(await other.stop(key, generation), true);
    const batch = { generation, after: 0, entries: [] };
    assert.deepEqual(await append(log, key, { ...batch, lease: SHORT }), { isStopped: true });
    await untilSilent(log, key);
    await begin(other, key, { writer: 'b', turnId: 'turn' });
    assert.deepEqual(await append(other, key, { ...batch, writer: 'b', end: 'failed' }), { isStopped: true }); // prettier-ignore
    assert.equal(await log.stop(key, generation), false);
    const next = await begin(log, key);
    assert.deepEqual(await append(log, key, { ...batch, generation: next.generation }), { isStopped: false }); // prettier-ignore
  },

  'keeps the run before the latest one for slow readers, and no other': async (log, key, other) => {
    const generations: number[] = [];
    for (const name of ['a', 'b', 'c']) {
      const { generation } = await begin(log, key);
      await append(log, key, { generation, after: 0, entries: [name, 'end'], end: 'complete' });
      generations.push(generation);
    }
    const [first, second, third] = generations as [number, number, number];
    assert.equal(await entriesOf(other, key, first), undefined);
    assert.deepEqual(await entriesOf(other, key, second), ['b', 'end']);
    assert.deepEqual(await entriesOf(other, key, third), ['c', 'end']);
    const page = await other.read(key, { generation: second, after: 2, limit: 1 });
    assert.deepEqual([page?.entries, page?.silence], [[], Infinity]);
    assert.equal(await other.stop(key, second), false);
  },

  'forgets a log after its time, and gives its generation to no other run': async (log, key) => {
    const { generation } = await begin(log, key);
    await append(log, key, { generation, after: 0, entries: ['a'], end: 'complete', ttl: SHORT });
    while ((await log.read(key, { after: 0, limit: 1 })) !== undefined)
      await new Promise((resolve) => setTimeout(resolve, 2));
    const next = await begin(log, key);
    assert.ok(next.generation > generation);
    assert.equal(await entriesOf(log, key, generation), undefined);
    assert.deepEqual(await entriesOf(log, key), []);
  },

  'forgets a log whose writer has died after its time': async (log, key) => {
    await begin(log, key, { lease: SHORT, ttl: SHORT });
    while ((await log.read(key, { after: 0, limit: 1 })) !== undefined)
      await new Promise((resolve) => setTimeout(resolve, 2));
  },

  'rejects what some databases cannot store, and times out of range': async (log, key) => {
    const batch = { generation: 1, after: 0, entries: [] };
    for (const bad of ['', ' ', 'a\0', '\ud800', 'x'.repeat(769), 7, null, undefined] as never[])
      for (const act of [
        () => begin(log, bad),
        () => append(log, bad, batch),
        () => log.read(bad, { after: 0, limit: 1 }),
        () => log.stop(bad, 1),
      ])
        await assert.rejects(act, InvalidArgumentError);
    for (const time of [0, -1, NaN, Infinity, '1', null, undefined] as never[]) {
      await assert.rejects(() => begin(log, key, { lease: time }), InvalidArgumentError);
      await assert.rejects(() => append(log, key, { ...batch, ttl: time }), InvalidArgumentError);
    }
    for (const bad of [{ writer: '' }, { turnId: '\0' }, { other: 1 }] as never[])
      await assert.rejects(() => log.begin(key, { writer: 'w', ...TIMES, ...(bad as object) }), InvalidArgumentError); // prettier-ignore
    assert.equal(await entriesOf(log, key), undefined);
  },
};
