import { expect } from 'chai';
import { Cancellation, cancellationOf } from '../../src/chat/cancellation.js';

describe('Cancellation', () => {
  it('tells every waiter the reason once', () => {
    const cancellation = new Cancellation();
    const reasons: unknown[] = [];
    cancellation.onCancel((reason) => reasons.push(reason));
    cancellation.onCancel((reason) => reasons.push(reason))();

    cancellation.cancel('first');
    cancellation.cancel('second');

    expect(reasons).to.deep.equal(['first']);
    expect(cancellation.cancelled).to.equal(true);
  });

  it('tells who comes later at once', () => {
    const cancellation = new Cancellation();
    cancellation.cancel('why');
    let told: unknown;

    cancellation.onCancel((reason) => (told = reason))();

    expect(told).to.equal('why');
  });

  it('gives a signal that aborts with it, asked for before or after', () => {
    const before = new Cancellation();
    const after = new Cancellation();
    const { signal } = before;

    before.cancel('why');
    after.cancel('why');

    expect([signal.aborted, signal.reason]).to.deep.equal([true, 'why']);
    expect([after.signal.aborted, after.signal.reason]).to.deep.equal([true, 'why']);
    expect(before.signal).to.equal(signal);
  });

  it('can be made of a signal', () => {
    const controller = new AbortController();
    const cancellation = cancellationOf(controller.signal);
    const reasons: unknown[] = [];
    cancellation.onCancel((reason) => reasons.push(reason));
    cancellation.onCancel((reason) => reasons.push(reason))();

    controller.abort('why');

    expect(reasons).to.deep.equal(['why']);
    expect(cancellation.signal).to.equal(controller.signal);
  });
});
