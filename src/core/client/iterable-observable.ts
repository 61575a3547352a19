import type { Backpressure } from '../internal/cancellation.js';
import { Observable, type Subscriber } from '../internal/rxjs.js';
import { ObservableIterator } from './async-iterator.js';

/**
 * An Observable that can be iterated by `for await`, with backpressure. Cold: each subscription and
 * each iteration is a run of its own; leaving the loop early cancels the run.
 */
export class IterableObservable<T> extends Observable<T> implements AsyncIterable<T> {
  constructor(private readonly start: (subscriber: Subscriber<T>, ready?: Backpressure) => void) {
    super((subscriber) => start(subscriber));
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    const { start } = this;
    return new ObservableIterator(
      (ready) => new Observable((subscriber) => start(subscriber, ready)),
    );
  }
}
