import { expect } from 'chai';
import { Cancellation, cancellationOf } from '../../../src/core/internal/cancellation.js';

describe('Cancellation', () => {
  it('passes the reason to every callback once', () => {
    const cancellation = new Cancellation();
    const reasons: unknown[] = [];
    cancellation.onCancel((reason) => reasons.push(reason));
    cancellation.onCancel((reason) => reasons.push(reason))();

    cancellation.cancel('first');
    cancellation.cancel('second');

    expect(reasons).to.deep.equal(['first']);
    expect(cancellation.cancelled).to.equal(true);
  });

  it('calls back at once if already cancelled', () => {
    const cancellation = new Cancellation();
    cancellation.cancel('why');
    let received: unknown;

    cancellation.onCancel((reason) => (received = reason))();

    expect(received).to.equal('why');
  });

  it('has a signal that aborts with it, accessed before or after', () => {
    const before = new Cancellation();
    const after = new Cancellation();
    const { signal } = before;

    before.cancel('why');
    after.cancel('why');

    expect([signal.aborted, signal.reason]).to.deep.equal([true, 'why']);
    expect([after.signal.aborted, after.signal.reason]).to.deep.equal([true, 'why']);
    expect(before.signal).to.equal(signal);
  });

  it('can be created from a signal', () => {
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
