/** Condition and lifetime of a change in a {@link KeyValueStore}. */
export interface KeyValueOptions {
  /**
   * Lifetime in milliseconds, > 0 and <= 1e13, or `Infinity`; for counters it begins with the first
   * amount that is not 0. @default Infinity
   */
  readonly ttl?: number | undefined;
  /** Changes the key only if it has exactly this value; null: only if it has none. @default always */
  readonly expected?: string | null | undefined;
}

/**
 * A place for small states that turns and processes share: locks, budgets, results of tools. Every
 * operation is atomic. The value and the counters of a key are independent.
 *
 * A key is a non-blank string of at most 768 characters. Keys, values and names of counters have
 * neither NUL nor unpaired surrogates: some databases cannot store them. Operations reject with a
 * {@link KeyValueError} if the store fails.
 */
export interface KeyValueStore {
  /** The value of a key; undefined if it has none, or its lifetime is over. */
  get(key: string): Promise<string | undefined>;
  /** Writes a value; resolves with false, and writes nothing, if `expected` does not hold. */
  set(key: string, value: string, options?: KeyValueOptions): Promise<boolean>;
  /** Deletes a value; resolves with false if there is none, or `expected` does not hold. */
  delete(key: string, options?: Pick<KeyValueOptions, 'expected'>): Promise<boolean>;
  /**
   * Adds amounts to counters of a key, and resolves with the sums of those that are named; a missing
   * counter is 0. Zeros alone read.
   */
  add<Name extends string>(
    key: string,
    amounts: Readonly<Record<Name, number>>,
    options?: Pick<KeyValueOptions, 'ttl'>,
  ): Promise<Readonly<Record<Name, number>>>;
}
