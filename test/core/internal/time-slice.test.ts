import { expect } from 'chai';
import { SharedTimeSlice } from '../../../src/core/internal/time-slice.js';

/** Uses up a slice. */
function work(): void {
  for (const end = Date.now() + 12; Date.now() < end;);
}

describe('SharedTimeSlice', () => {
  it('runs work at once until a slice is used', () => {
    const slice = new SharedTimeSlice();

    expect(slice.run(() => 1)).to.equal(1);
    expect(slice.run(() => (work(), 2))).to.equal(2);
    expect(slice.run(() => 3)).to.be.instanceOf(Promise);
  });

  it('runs each further work in a task of its own, in order', async () => {
    const slice = new SharedTimeSlice();
    const order: string[] = [];
    void slice.run(work);

    const parts = ['a', 'b', 'c'].map((name) =>
      slice.run(() => {
        order.push(name);
        work();
        setImmediate(() => order.push(`another task after ${name}`));
      }),
    );
    for (const part of parts) await part;
    await new Promise((resolve) => setImmediate(resolve));

    expect(order.filter((name) => name.length === 1)).to.deep.equal(['a', 'b', 'c']);
    expect(order.indexOf('another task after a')).to.be.lessThan(order.indexOf('c'));
  });

  it('runs work at once again after the slices of the others', async () => {
    const slice = new SharedTimeSlice();
    void slice.run(work);
    await slice.run(() => 1);

    expect(slice.run(() => 2)).to.equal(2);
  });

  it('rejects with the error of work that has waited, and continues', async () => {
    const slice = new SharedTimeSlice();
    void slice.run(work);
    const failed = slice.run(() => {
      throw new Error('failed');
    });
    const next = slice.run(() => 'next');

    expect(await Promise.resolve(failed).catch((error: Error) => error.message)).to.equal('failed');
    expect(await next).to.equal('next');
  });
});
