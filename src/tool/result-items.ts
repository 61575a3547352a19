import { isObservable, type Observable } from '../rxjs.js';

/** Hears of the items of a result that comes in pieces. */
export interface ItemListener {
  /** An item that is not the last. */
  readonly progress: (item: unknown) => void;
  /** The last item, or undefined if there was none. */
  readonly done: (last: unknown) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Follows a generator or an Observable; gives the way to stop it, or undefined for any other value. Other values that can be iterated
 * are data: the pages of a list, a body.
 */
export function followItems(value: unknown, listener: ItemListener): (() => void) | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isGenerator(value)) return followGenerator(value, listener);
  return isObservable(value) ? followObservable(value, listener) : undefined;
}

type AnyGenerator = AsyncGenerator<unknown, unknown, undefined> | Generator<unknown, unknown, undefined>;

function isGenerator(value: object): value is AnyGenerator {
  const tag: unknown = (value as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag];
  return (tag === 'AsyncGenerator' || tag === 'Generator') && typeof (value as Partial<AnyGenerator>).next === 'function';
}

function followGenerator(generator: AnyGenerator, listener: ItemListener): () => void {
  const items = new Items(listener);
  void pull(generator, items).catch((error: unknown) => {
    void close(generator);
    items.fail(error);
  });
  return () => {
    items.stop();
    void close(generator);
  };
}

async function pull(generator: AnyGenerator, items: Items): Promise<void> {
  for (;;) {
    const { done, value } = await generator.next();
    const item: unknown = await value;
    if (done) return items.end(item);
    if (items.stopped) {
      await close(generator); // one that was running when it was stopped could not be closed then
      return items.end(undefined);
    }
    items.next(item);
  }
}

/** Has a generator clean up. That may fail, but nobody waits for it any more. */
async function close(generator: AnyGenerator): Promise<void> {
  try {
    await generator.return(undefined);
  } catch {
    // see above; also where it is running at this very moment
  }
}

function followObservable(source: Observable<unknown>, listener: ItemListener): () => void {
  const items = new Items(listener);
  const subscription = source.subscribe({
    next: (item) => items.next(item),
    error: (error: unknown) => items.fail(error),
    complete: () => items.end(undefined),
  });
  return () => {
    items.stop();
    try {
      subscription.unsubscribe();
    } catch {
      // its cleaning up failed, as that of a generator may
    }
  };
}

/** Keeps the latest item back until it is clear whether it is the last; but not for long, or progress would come too late. */
class Items {
  private latest: unknown;
  private timer: ReturnType<typeof setTimeout> | undefined;
  stopped = false;

  constructor(private readonly listener: ItemListener) {}

  next(item: unknown): void {
    this.tell();
    this.latest = item;
    if (!this.stopped) this.timer = setTimeout(() => this.tell(), 0);
  }

  /** @param returned what a generator returned, undefined if nothing */
  end(returned: unknown): void {
    if (returned !== undefined) this.tell();
    clearTimeout(this.timer);
    this.listener.done(returned === undefined ? this.latest : returned);
  }

  fail(error: unknown): void {
    this.tell();
    this.listener.fail(error);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** Tells the latest item, unless that was done. */
  private tell(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.listener.progress(this.latest);
  }
}
