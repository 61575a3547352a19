import { onAbort } from './abort.js';

/** Asked by a producer before it reads on: undefined if it may, else a promise to wait for, since the consumer has enough. */
export type Ready = () => Promise<void> | undefined;

/** Something that may be cancelled, as its parts see it. */
export interface Cancellable {
  /** For functions of others, such as `fetch`. */
  readonly signal: AbortSignal;
  /** Calls back once with the reason (at once if it is cancelled already); returns how to stop waiting. */
  readonly onCancel: (callback: (reason: unknown) => void) => () => void;
  /** Absent where the consumer takes whatever comes. */
  readonly ready?: Ready | undefined;
}

/**
 * The cancellation of a run or of a part of it. An AbortSignal is made only when somebody asks for one: with its listeners it
 * costs more than all other work of an advisor chain, and most runs are never looked at.
 */
export class Cancellation implements Cancellable {
  private readonly callbacks = new Set<(reason: unknown) => void>();
  private controller: AbortController | undefined;
  private reason: unknown;
  cancelled = false;

  constructor(readonly ready?: Ready) {}

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.cancelled) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  onCancel(callback: (reason: unknown) => void): () => void {
    if (this.cancelled) {
      callback(this.reason);
      return () => undefined;
    }
    this.callbacks.add(callback);
    return () => this.callbacks.delete(callback);
  }

  /** Only the first call counts. */
  cancel(reason?: unknown): void {
    if (this.cancelled) return;
    this.cancelled = true;
    this.reason = reason;
    this.controller?.abort(reason);
    for (const callback of this.callbacks) callback(reason);
    this.callbacks.clear();
  }
}

/** The cancellation that an AbortSignal stands for. */
export function cancellationOf(signal: AbortSignal): Cancellable {
  return { signal, onCancel: (callback) => onAbort(signal, () => callback(signal.reason)) };
}
