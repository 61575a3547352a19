import type { Backpressure } from '../internal/cancellation.js';
import type { Observable, Subscription } from '../internal/rxjs.js';

/** Number of buffered values at which the source is asked to pause; it resumes at half of them. */
const HIGH_WATER_MARK = 256;

const DONE: IteratorResult<never> = { done: true, value: undefined };

/**
 * Iterates over an Observable: subscribes at the first `next`, buffers values until they are
 * requested, unsubscribes at `return`.
 */
export class ObservableIterator<T> implements AsyncIterableIterator<T> {
  private incoming: T[] = [];
  /** Reversed, since removing the first value of a long array moves all others. */
  private outgoing: T[] = [];
  /** Resolves each `next` that waits for a value. */
  private pending: ((result: IteratorResult<T> | Promise<IteratorResult<T>>) => void)[] = [];
  private subscription: Subscription | undefined;
  private ended = false;
  /** An error that is not reported yet. */
  private failure: { readonly error: unknown } | undefined;
  private pause: Promise<void> | undefined;
  private endPause: (() => void) | undefined;

  /** @param source creates the Observable, with the backpressure of the iterator */
  constructor(private readonly source: (ready: Backpressure) => Observable<T>) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.bufferSize > 0) return Promise.resolve({ done: false, value: this.takeValue() });
    if (this.ended) return this.settleEnd();
    const result = new Promise<IteratorResult<T>>((resolve) => this.pending.push(resolve));
    this.subscription ??= this.source(() => this.ready()).subscribe({
      next: (value) => this.addValue(value),
      error: (error: unknown) => this.finish({ error }),
      complete: () => this.finish(),
    });
    // a consumer may have left at an event that came while it was subscribed
    if (this.ended) this.subscription.unsubscribe();
    return result;
  }

  return(): Promise<IteratorResult<T>> {
    this.incoming = this.outgoing = [];
    this.finish();
    this.failure = undefined;
    this.subscription?.unsubscribe();
    return Promise.resolve(DONE);
  }

  private get bufferSize(): number {
    return this.incoming.length + this.outgoing.length;
  }

  private addValue(value: T): void {
    const resolve = this.pending.shift();
    if (resolve) resolve({ done: false, value });
    else this.incoming.push(value);
  }

  private takeValue(): T {
    if (this.outgoing.length === 0) {
      this.outgoing = this.incoming.reverse();
      this.incoming = [];
    }
    const value = this.outgoing.pop() as T;
    if (this.bufferSize <= HIGH_WATER_MARK / 2) this.resumeSource();
    return value;
  }

  private ready(): Promise<void> | undefined {
    if (this.bufferSize < HIGH_WATER_MARK || this.ended) return undefined;
    return (this.pause ??= new Promise((resolve) => (this.endPause = resolve)));
  }

  private resumeSource(): void {
    this.endPause?.();
    this.pause = this.endPause = undefined;
  }

  private finish(failure?: { readonly error: unknown }): void {
    if (this.ended) return;
    this.ended = true;
    this.failure = failure;
    for (const resolve of this.pending.splice(0)) resolve(this.settleEnd());
    this.resumeSource();
  }

  /** Reports an error once; afterwards the iteration is done. */
  private settleEnd(): Promise<IteratorResult<T>> {
    const { failure } = this;
    this.failure = undefined;
    return failure ? Promise.reject(failure.error as Error) : Promise.resolve(DONE);
  }
}
