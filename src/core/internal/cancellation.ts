import { CancelledError } from '../errors/errors.js';

/** Backpressure of a consumer: undefined, or a promise that resolves when it can accept more. */
export type Backpressure = () => Promise<void> | undefined;

/** A run, or a part of it, that may be cancelled. */
export interface Cancellable {
  /** For APIs such as `fetch`. */
  readonly signal: AbortSignal;
  readonly cancelled: boolean;
  /** Calls back once with the reason, at once if already cancelled; returns a function to stop. */
  readonly onCancel: (callback: (reason: unknown) => void) => () => void;
  /** Absent if the consumer has no limit. */
  readonly ready?: Backpressure | undefined;
  /** The record of the run, to which nested runs report. */
  readonly owner?: object | undefined;
}

const owners = new WeakMap<AbortSignal, object>();

/** The owner of the cancellation that created a signal. */
export function ownerOf(signal: AbortSignal): object | undefined {
  return owners.get(signal);
}

/**
 * The cancellation of a run or of a part of it. Its AbortSignal is created on first access: with
 * listeners it costs more than the rest of an advisor chain, and most runs never need one.
 */
export class Cancellation implements Cancellable {
  private callbacks: Set<(reason: unknown) => void> | undefined;
  private controller: AbortController | undefined;
  private reason: unknown;
  cancelled = false;

  constructor(
    readonly ready?: Backpressure,
    readonly owner?: object,
  ) {}

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.owner) owners.set(this.controller.signal, this.owner);
      if (this.cancelled) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  onCancel(callback: (reason: unknown) => void): () => void {
    if (this.cancelled) {
      callback(this.reason);
      return () => undefined;
    }
    const callbacks = (this.callbacks ??= new Set());
    callbacks.add(callback);
    return () => callbacks.delete(callback);
  }

  /** Only the first call has an effect. */
  cancel(reason?: unknown): void {
    if (this.cancelled) return;
    this.cancelled = true;
    this.reason = reason;
    this.controller?.abort(reason);
    this.callbacks?.forEach((callback) => callback(reason));
    this.callbacks?.clear();
  }
}

/** The cancellation of an AbortSignal. */
export function cancellationOf(signal: AbortSignal, ready?: Backpressure): Cancellable {
  const onCancel: Cancellable['onCancel'] = (callback) =>
    onAbort(signal, () => callback(signal.reason));
  return {
    signal,
    get cancelled() {
      return signal.aborted;
    },
    onCancel,
    ready,
    owner: ownerOf(signal),
  };
}

/** Calls back when a run is cancelled, if it can be; returns a function to stop. */
export function onRunCancel(
  run: { readonly [K in 'signal' | 'onCancel']?: Cancellable[K] | undefined },
  callback: (reason: unknown) => void,
): () => void {
  if (run.onCancel) return run.onCancel(callback);
  const { signal } = run;
  return signal ? onAbort(signal, () => callback(signal.reason)) : () => undefined;
}

/**
 * Awaits a promise until the run is cancelled.
 * @throws the rejection of the promise, or {@link CancelledError}
 */
export function untilCancelled<T>(promise: Promise<T>, cancellation: Cancellable): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = cancellation.onCancel((cause) => reject(cancelledError(cause)));
    // not `finally`, which makes two more promises for each model call and each tool call
    promise.then(
      (value) => {
        release();
        resolve(value);
      },
      (error: unknown) => {
        release();
        reject(error as Error);
      },
    );
  });
}

/** @param cause the reason of the cancellation, if there is one */
export function cancelledError(cause?: unknown): CancelledError {
  return new CancelledError('The run was cancelled.', cause === undefined ? {} : { cause });
}

export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Partial<Promise<T>> | undefined)?.then === 'function';
}

const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when a signal aborts, at once if it already has; returns a function to stop.
 *
 * All callbacks of a signal share one listener, removed with the last of them: an application may
 * pass one signal to thousands of runs, and Node.js warns of a leak at the eleventh listener.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  const callbacks = callbacksOf.get(signal) ?? new Set();
  if (callbacks.size === 0) signal.addEventListener('abort', notifyAll, { once: true });
  callbacksOf.set(signal, callbacks.add(callback));
  return () => {
    if (callbacks.delete(callback) && callbacks.size === 0)
      signal.removeEventListener('abort', notifyAll);
  };
}

function notifyAll({ target }: Event): void {
  callbacksOf.get(target as AbortSignal)?.forEach((callback) => callback());
}

/** Number of tasks from the end of an aborted `fetch` until the other side has seen it. */
const TASKS_TO_CLOSE = 3;

/** Work that may outlive the end of a run. */
export class PendingWork {
  private readonly works = new Set<Promise<unknown>>();
  private last: Set<Promise<unknown>> | undefined;

  add(work: Promise<unknown>): void {
    addUntilEnd(this.works, work);
  }

  /** Begins work when all other has ended; such works do not wait for each other. */
  addLast(begin: () => Promise<unknown>): Promise<unknown> {
    const work = untilSettled(this.works).then(begin);
    addUntilEnd((this.last ??= new Set()), work);
    return work;
  }

  /** Resolves when all work has ended; never rejects. */
  async settled(): Promise<void> {
    await untilSettled(this.works);
    while (this.last?.size) await Promise.allSettled(this.last);
  }
}

function addUntilEnd(works: Set<Promise<unknown>>, work: Promise<unknown>): void {
  const forget = (): void => void works.delete(work);
  works.add(work);
  work.then(forget, forget);
}

/** Waits for work, and then for some more tasks: in these the socket of an aborted request is closed. */
async function untilSettled(pending: ReadonlySet<Promise<unknown>>): Promise<void> {
  do {
    await Promise.allSettled(pending);
    for (let task = 0; task < TASKS_TO_CLOSE; task++)
      await new Promise((resolve) => setTimeout(resolve, 0));
  } while (pending.size > 0);
}

/** Call that an AbortSignal ends. */
export interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

/** Adds the signal of a source, read on access: a run creates its signal at the first access. */
export function withSignalOf<T extends object>(options: T, source: Abortable): T & Abortable {
  return Object.defineProperty(options, 'signal', { get: () => source.signal, enumerable: true });
}
