import { LimitExceededError } from '../errors.js';
import { checkOptions, integer } from '../internal/options.js';
import type { KeyValueOptions, KeyValueStore } from './key-value-store.js';

/** Options of an {@link InMemoryKeyValueStore}. */
export interface InMemoryKeyValueStoreOptions {
  /** Maximum number of keys whose lifetime is not over, >= 1. @default 100_000 */
  readonly maxKeys?: number | undefined;
}

interface Entry<T> {
  readonly value: T;
  /** End of the lifetime, in milliseconds since the epoch. */
  readonly end: number;
}

type Entries<T> = Map<string, Entry<T>>;

/** Keeps states in this process. */
export class InMemoryKeyValueStore implements KeyValueStore {
  private readonly values: Entries<string> = new Map();
  private readonly counters: Entries<Readonly<Record<string, number>>> = new Map();
  private readonly maxKeys: number;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: InMemoryKeyValueStoreOptions = {}) {
    checkOptions('InMemoryKeyValueStore', options, { maxKeys: integer(1) });
    this.maxKeys = options.maxKeys ?? 100_000;
  }

  async get(key: string): Promise<string | undefined> {
    return living(this.values, key)?.value;
  }

  /** @throws {@link LimitExceededError} if there are too many keys: an evicted lock would be free */
  async set(key: string, value: string, options: KeyValueOptions = {}): Promise<boolean> {
    const { ttl = Infinity, expected } = options;
    const current = living(this.values, key)?.value ?? null;
    if (expected !== undefined && expected !== current) return false;
    if (current === null) this.makeRoom();
    this.values.set(key, { value, end: Date.now() + ttl });
    return true;
  }

  async delete(
    key: string,
    { expected }: Pick<KeyValueOptions, 'expected'> = {},
  ): Promise<boolean> {
    const current = living(this.values, key)?.value;
    if (current === undefined || (expected !== undefined && expected !== current)) return false;
    return this.values.delete(key);
  }

  /** @throws {@link LimitExceededError} if there are too many keys */
  async add<Name extends string>(
    key: string,
    amounts: Readonly<Record<Name, number>>,
    { ttl = Infinity }: Pick<KeyValueOptions, 'ttl'> = {},
  ): Promise<Readonly<Record<Name, number>>> {
    const current = living(this.counters, key);
    if (!current) this.makeRoom();
    const names = Object.keys(amounts) as Name[];
    const sums = Object.fromEntries(
      names.map((name) => [name, (current?.value[name] ?? 0) + amounts[name]]),
    ) as Record<Name, number>;
    this.counters.set(key, {
      value: { ...current?.value, ...sums },
      end: current?.end ?? Date.now() + ttl,
    });
    return sums;
  }

  private makeRoom(): void {
    if (this.size < this.maxKeys) return;
    for (const key of this.values.keys()) living(this.values, key);
    for (const key of this.counters.keys()) living(this.counters, key);
    if (this.size < this.maxKeys) return;
    const details = { limit: 'keys', value: this.maxKeys, option: 'maxKeys' } as const;
    throw new LimitExceededError(`The store has ${this.maxKeys} keys`, details);
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
