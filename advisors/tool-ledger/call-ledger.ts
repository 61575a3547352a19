import type { ToolResult } from '../../src/core/chat/chat-event.js';
import { backoffDelay, delay } from '../../src/core/internal/backoff.js';
import type { Cancellable } from '../../src/core/internal/cancellation.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import { Lease, setOnce } from '../../src/stores/key-value/lease.js';
import { decodeResult, encodeResult } from '../../src/core/tool/result-codec.js';

/** Settings of a {@link CallLedger}. */
export interface CallLedgerSettings {
  readonly store: KeyValueStore;
  /** Milliseconds after which the call of a process that has ended counts as interrupted. */
  readonly lease: number;
  /** Lifetime of a record in milliseconds. */
  readonly ttl: number;
}

/**
 * State of a call: `new` has not run, `interrupted` may have run, `settled` has run. The first two are
 * this caller's to run, until the entry is settled, forgotten or left.
 */
export type LedgerCall =
  | { readonly state: 'new' | 'interrupted'; readonly entry: LedgerEntry }
  | { readonly state: 'settled'; readonly result: ToolResult };

const POLL = { first: 20, max: 1_000, jitter: 0.5 };
const SETTLED = 'settled ';

/**
 * Records calls in a store: `pending` before a call runs, `settled` with its result afterwards. A
 * lease beside the record is there as long as its process runs the call.
 */
export class CallLedger {
  constructor(private readonly settings: CallLedgerSettings) {}

  /**
   * Looks a call up, and makes a new one pending. While another process or turn runs it, waits.
   * @throws the error of the store, {@link CancelledError}
   */
  async begin(key: string, run: Cancellable): Promise<LedgerCall> {
    const { store, lease: lifetime } = this.settings;
    const recordKey = `tool-call ${key}`;
    for (let attempt = 0; ; attempt++) {
      const lease = await Lease.acquire({ store, key: `${recordKey} lease`, lifetime }, run);
      const call = lease
        ? await this.beginOwn(recordKey, lease)
        : settledCall(await store.get(recordKey));
      if (call) return call;
      await delay(backoffDelay(attempt, POLL), run);
    }
  }

  /** Undefined if the lifetime of the record has just ended. */
  private async beginOwn(key: string, lease: Lease): Promise<LedgerCall | undefined> {
    const entry = new LedgerEntry(this.settings, key, lease);
    try {
      if (await entry.begin(null)) return { state: 'new', entry };
      const record = (await this.settings.store.get(key)) ?? null;
      const settled = settledCall(record);
      // its owner has no lease any more; the record stays pending, now of this owner
      if (!settled && record !== null && (await entry.begin(record)))
        return { state: 'interrupted', entry };
      await entry.leave();
      return settled;
    } catch (error) {
      // the tool has not run, also if the store has made the call pending
      await entry.forget().catch(() => undefined);
      throw error;
    }
  }
}

function settledCall(record: string | null | undefined): LedgerCall | undefined {
  if (!record?.startsWith(SETTLED)) return undefined;
  return { state: 'settled', result: decodeResult(record.slice(SETTLED.length)) };
}

/** A pending call of this process. */
export class LedgerEntry {
  private readonly pending: string;
  private isNew = true;

  constructor(
    private readonly settings: CallLedgerSettings,
    private readonly key: string,
    private readonly lease: Lease,
  ) {
    this.pending = `pending ${lease.token}`;
  }

  /** Makes the call pending; false if the record is another one than expected. */
  begin(expected: string | null): Promise<boolean> {
    const { store, ttl } = this.settings;
    this.isNew = expected === null;
    return setOnce(store, this.key, this.pending, { ttl, expected });
  }

  /**
   * Stores the result; false if the record is another owner's by now, or its lifetime is over.
   * @throws the error of the store, {@link InvalidArgumentError} if JSON cannot hold the content
   */
  async settle(result: ToolResult): Promise<boolean> {
    try {
      const { store, ttl } = this.settings;
      const record = SETTLED + encodeResult(result).text;
      return await setOnce(store, this.key, record, { ttl, expected: this.pending });
    } finally {
      await this.leave();
    }
  }

  /**
   * Ends an attempt without an effect: a new call may run again, and one that an earlier attempt has
   * left is still interrupted.
   */
  async forget(): Promise<boolean> {
    try {
      return (
        !this.isNew || (await this.settings.store.delete(this.key, { expected: this.pending }))
      );
    } finally {
      await this.leave();
    }
  }

  /** Leaves the call pending without an owner: it counts as interrupted. */
  leave(): Promise<void> {
    return this.lease.release();
  }
}
