import { hasMethods } from '../internal/options.js';
import type { Observable } from '../internal/rxjs.js';

/** Receives the items of a generator or an Observable. */
export interface ItemListener {
  /** Receives an item that is not the last one. */
  readonly progress: (item: unknown) => void;
  /** Receives the last item, or undefined if there was none. */
  readonly done: (last: unknown) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Reads a generator or an Observable; returns a function that stops it, or undefined for any other
 * value. Other iterable values are data: the pages of a list, a body.
 */
export function followItems(value: unknown, listener: ItemListener): (() => void) | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isGenerator(value)) return followGenerator(value, listener);
  return isObservable(value) ? followObservable(value, listener) : undefined;
}

/** Like `isObservable` of RxJS: accepts those of a second copy of it, too. */
function isObservable(value: object): value is Observable<unknown> {
  return hasMethods(value, 'lift', 'subscribe');
}

type AnyGenerator =
  AsyncGenerator<unknown, unknown, undefined> | Generator<unknown, unknown, undefined>;

function isGenerator(value: object): value is AnyGenerator {
  const tag: unknown = (value as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag];
  return (
    (tag === 'AsyncGenerator' || tag === 'Generator') &&
    typeof (value as Partial<AnyGenerator>).next === 'function'
  );
}

function followGenerator(generator: AnyGenerator, listener: ItemListener): () => void {
  const items = new Items(listener);
  void readGenerator(generator, items).catch((error: unknown) => {
    void closeGenerator(generator);
    items.failed(error);
  });
  return () => {
    items.stop();
    void closeGenerator(generator);
  };
}

async function readGenerator(generator: AnyGenerator, items: Items): Promise<void> {
  for (;;) {
    const { done, value } = await generator.next();
    const item: unknown = await value;
    if (done) return items.completed(item);
    if (items.stopped) {
      await closeGenerator(generator); // a running generator cannot be closed
      return items.completed(undefined);
    }
    items.received(item);
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

function followObservable(source: Observable<unknown>, listener: ItemListener): () => void {
  const items = new Items(listener);
  const subscription = source.subscribe({
    next: (item) => items.received(item),
    error: (error: unknown) => items.failed(error),
    complete: () => items.completed(undefined),
  });
  return () => {
    items.stop();
    try {
      subscription.unsubscribe();
    } catch {
      // errors of its teardown are ignored, as those of a generator are
    }
  };
}

/** Holds back the latest item until the next one or the end follows, or the next task starts. */
class Items {
  private latest: unknown;
  private timer: ReturnType<typeof setTimeout> | undefined;
  stopped = false;

  constructor(private readonly listener: ItemListener) {}

  received(item: unknown): void {
    this.flush();
    this.latest = item;
    if (!this.stopped) this.timer = setTimeout(() => this.flush(), 0);
  }

  /** @param returned the return value of a generator */
  completed(returned: unknown): void {
    if (returned !== undefined) this.flush();
    clearTimeout(this.timer);
    this.listener.done(returned === undefined ? this.latest : returned);
  }

  failed(error: unknown): void {
    this.flush();
    this.listener.fail(error);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** Reports the latest item as progress, once. */
  private flush(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.listener.progress(this.latest);
  }
}
