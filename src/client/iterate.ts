import type { Ready } from '../chat/cancellation.js';
import type { Observable, Subscription } from '../rxjs.js';

/** Values that wait for the consumer before the source is asked to pause. */
const ENOUGH = 256;

/**
 * An Observable as an async iterator: subscribes at the first `next`, keeps what comes while nobody asks, unsubscribes at `return`.
 * @param source makes the Observable; it may ask how far the consumer is
 */
export function iterate<T>(source: (ready: Ready) => Observable<T>): AsyncIterableIterator<T> {
  return new Iteration(source);
}

interface Consumer<T> {
  readonly resolve: (result: IteratorResult<T>) => void;
  readonly reject: (error: unknown) => void;
}

const OVER: IteratorResult<never> = { done: true, value: undefined };

class Iteration<T> implements AsyncIterableIterator<T> {
  private arrived: T[] = [];
  /** Values to hand out, the next one last: taking from the front of a long array would move all others. */
  private outgoing: T[] = [];
  private waiting: Consumer<T>[] = [];
  private subscription: Subscription | undefined;
  private ended = false;
  /** An error that nobody was told of yet. */
  private failure: { readonly error: unknown } | undefined;
  private pause: Promise<void> | undefined;
  private resume: (() => void) | undefined;

  constructor(private readonly source: (ready: Ready) => Observable<T>) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.size > 0) return Promise.resolve({ done: false, value: this.take() });
    if (this.ended) return this.tellEnd();
    const result = new Promise<IteratorResult<T>>((resolve, reject) => this.waiting.push({ resolve, reject }));
    this.subscription ??= this.start();
    return result;
  }

  return(): Promise<IteratorResult<T>> {
    this.arrived = this.outgoing = [];
    this.finish();
    this.failure = undefined;
    this.subscription?.unsubscribe();
    return Promise.resolve(OVER);
  }

  private get size(): number {
    return this.arrived.length + this.outgoing.length;
  }

  private start(): Subscription {
    return this.source(() => this.ready()).subscribe({
      next: (value) => this.add(value),
      error: (error: unknown) => this.finish({ error }),
      complete: () => this.finish(),
    });
  }

  private add(value: T): void {
    const consumer = this.waiting.shift();
    if (consumer) consumer.resolve({ done: false, value });
    else this.arrived.push(value);
  }

  private take(): T {
    if (this.outgoing.length === 0) {
      this.outgoing = this.arrived.reverse();
      this.arrived = [];
    }
    const value = this.outgoing.pop() as T;
    if (this.size <= ENOUGH / 2) this.goOn();
    return value;
  }

  private ready(): Promise<void> | undefined {
    if (this.size < ENOUGH || this.ended) return undefined;
    return (this.pause ??= new Promise((resolve) => (this.resume = resolve)));
  }

  private goOn(): void {
    this.resume?.();
    this.pause = this.resume = undefined;
  }

  private finish(failure?: { readonly error: unknown }): void {
    if (this.ended) return;
    this.ended = true;
    this.failure = failure;
    for (const { resolve, reject } of this.waiting.splice(0)) this.tellEnd().then(resolve, reject);
    this.goOn();
  }

  /** An error is told once, then the iteration is just over. */
  private tellEnd(): Promise<IteratorResult<T>> {
    const { failure } = this;
    this.failure = undefined;
    return failure ? Promise.reject(failure.error as Error) : Promise.resolve(OVER);
  }
}
