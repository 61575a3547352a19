import {
  AdvisorChainError,
  KeyValueError,
  type FailedOperation,
} from '../../core/errors/errors.js';
import { checkOption, checkOptions, isPlainObject, rule } from '../../core/internal/options.js';
import type { KeyValueOptions, KeyValueStore } from './key-value-store.js';

/** Counters of a key by their names. */
export type Counters = Readonly<Record<string, number>>;

const STORABLE = /^[^\0\p{Surrogate}]*$/u;
const isStorable = (text: unknown): text is string =>
  typeof text === 'string' && STORABLE.test(text);

const KEY = rule(
  'a non-blank string of at most 768 characters, without NUL and unpaired surrogates',
  (key) => isStorable(key) && key.length <= 768 && key.trim() !== '',
);
const VALUE = rule('a string without NUL and unpaired surrogates', isStorable);
const EXPECTED = rule('a string without NUL and unpaired surrogates, or null', (value) => {
  return value === null || isStorable(value);
});
const TTL = rule(
  'a number of milliseconds > 0 and <= 1e13, or Infinity',
  (ttl) => typeof ttl === 'number' && ttl > 0 && (ttl <= 1e13 || ttl === Infinity),
);
const AMOUNTS = rule(
  'an object of finite numbers, whose names have neither NUL nor unpaired surrogates',
  (amounts) =>
    isPlainObject(amounts) &&
    Object.keys(amounts).every((name) => Number.isFinite(amounts[name]) && isStorable(name)),
);

/** A store that checks what it is given, and names what failed; the subclass stores. */
export abstract class CheckedKeyValueStore implements KeyValueStore {
  async get(key: string): Promise<string | undefined> {
    checkOption('get', 'key', key, KEY);
    return this.attempt('get', key, () => this.readValue(key));
  }

  async set(key: string, value: string, options: KeyValueOptions = {}): Promise<boolean> {
    checkOption('set', 'key', key, KEY);
    checkOption('set', 'value', value, VALUE);
    checkOptions('set', options, { ttl: TTL, expected: EXPECTED });
    const { expected } = options;
    const ttl = ttlOf(options);
    return this.attempt('set', key, () => this.writeValue(key, value, ttl, expected));
  }

  async delete(key: string, options: Pick<KeyValueOptions, 'expected'> = {}): Promise<boolean> {
    checkOption('delete', 'key', key, KEY);
    checkOptions('delete', options, { expected: EXPECTED });
    const { expected } = options;
    if (expected === null) return false;
    return this.attempt('delete', key, () => this.deleteValue(key, expected));
  }

  async add<Name extends string>(
    key: string,
    amounts: Readonly<Record<Name, number>>,
    options: Pick<KeyValueOptions, 'ttl'> = {},
  ): Promise<Readonly<Record<Name, number>>> {
    checkOption('add', 'key', key, KEY);
    checkOption('add', 'amounts', amounts, AMOUNTS);
    checkOptions('add', options, { ttl: TTL });
    const ttl = ttlOf(options);
    const names = Object.keys(amounts) as Name[];
    const isReading = names.every((name) => amounts[name] === 0);
    const sums = await this.attempt('add', key, () =>
      isReading ? this.readCounters(key) : this.addCounters(key, amounts, ttl),
    );
    const named = {} as Record<Name, number>;
    for (const name of names) setCounter(named, name, counterOf(sums, name));
    return named;
  }

  /** Runs an operation at once, so that operations of a store in memory cannot interleave. */
  private async attempt<T>(
    operation: FailedOperation['operation'],
    key: string,
    work: () => T | Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof AdvisorChainError) throw cause;
      const isRefused = operation === 'get' || this.isRefused(cause);
      throw new KeyValueError({
        operation,
        key,
        outcome: isRefused ? 'unchanged' : 'unknown',
        cause,
      });
    }
  }

  protected abstract readValue(key: string): string | undefined | Promise<string | undefined>;
  /** @param ttl whole milliseconds, or `Infinity` */
  protected abstract writeValue(
    key: string,
    value: string,
    ttl: number,
    expected: string | null | undefined,
  ): boolean | Promise<boolean>;
  protected abstract deleteValue(
    key: string,
    expected: string | undefined,
  ): boolean | Promise<boolean>;
  /** All counters of a key; undefined if it has none, or their lifetime is over. */
  protected abstract readCounters(
    key: string,
  ): Counters | undefined | Promise<Counters | undefined>;
  /** Adds amounts, and returns at least the sums of these. */
  protected abstract addCounters(
    key: string,
    amounts: Counters,
    ttl: number,
  ): Counters | Promise<Counters>;
  /** Returns whether an error of the client proves that nothing was written. */
  protected abstract isRefused(error: unknown): boolean;
}

function ttlOf({ ttl = Infinity }: Pick<KeyValueOptions, 'ttl'>): number {
  return Math.ceil(ttl);
}

/** Adds amounts to the counters of a key; returns the sums of these. */
export function addTo(counters: Record<string, number>, amounts: Counters): Counters {
  const sums = {};
  for (const name of Object.keys(amounts)) {
    const sum = counterOf(counters, name) + (amounts[name] ?? 0);
    setCounter(counters, name, sum);
    setCounter(sums, name, sum);
  }
  return sums;
}

function counterOf(counters: Counters | undefined, name: string): number {
  return (counters && Object.hasOwn(counters, name) ? counters[name] : 0) ?? 0;
}

function setCounter(counters: Record<string, number>, name: string, value: number): void {
  // an assignment would set the prototype
  if (name === '__proto__') Object.defineProperty(counters, name, { value, ...PROPERTY });
  else counters[name] = value;
}

const PROPERTY = { enumerable: true, configurable: true, writable: true };
