import { expect } from 'chai';
import { PendingWork } from '../../../src/core/internal/cancellation.js';
import { RunRecord } from '../../../src/core/chat/run-record.js';
import { deferred, settle } from '../../support/promises.js';

describe('PendingWork', () => {
  it('begins the last work when all other has ended, also that which was added meanwhile', async () => {
    const work = new PendingWork();
    const log: string[] = [];
    const [first, second] = [deferred<void>(), deferred<void>()];
    work.add(first.promise.then(() => log.push('first')));
    void work.addLast(async () => log.push('last'));
    work.add(second.promise.then(() => log.push('second')));
    first.resolve();
    await settle();
    second.resolve();

    await work.settled();

    expect(log).to.deep.equal(['first', 'second', 'last']);
  });

  it('lets two last works not wait for each other, and is settled after both', async () => {
    const work = new PendingWork();
    const log: string[] = [];
    void work.addLast(async () => log.push('a'));
    void work.addLast(async () => log.push('b'));

    await work.settled();

    expect(log).to.deep.equal(['a', 'b']);
  });

  it('settles after work that failed', async () => {
    const work = new PendingWork();
    work.add(Promise.reject(new Error('a')));
    work.addLast(() => Promise.reject(new Error('b'))).catch(() => undefined);

    await work.settled();
  });

  it('of a nested run is work of the outer one, whose last work waits for it', async () => {
    const outer = new RunRecord();
    const inner = new RunRecord(outer);
    const log: string[] = [];
    outer.trackLast(async () => log.push('outer'));
    inner.trackLast(async () => log.push('inner'));

    await outer.settled;

    expect(log).to.deep.equal(['inner', 'outer']);
  });
});
