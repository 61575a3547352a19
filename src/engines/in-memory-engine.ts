import { InvalidArgumentError } from '../core/errors/errors.js';
import type { JsonValue } from '../core/internal/json.js';
import { checkOption, checkOptions, rule } from '../core/internal/options.js';
import { WAIT_RULES, type DurableEngine, type WaitOptions } from './durable-engine.js';

const ENTRIES = rule(
  'the entries of an engine, an array of [name, value]',
  (value) =>
    Array.isArray(value) &&
    value.every((entry) => Array.isArray(entry) && typeof entry[0] === 'string'),
);

/** Recorded steps by name; see {@link InMemoryDurableEngine.entries}. */
export type DurableEntries = readonly (readonly [name: string, value: JsonValue])[];

/**
 * Records the steps of one turn in memory, for tests and for states that an application stores. With
 * the entries of an earlier engine, the turn continues where that one was.
 */
export class InMemoryDurableEngine implements DurableEngine {
  /** Values as JSON text, so that nothing survives that a database would lose. */
  private readonly values: Map<string, string>;
  private readonly used = new Set<string>();
  /** Number of attempts of steps that were run, by name. */
  private readonly attempts = new Map<string, number>();
  private readonly waiting = new Map<string, (value: JsonValue) => void>();

  /** @throws {@link InvalidArgumentError} if the entries are invalid */
  constructor(entries: DurableEntries = []) {
    checkOption('InMemoryDurableEngine', 'entries', entries, ENTRIES);
    this.values = new Map(entries.map(([name, value]) => [name, JSON.stringify(value)]));
  }

  get isReplaying(): boolean {
    for (const name of this.values.keys()) if (!this.used.has(name)) return true;
    return false;
  }

  /** The recorded steps, in the order of their end: JSON, for another engine. */
  entries(): DurableEntries {
    return [...this.values].map(([name, text]) => [name, JSON.parse(text) as JsonValue]);
  }

  async step<T extends JsonValue>(name: string, run: (attempt?: number) => Promise<T>): Promise<T> {
    this.use(name);
    const known = this.values.get(name);
    if (known !== undefined) return JSON.parse(known) as T;
    const attempt = (this.attempts.get(name) ?? 0) + 1;
    this.attempts.set(name, attempt);
    try {
      const value = await run(attempt);
      this.record(name, value);
      return value;
    } catch (error) {
      this.used.delete(name); // may be run again
      throw error;
    }
  }

  async sleep(name: string, milliseconds: number): Promise<void> {
    const end = await this.step(name, async () => Date.now() + milliseconds);
    const left = end - Date.now();
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
  }

  async waitFor(name: string, options: WaitOptions = {}): Promise<JsonValue | undefined> {
    checkOptions('waitFor', options, WAIT_RULES);
    const { timeout = Infinity } = options;
    const key = `wait ${name}`;
    const limit = timeout === Infinity ? null : Date.now() + timeout;
    const end = await this.step(`${key} end`, async () => limit);
    if (!this.values.has(key)) this.record(key, await this.sentOrExpired(name, end));
    this.used.add(key);
    return unwrap(JSON.parse(this.values.get(key) as string) as readonly JsonValue[]);
  }

  /** Sends the value that the turn waits for, or will wait for; false if it has one already. */
  send(name: string, value: JsonValue): boolean {
    const key = `wait ${name}`;
    if (this.values.has(key)) return false;
    this.record(key, [value]);
    this.waiting.get(name)?.(value);
    return true;
  }

  private sentOrExpired(name: string, end: number | null): Promise<readonly JsonValue[]> {
    return new Promise((resolve) => {
      const timer =
        end === null ? undefined : setTimeout(() => settle([]), Math.max(0, end - Date.now()));
      const settle = (value: readonly JsonValue[]): void => {
        clearTimeout(timer);
        this.waiting.delete(name);
        resolve(value);
      };
      this.waiting.set(name, (value) => settle([value]));
    });
  }

  private use(name: string): void {
    if (this.used.has(name))
      throw new InvalidArgumentError(
        `InMemoryDurableEngine: the turn has two steps named ${JSON.stringify(name)}`,
      );
    this.used.add(name);
  }

  /** The value of a step; undefined without one. */
  protected recorded(name: string): JsonValue | undefined {
    const text = this.values.get(name);
    return text === undefined ? undefined : (JSON.parse(text) as JsonValue);
  }

  /** Lets a step be made again. */
  protected forget(name: string): void {
    this.values.delete(name);
    this.used.delete(name);
  }

  private record(name: string, value: JsonValue | readonly JsonValue[]): void {
    this.values.set(name, JSON.stringify(value));
  }
}

const unwrap = ([value]: readonly JsonValue[]): JsonValue | undefined => value;
