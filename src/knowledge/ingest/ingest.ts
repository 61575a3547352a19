import { IterableObservable } from '../../core/client/iterable-observable.js';
import type { IngestReport } from '../../core/errors/errors.js';
import {
  Cancellation,
  cancelledError,
  onAbort,
  ownerOf,
  type Backpressure,
} from '../../core/internal/cancellation.js';
import type { Subscriber } from '../../core/internal/rxjs.js';
import { IngestProcess } from './ingest-process.js';
import { IngestProgress, type IngestEvent } from './ingest-progress.js';
import { settingsOf, type DocumentSource, type IngestOptions } from './ingest-options.js';

/**
 * Stores documents as chunks, and brings a namespace up to date when it runs again: documents that are
 * new or have changed are split, embedded and written, those that the source no longer has are deleted.
 * The store is the only state, so an ingest that was interrupted is continued by the next one. The
 * chunks of a document are replaced in one step; readers never see a part of them.
 *
 * Nothing happens until the result is subscribed to, iterated, or its `report()` is requested; each of
 * them is an ingest of its own, which reads the source again.
 * @throws {@link InvalidArgumentError} if an argument is missing, unknown or out of range
 */
export function ingest(source: DocumentSource, options: IngestOptions): Ingest {
  return new Ingest(source, options);
}

/**
 * The events of an ingest, the report last. Ends with an {@link IngestError}, a {@link CancelledError}, or
 * an error of the store. Unsubscribing, or leaving a loop, ends the ingest.
 */
export class Ingest extends IterableObservable<IngestEvent> {
  /** Made by {@link ingest}. */
  constructor(source: DocumentSource, options: IngestOptions) {
    const settings = settingsOf(source, options);
    super((subscriber, ready) => start(source, settings, subscriber, options.signal, ready));
  }

  /** Runs the ingest, and resolves with its report. */
  report(): Promise<IngestReport> {
    return new Promise((resolve, reject) => {
      this.subscribe({
        next: (event) => event.type === 'report' && resolve(event.report),
        error: reject,
      });
    });
  }
}

function start(
  source: DocumentSource,
  settings: ReturnType<typeof settingsOf>,
  subscriber: Subscriber<IngestEvent>,
  signal: AbortSignal | undefined,
  ready: Backpressure | undefined,
): void {
  const cancellation = new Cancellation(ready, signal && ownerOf(signal));
  const progress = new IngestProgress((event) => subscriber.next(event));
  subscriber.add(() => cancellation.cancel());
  if (signal)
    subscriber.add(
      onAbort(signal, () => {
        subscriber.error(cancelledError(signal.reason));
      }),
    );
  if (cancellation.cancelled) return;
  void new IngestProcess(settings, progress, cancellation).run(source).then(
    () => {
      subscriber.next({ type: 'report', report: progress.report() });
      subscriber.complete();
    },
    (error: unknown) => subscriber.error(error),
  );
}
