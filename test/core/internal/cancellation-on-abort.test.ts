import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { onAbort } from '../../../src/core/internal/cancellation.js';

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('onAbort', () => {
  it('calls every callback once when the signal aborts', () => {
    const controller = new AbortController();
    const calls: number[] = [];
    onAbort(controller.signal, () => calls.push(1));
    onAbort(controller.signal, () => calls.push(2));

    controller.abort();
    controller.abort();

    expect(calls).to.deep.equal([1, 2]);
  });

  it('calls back at once if the signal has aborted', () => {
    let calls = 0;

    onAbort(AbortSignal.abort(), () => calls++)();

    expect(calls).to.equal(1);
  });

  it('does not call a removed callback', () => {
    const controller = new AbortController();
    let calls = 0;
    const release = onAbort(controller.signal, () => calls++);

    release();
    release();
    controller.abort();

    expect(calls).to.equal(0);
  });

  it('[F54] has one listener for any number of callbacks, and none when all are removed', () => {
    const { signal } = new AbortController();

    const releases = Array.from({ length: 100 }, () => onAbort(signal, () => undefined));
    expect(listenersOf(signal)).to.equal(1);
    for (const release of releases) release();

    expect(listenersOf(signal)).to.equal(0);
  });

  it('listens again after all were removed', () => {
    const controller = new AbortController();
    let calls = 0;
    onAbort(controller.signal, () => calls++)();

    onAbort(controller.signal, () => calls++);
    controller.abort();

    expect(calls).to.equal(1);
  });
});
