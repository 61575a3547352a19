import type { DurableEngine } from '../durable/durable-engine.js';
import type { DurableRun } from '../durable/durable-run.js';
import type { DurableEntries } from '../durable/in-memory-engine.js';
import { ChainError } from '../errors.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import type { JsonValue } from '../internal/json.js';
import { isPlainObject } from '../internal/options.js';

/** The steps of a turn that can pause, in memory: they become a part of its state. */
export class TurnJournal implements DurableEngine {
  /** A turn goes on days later, with a newer deployment, also if a text for the model has changed. */
  readonly keepsAnswers = true;
  private readonly values: Map<string, JsonValue>;
  private readonly unread: Set<string>;

  /** @param entries the steps of the turn so far */
  constructor(entries: DurableEntries = []) {
    this.values = new Map(entries);
    this.unread = new Set(this.values.keys());
  }

  get isReplaying(): boolean {
    return this.unread.size > 0;
  }

  entries(): DurableEntries {
    return [...this.values];
  }

  /** The steps without the model calls whose errors have ended the turn: they are made again. */
  entriesBeforeFailure(): DurableEntries {
    const entries = this.entries();
    const isModel = ([name]: DurableEntries[number]): boolean =>
      /(^|\/)(model|rate limit) \d/.test(name);
    const answered = entries.findLastIndex(
      (entry) => isModel(entry) && isPlainObject(entry[1]) && !('error' in entry[1]),
    );
    return entries.filter((entry, at) => at <= answered || !isModel(entry));
  }

  /** True if the call that comes next in a run has ended before: earlier ones may have its id. */
  hasEnded(durable: DurableRun, kind: string): boolean {
    for (let number = durable.countOf(kind) + 1; ; number++) {
      const value = this.values.get(durable.nameAt(kind, number));
      if (value === undefined) return false;
      if (!runsAgain(value)) return true;
    }
  }

  async step<T extends JsonValue>(name: string, run: () => Promise<T>): Promise<T> {
    this.unread.delete(name);
    if (this.values.has(name)) return this.values.get(name) as T;
    try {
      const value = await run();
      this.values.set(name, value);
      return value;
    } catch (error) {
      // a call that waits for a person has not begun: it runs from its beginning
      if (hasCode(error, 'turn_paused')) this.values.delete(`${name} begin`);
      throw error;
    }
  }

  async sleep(name: string, milliseconds: number): Promise<void> {
    const end = await this.step(name, async () => Date.now() + milliseconds);
    const left = end - Date.now();
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
  }

  waitFor(name: string): Promise<undefined> {
    const problem = `a turn that pauses cannot wait for "${name}": only a durable engine can`;
    return Promise.reject(new ChainError(problem));
  }
}

/** True for the end of a tool that has asked the user, or that a person lets run again. */
function runsAgain(value: JsonValue): boolean {
  if (!isPlainObject(value)) return false;
  const { error, isRepeated } = value;
  return isRepeated === true || (isPlainObject(error) && error['code'] === 'tool_question');
}
