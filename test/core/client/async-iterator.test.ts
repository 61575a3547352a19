import { expect } from 'chai';
import { Observable, Subject } from 'rxjs';
import type { Backpressure } from '../../../src/core/internal/cancellation.js';
import { ObservableIterator } from '../../../src/core/client/async-iterator.js';
import { sweep } from '../../support/sweep.js';

const over = { done: true, value: undefined };
const item = <T>(value: T) => ({ done: false, value });

/** An iterator over a subject, and what it asked of the subject. */
function iterated() {
  const subject = new Subject<number>();
  const asked = { subscribed: 0, ready: undefined as Backpressure | undefined };
  const iterator = new ObservableIterator<number>((ready) => {
    asked.ready = ready;
    return new Observable((subscriber) => {
      asked.subscribed++;
      return subject.subscribe(subscriber);
    });
  });
  return { subject, iterator, asked };
}

describe('ObservableIterator', () => {
  it('subscribes at the first next, once', async () => {
    const { subject, iterator, asked } = iterated();
    expect(asked.subscribed).to.equal(0);

    const values = Promise.all([iterator.next(), iterator.next()]);
    subject.next(1);
    subject.next(2);

    expect(await values).to.deep.equal([item(1), item(2)]);
    expect(asked.subscribed).to.equal(1);
  });

  it('buffers values in order until they are requested', async () => {
    const { subject, iterator } = iterated();
    const first = iterator.next();
    for (let n = 0; n < 5; n++) subject.next(n);
    subject.complete();

    const rest = [];
    for await (const value of iterator) rest.push(value);

    expect(await first).to.deep.equal(item(0));
    expect(rest).to.deep.equal([1, 2, 3, 4]);
  });

  it('handles a long synchronous source in linear time', async function () {
    this.timeout(20_000);
    const many = sweep(300_000);
    const iterator = new ObservableIterator<number>(
      () =>
        new Observable((subscriber) => {
          for (let n = 0; n < many; n++) subscriber.next(n);
          subscriber.complete();
        }),
    );

    let expected = 0;
    for await (const value of iterator)
      if (value !== expected++) throw new Error(`${value} instead of ${expected - 1}`);

    expect(expected).to.equal(many);
  });

  it('reports an error once, after the values before it, then is done', async () => {
    const { subject, iterator } = iterated();
    const first = iterator.next();
    subject.next(1);
    subject.next(2);
    subject.error('broken');

    const results = [
      await first,
      await iterator.next(),
      await iterator.next().catch((error: unknown) => ({ error })),
      await iterator.next(),
    ];

    expect(results).to.deep.equal([item(1), item(2), { error: 'broken' }, over]);
  });

  it('[F52] settles every pending next when the source fails: the first rejects, the others are done', async () => {
    const { subject, iterator } = iterated();
    const waiting = Promise.allSettled([iterator.next(), iterator.next(), iterator.next()]);

    subject.error('broken');

    expect(await waiting).to.deep.equal([
      { status: 'rejected', reason: 'broken' },
      { status: 'fulfilled', value: over },
      { status: 'fulfilled', value: over },
    ]);
    expect(await iterator.next()).to.deep.equal(over);
  });

  it('[F52] settles every pending next when the source completes and when the consumer returns', async () => {
    const ended = iterated();
    const left = iterated();
    const waiting = [ended, left].map(({ iterator }) =>
      Promise.all([iterator.next(), iterator.next()]),
    );

    ended.subject.complete();
    await left.iterator.return?.();

    expect(await Promise.all(waiting)).to.deep.equal([
      [over, over],
      [over, over],
    ]);
  });

  it('unsubscribes when the consumer leaves its loop', async () => {
    const { subject, iterator } = iterated();
    queueMicrotask(() => subject.next(1));

    for await (const value of iterator) {
      expect(value).to.equal(1);
      break;
    }

    expect(subject.observed).to.equal(false);
    expect(await iterator.next()).to.deep.equal(over);
  });

  it('unsubscribes when the body of the loop throws', async () => {
    const { subject, iterator } = iterated();
    queueMicrotask(() => subject.next(1));
    const loop = async (): Promise<void> => {
      for await (const value of iterator) throw new Error(`at ${value}`);
    };

    const error = await loop().catch((reason: unknown) => reason);

    expect(error).to.have.property('message', 'at 1');
    expect(subject.observed).to.equal(false);
  });

  it('never subscribes after return was called first', async () => {
    const { iterator, asked } = iterated();

    await iterator.return?.();

    expect(await iterator.next()).to.deep.equal(over);
    expect(asked.subscribed).to.equal(0);
  });

  it('drops buffered values and an error at return', async () => {
    const { subject, iterator } = iterated();
    const first = iterator.next();
    subject.next(1);
    subject.next(2);
    subject.error('broken');
    await first;

    await iterator.return?.();

    expect(await iterator.next()).to.deep.equal(over);
  });

  describe('backpressure', () => {
    const fill = (subject: Subject<number>, count: number): void => {
      for (let n = 0; n < count; n++) subject.next(n);
    };
    const isSettled = async (promise: Promise<void>): Promise<boolean> => {
      const still = Symbol('still waiting');
      return (
        (await Promise.race([promise, new Promise((resolve) => setImmediate(resolve, still))])) !==
        still
      );
    };

    it('[F47] pauses the source at 256 buffered values until half of them are taken', async () => {
      const { subject, iterator, asked } = iterated();
      const first = iterator.next();
      fill(subject, 256);
      expect(asked.ready?.()).to.equal(undefined);
      fill(subject, 1);
      const pause = asked.ready?.() as Promise<void>;
      expect(asked.ready?.()).to.equal(pause);

      await first;
      for (let n = 0; n < 127; n++) await iterator.next();
      expect(await isSettled(pause)).to.equal(false);
      await iterator.next();

      expect(await isSettled(pause)).to.equal(true);
      expect(asked.ready?.()).to.equal(undefined);
    });

    for (const [how, end] of [
      [
        'the consumer leaves',
        ({ iterator }: ReturnType<typeof iterated>) => void iterator.return?.(),
      ],
      ['the source fails', ({ subject }: ReturnType<typeof iterated>) => subject.error('broken')],
    ] as const) {
      it(`[F52] ends with the iteration: releases the source when ${how}`, async () => {
        const run = iterated();
        const first = run.iterator.next();
        fill(run.subject, 300);
        const pause = run.asked.ready?.() as Promise<void>;

        end(run);

        expect(await isSettled(pause)).to.equal(true);
        expect(run.asked.ready?.()).to.equal(undefined);
        await first;
      });
    }
  });
});
