import type { ToolResult } from '../chat/chat-event.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import { SharedWork } from '../internal/shared-work.js';
import type { KeyValueStore } from '../key-value/key-value-store.js';
import { decodeResult, encodeResult } from './result-codec.js';

/** Settings of a {@link ResultCache}. */
export interface ResultCacheSettings {
  readonly store: KeyValueStore;
  /** Lifetime of a result in milliseconds. */
  readonly ttl: number;
  /** Maximum length of an encoded result. */
  readonly maxLength: number;
}

/** A result, and its source: the store, this caller's own call, or that of a concurrent caller. */
export interface CachedResult {
  readonly result: ToolResult;
  readonly source: 'store' | 'own' | 'shared';
}

/** One caller of a {@link ResultCache}. */
export interface CacheCaller {
  /** Ends the wait of this caller, and the call if no other caller waits for it. */
  readonly signal: AbortSignal;
  /** Makes the call under a signal of its own, which outlives that of the caller. */
  readonly call: (signal: AbortSignal) => Promise<ToolResult>;
  /** Receives errors of the store, which do not prevent the call. */
  readonly onError: (error: unknown) => void;
}

/** Keeps results of calls in a store; equal calls that run at the same time share one. */
export class ResultCache {
  private readonly running = new Map<string, SharedWork<CachedResult>>();

  constructor(private readonly settings: ResultCacheSettings) {}

  /**
   * The result of a key. Undefined if that of a concurrent caller failed: the caller makes a call of
   * its own then, whose failure has its own handling.
   * @throws the error of its own call, {@link CancelledError}
   */
  async get(key: string, caller: CacheCaller): Promise<CachedResult | undefined> {
    const shared = this.running.get(key);
    if (!shared) return this.start(key, caller).wait(caller.signal);
    try {
      const { result, source } = await shared.wait(caller.signal);
      if (result.isError) return undefined;
      return { result, source: source === 'store' ? source : 'shared' };
    } catch (error) {
      if (caller.signal.aborted) throw error;
      return undefined;
    }
  }

  private start(key: string, caller: CacheCaller): SharedWork<CachedResult> {
    const remove = (): void => {
      if (this.running.get(key) === work) this.running.delete(key);
    };
    const work = new SharedWork(
      (signal) => this.readOrCall(key, caller, signal).finally(remove),
      remove,
    );
    this.running.set(key, work);
    return work;
  }

  private async readOrCall(
    key: string,
    caller: CacheCaller,
    signal: AbortSignal,
  ): Promise<CachedResult> {
    const stored = await this.read(key).catch(caller.onError);
    if (stored) return { result: stored, source: 'store' };
    const result = await caller.call(signal);
    if (!result.isError) await this.write(key, result).catch(caller.onError);
    return { result, source: 'own' };
  }

  private async read(key: string): Promise<ToolResult | undefined> {
    const text = await this.settings.store.get(key);
    return text === undefined ? undefined : decodeResult(text);
  }

  private async write(key: string, result: ToolResult): Promise<void> {
    const { store, ttl, maxLength } = this.settings;
    const encoded = encodeWhole(result);
    if (encoded !== undefined && encoded.length <= maxLength)
      await store.set(key, encoded, { ttl });
  }
}

/** A hit must not differ from a miss: undefined if a part of the result would be lost. */
function encodeWhole(result: ToolResult): string | undefined {
  try {
    const { text, isWhole } = encodeResult(result);
    return isWhole ? text : undefined;
  } catch (error) {
    if (hasCode(error, 'invalid_argument')) return undefined;
    throw error;
  }
}
