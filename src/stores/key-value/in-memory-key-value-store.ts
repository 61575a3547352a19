import { LimitExceededError } from '../../core/errors/errors.js';
import { checkOptions, integer, oneOf } from '../../core/internal/options.js';
import { addTo, CheckedKeyValueStore, type Counters } from './checked-key-value-store.js';

/** Options of an {@link InMemoryKeyValueStore}. */
export interface InMemoryKeyValueStoreOptions {
  /** Maximum number of keys whose lifetime is not over, >= 1. @default 100_000 */
  readonly maxKeys?: number | undefined;
  /**
   * Behaviour at `maxKeys`: `throw`, since an evicted lock would be free, or `evict` the values that
   * were written first, for caches.
   * @default 'throw'
   */
  readonly onFull?: 'throw' | 'evict' | undefined;
}

interface Entry<T> {
  readonly value: T;
  /** End of the lifetime, in milliseconds since the epoch. */
  readonly end: number;
}

/** Milliseconds between two cleanings of a store that is full. */
const CLEAN_INTERVAL = 1_000;

type Entries<T> = Map<string, Entry<T>>;

/** Keeps states in this process. */
export class InMemoryKeyValueStore extends CheckedKeyValueStore {
  private readonly values: Entries<string> = new Map();
  private readonly counters: Entries<Record<string, number>> = new Map();
  private readonly maxKeys: number;
  private readonly evicts: boolean;
  /** Number of keys at which those whose lifetime is over are deleted. */
  private cleanAt = 1_000;
  /** Time from which a full store does so again. */
  private cleanAfter = 0;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: InMemoryKeyValueStoreOptions = {}) {
    super();
    checkOptions('InMemoryKeyValueStore', options, {
      maxKeys: integer(1),
      onFull: oneOf('throw', 'evict'),
    });
    this.maxKeys = options.maxKeys ?? 100_000;
    this.evicts = options.onFull === 'evict';
  }

  protected readValue(key: string): string | undefined {
    return living(this.values, key)?.value;
  }

  protected writeValue(
    key: string,
    value: string,
    ttl: number,
    expected: string | null | undefined,
  ): boolean {
    const current = living(this.values, key)?.value ?? null;
    if (expected !== undefined && expected !== current) return false;
    if (current === null) this.makeRoom();
    else if (this.evicts) this.values.delete(key); // it is now the last one written
    this.values.set(key, { value, end: Date.now() + ttl });
    return true;
  }

  protected deleteValue(key: string, expected: string | undefined): boolean {
    const current = living(this.values, key)?.value;
    if (current === undefined || (expected !== undefined && expected !== current)) return false;
    return this.values.delete(key);
  }

  protected readCounters(key: string): Counters | undefined {
    return living(this.counters, key)?.value;
  }

  protected addCounters(key: string, amounts: Counters, ttl: number): Counters {
    const current = living(this.counters, key);
    if (current) return addTo(current.value, amounts);
    this.makeRoom();
    const value = {};
    this.counters.set(key, { value, end: Date.now() + ttl });
    return addTo(value, amounts);
  }

  /** An operation in this process is done or not begun. */
  protected isRefused(): boolean {
    return true;
  }

  /** @throws {@link LimitExceededError} if there are too many keys: an evicted lock would be free */
  private makeRoom(): void {
    const isFull = this.size >= this.maxKeys;
    if (this.size >= this.cleanAt || (isFull && Date.now() >= this.cleanAfter)) this.clean();
    if (this.size < this.maxKeys) return;
    const [oldest] = this.values.keys();
    if (this.evicts && oldest !== undefined) return void this.values.delete(oldest);
    const { maxKeys: value, size: spent } = this;
    const details = { limit: 'keys', value, spent, option: 'maxKeys' };
    throw new LimitExceededError(`The store has ${value} keys`, details);
  }

  /** Deletes all keys whose lifetime is over; takes milliseconds, so a full store must not do it for each key. */
  private clean(): void {
    for (const key of this.values.keys()) living(this.values, key);
    for (const key of this.counters.keys()) living(this.counters, key);
    this.cleanAt = Math.max(1_000, 2 * this.size);
    this.cleanAfter = Date.now() + CLEAN_INTERVAL;
  }

  private get size(): number {
    return this.values.size + this.counters.size;
  }
}

/** The entry of a key whose lifetime is not over. */
function living<T>(entries: Map<string, Entry<T>>, key: string): Entry<T> | undefined {
  const entry = entries.get(key);
  if (entry && entry.end <= Date.now()) entries.delete(key);
  return entries.get(key);
}
