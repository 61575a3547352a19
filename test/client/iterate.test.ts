import { expect } from 'chai';
import { Observable, Subject } from 'rxjs';
import type { Ready } from '../../src/chat/cancellation.js';
import { iterate } from '../../src/client/iterate.js';

const over = { done: true, value: undefined };
const item = <T>(value: T) => ({ done: false, value });

/** An iterator over a subject, and what it asked of the subject. */
function iterated() {
  const subject = new Subject<number>();
  const asked = { subscribed: 0, ready: undefined as Ready | undefined };
  const iterator = iterate<number>((ready) => {
    asked.ready = ready;
    return new Observable((subscriber) => {
      asked.subscribed++;
      return subject.subscribe(subscriber);
    });
  });
  return { subject, iterator, asked };
}

describe('iterate', () => {
  it('subscribes at the first next, once', async () => {
    const { subject, iterator, asked } = iterated();
    expect(asked.subscribed).to.equal(0);

    const values = Promise.all([iterator.next(), iterator.next()]);
    subject.next(1);
    subject.next(2);

    expect(await values).to.deep.equal([item(1), item(2)]);
    expect(asked.subscribed).to.equal(1);
  });

  it('keeps what comes while nobody asks, in order', async () => {
    const { subject, iterator } = iterated();
    const first = iterator.next();
    for (let n = 0; n < 5; n++) subject.next(n);
    subject.complete();

    const rest = [];
    for await (const value of iterator) rest.push(value);

    expect(await first).to.deep.equal(item(0));
    expect(rest).to.deep.equal([1, 2, 3, 4]);
  });

  it('takes a source that gives everything at once, of any length, in linear time', async function () {
    this.timeout(20_000);
    const many = 300_000;
    const iterator = iterate<number>(
      () =>
        new Observable((subscriber) => {
          for (let n = 0; n < many; n++) subscriber.next(n);
          subscriber.complete();
        }),
    );

    let expected = 0;
    for await (const value of iterator) if (value !== expected++) throw new Error(`${value} instead of ${expected - 1}`);

    expect(expected).to.equal(many);
  });

  it('tells an error once, after the values before it, and is over then', async () => {
    const { subject, iterator } = iterated();
    const first = iterator.next();
    subject.next(1);
    subject.next(2);
    subject.error('broken');

    const told = [await first, await iterator.next(), await iterator.next().catch((error: unknown) => ({ error })), await iterator.next()];

    expect(told).to.deep.equal([item(1), item(2), { error: 'broken' }, over]);
  });

  it('[F52] settles every next under way when the source fails: the first is told, the others are over', async () => {
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

  it('[F52] settles every next under way when the source ends and when the consumer returns', async () => {
    const ended = iterated();
    const left = iterated();
    const waiting = [ended, left].map(({ iterator }) => Promise.all([iterator.next(), iterator.next()]));

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

  it('starts nothing after it was left before its beginning', async () => {
    const { iterator, asked } = iterated();

    await iterator.return?.();

    expect(await iterator.next()).to.deep.equal(over);
    expect(asked.subscribed).to.equal(0);
  });

  it('drops what was kept, and an error, when the consumer leaves', async () => {
    const { subject, iterator } = iterated();
    const first = iterator.next();
    subject.next(1);
    subject.next(2);
    subject.error('broken');
    await first;

    await iterator.return?.();

    expect(await iterator.next()).to.deep.equal(over);
  });

  describe('holds the source back', () => {
    const fill = (subject: Subject<number>, count: number): void => {
      for (let n = 0; n < count; n++) subject.next(n);
    };
    const isSettled = async (promise: Promise<void>): Promise<boolean> => {
      const still = Symbol('still waiting');
      return (await Promise.race([promise, new Promise((resolve) => setImmediate(resolve, still))])) !== still;
    };

    it('[F47] from 256 values that wait until half of them are taken', async () => {
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
      ['the consumer leaves', ({ iterator }: ReturnType<typeof iterated>) => void iterator.return?.()],
      ['the source fails', ({ subject }: ReturnType<typeof iterated>) => subject.error('broken')],
    ] as const) {
      it(`[F52] but not beyond the end: when ${how}, nobody waits any more`, async () => {
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
