import type { ToolResult } from '../../src/core/chat/chat-event.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { SharedWork } from '../../src/core/internal/shared-work.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import { decodeResult, encodeResult } from '../../src/core/tool/result-codec.js';

/** Settings of a {@link ResultCache}. */
export interface ResultCacheSettings {
  readonly store: KeyValueStore;
  /** Lifetime of a result in milliseconds. */
  readonly ttl: number;
  /** Maximum length of an encoded result. */
  readonly maxLength: number;
}

/** A result of one caller alone, and its source: the store, its own call, or a concurrent caller's. */
export interface CachedResult {
  readonly result: ToolResult;
  readonly source: 'store' | 'own' | 'shared';
}

/** The outcome of a call: its text, of which each caller makes a result of its own. */
type SharedResult = { readonly source: 'store' | 'own' } & (
  | { readonly text: string }
  /** A failure, or a result that JSON cannot restore: for the caller that made the call. */
  | { readonly result: ToolResult }
);

/** One caller of a {@link ResultCache}. */
export interface CacheCaller {
  /** Ends the wait of this caller, and the call if no other caller waits for it. */
  readonly signal: AbortSignal;
  /** Makes the call under a signal of its own, which outlives the caller's. */
  readonly call: (signal: AbortSignal) => Promise<ToolResult>;
  /** Receives errors of the store, which do not prevent the call. */
  readonly onError: (error: unknown) => void;
}

/** Keeps results of calls in a store; equal calls that run at the same time share one. */
export class ResultCache {
  private readonly running = new Map<string, SharedWork<SharedResult>>();

  constructor(private readonly settings: ResultCacheSettings) {}

  /**
   * The result of a key. Undefined if the call of a concurrent caller failed, or has a result that
   * cannot be shared: the caller then makes its own, with its own handling of failures.
   * @throws the error of its own call, {@link CancelledError}
   */
  async get(key: string, caller: CacheCaller): Promise<CachedResult | undefined> {
    const running = this.running.get(key);
    if (!running) {
      const own = await this.start(key, caller).wait(caller.signal);
      return { result: 'text' in own ? decodeResult(own.text) : own.result, source: own.source };
    }
    try {
      const shared = await running.wait(caller.signal);
      if (!('text' in shared)) return undefined;
      const source = shared.source === 'store' ? 'store' : 'shared';
      return { result: decodeResult(shared.text), source };
    } catch (error) {
      if (caller.signal.aborted) throw error;
      return undefined;
    }
  }

  private start(key: string, caller: CacheCaller): SharedWork<SharedResult> {
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
  ): Promise<SharedResult> {
    const stored = await this.read(key).catch(caller.onError);
    if (stored !== undefined) return { text: stored, source: 'store' };
    const result = await caller.call(signal);
    const text = result.isError ? undefined : encodeWhole(result);
    if (text === undefined) return { result, source: 'own' };
    if (text.length <= this.settings.maxLength)
      await this.settings.store.set(key, text, { ttl: this.settings.ttl }).catch(caller.onError);
    return { text, source: 'own' };
  }

  /** @throws the error of the store, or one of a text that is no result */
  private async read(key: string): Promise<string | undefined> {
    const text = await this.settings.store.get(key);
    if (text !== undefined) decodeResult(text);
    return text;
  }
}

/** Undefined if a part of the result would be lost. */
function encodeWhole(result: ToolResult): string | undefined {
  try {
    const { text, isWhole } = encodeResult(result);
    return isWhole ? text : undefined;
  } catch (error) {
    if (hasCode(error, 'invalid_argument')) return undefined;
    throw error;
  }
}
