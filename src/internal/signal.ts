/** Call that an AbortSignal ends. */
export interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

/** Adds the signal of a source, which is read on access: the first access to that of a run creates it. */
export function withSignalOf<T extends object>(options: T, source: Abortable): T & Abortable {
  return Object.defineProperty(options, 'signal', { get: () => source.signal, enumerable: true });
}
