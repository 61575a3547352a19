import { hasMethods } from '../internal/options.js';
import { Subscriber, type Observable } from '../internal/rxjs.js';
import { TimeSlice } from '../internal/time-slice.js';

/** Receives an item; returns false if the run needs no more of them. */
type ItemReceiver = (item: unknown) => boolean;

/** The items of a generator or an Observable. */
export interface Items {
  /** Resolves to the last item; to undefined if there was none. */
  readonly last: Promise<unknown>;
  /** Ends the generator or the subscription. */
  readonly stop: () => void;
}

/**
 * Reads a generator or an Observable; returns undefined for any other value. Other iterable values
 * are data: the pages of a list, a body.
 * @param progress receives the items that are not the last one
 */
export function followItems(value: unknown, progress: ItemReceiver): Items | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isGenerator(value)) return followGenerator(value, new LatestItem(progress));
  // like `isObservable` of RxJS: accepts observables of a second copy, too
  return hasMethods(value, ['lift', 'subscribe'])
    ? followObservable(value as Observable<unknown>, new LatestItem(progress))
    : undefined;
}

type AnyGenerator =
  AsyncGenerator<unknown, unknown, undefined> | Generator<unknown, unknown, undefined>;

function isGenerator(value: object): value is AnyGenerator {
  const isIterator = typeof (value as Partial<AnyGenerator>).next === 'function';
  return isIterator && /^\[object (Async)?Generator\]$/.test(Object.prototype.toString.call(value));
}

function followGenerator(generator: AnyGenerator, items: LatestItem): Items {
  const stop = (): void => {
    items.stop();
    void closeGenerator(generator);
  };
  return { last: readGenerator(generator, items), stop };
}

async function readGenerator(generator: AnyGenerator, items: LatestItem): Promise<unknown> {
  const slice = new TimeSlice();
  try {
    for (;;) {
      const { done, value } = await generator.next();
      const item: unknown = await value;
      if (done) return items.last(item);
      // before the item is received: it may be the last one, which is no progress
      const nextSlice = slice.next();
      if (nextSlice) await nextSlice;
      if (items.stopped) return await closeGenerator(generator); // a running one cannot be closed
      items.receive(item);
    }
  } catch (error) {
    void closeGenerator(generator);
    items.flush();
    throw error;
  }
}

/** Runs the `finally` blocks of a generator; their errors are ignored. */
async function closeGenerator(generator: AnyGenerator): Promise<void> {
  try {
    await generator.return(undefined);
  } catch {
    // also thrown while the generator is running
  }
}

function followObservable(source: Observable<unknown>, items: LatestItem): Items {
  let stop = items.stop;
  const last = new Promise((resolve, reject) => {
    stop = () => {
      items.stop();
      resolve(undefined);
      try {
        subscriber.unsubscribe();
      } catch {
        // errors of its teardown are ignored, as for a generator
      }
    };
    const subscriber = new Subscriber<unknown>({
      next: (item) => {
        items.receive(item);
        if (items.stopped) stop(); // it may emit without end before it returns
      },
      error: (error: Error) => {
        items.flush();
        reject(error);
      },
      complete: () => resolve(items.last(undefined)),
    });
    source.subscribe(subscriber);
  });
  return { last, stop };
}

/** Holds back the latest item until the next one or the end follows, or the next task starts. */
class LatestItem {
  private latest: unknown;
  private timer: ReturnType<typeof setTimeout> | undefined;
  stopped = false;

  constructor(private readonly progress: ItemReceiver) {}

  receive(item: unknown): void {
    this.flush();
    this.latest = item;
    if (!this.stopped) this.timer = setTimeout(() => this.flush(), 0);
  }

  /** @param returned the return value of a generator */
  last(returned: unknown): unknown {
    if (returned !== undefined) this.flush();
    clearTimeout(this.timer);
    return returned === undefined ? this.latest : returned;
  }

  /** Reports the latest item as progress, once. */
  flush(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.progress(this.latest)) this.stopped = true;
  }

  readonly stop = (): void => {
    this.stopped = true;
    clearTimeout(this.timer);
    this.timer = undefined;
  };
}
