import { AdvisorChainError, TurnLogError } from '../../core/errors/errors.js';
import {
  checkOption,
  checkOptions,
  ID,
  integer,
  oneOf,
  required,
  rule,
  TEXT,
} from '../../core/internal/options.js';
import type { BegunRun, LogBatch, LogPage, LogPosition, NewRun, TurnLog } from './turn-log.js';

const STORABLE = /^[^\0\p{Surrogate}]*$/u;
const isStorable = (text: unknown, max: number): boolean =>
  typeof text === 'string' && text.length <= max && STORABLE.test(text);

/** Characters of an entry at most: tool results of more are for a file. */
const MAX_ENTRY = 4_000_000;
const KEY = rule(
  'a non-blank string of at most 768 characters, without NUL and unpaired surrogates',
  (key) => isStorable(key, 768) && (key as string).trim() !== '',
);
const ENTRIES = rule(
  `an array of at most 1,000 strings of at most ${MAX_ENTRY} characters, without NUL and unpaired surrogates`,
  (entries) =>
    Array.isArray(entries) &&
    entries.length <= 1_000 &&
    entries.every((entry) => isStorable(entry, MAX_ENTRY)),
);
const TIME = required(
  rule(
    'a number of milliseconds > 0 and <= 1e13',
    (time) => typeof time === 'number' && time > 0 && time <= 1e13,
  ),
);
const TIMES = { lease: TIME, ttl: TIME };
const GENERATION = required(integer(1));
const COUNT = required(integer(0));
const RUN_RULES = { writer: required(TEXT), turnId: ID, ...TIMES };
const BATCH_RULES = {
  generation: GENERATION,
  writer: required(TEXT),
  after: COUNT,
  entries: required(ENTRIES),
  end: oneOf('complete', 'failed'),
  ...TIMES,
};
const POSITION_RULES = { generation: integer(1), after: COUNT, limit: required(integer(1)) };

/** A log that checks what it is given, and names what failed; the subclass stores. */
export abstract class CheckedTurnLog implements TurnLog {
  async begin(key: string, run: NewRun): Promise<BegunRun> {
    checkOption('begin', 'key', key, KEY);
    checkOptions('begin', run, RUN_RULES);
    return this.attempt(key, () => this.beginRun(key, withWholeTimes(run)));
  }

  async append(key: string, batch: LogBatch): Promise<{ readonly isStopped: boolean } | undefined> {
    checkOption('append', 'key', key, KEY);
    checkOptions('append', batch, BATCH_RULES);
    return this.attempt(key, () => this.appendEntries(key, withWholeTimes(batch)));
  }

  async read(key: string, position: LogPosition): Promise<LogPage | undefined> {
    checkOption('read', 'key', key, KEY);
    checkOptions('read', position, POSITION_RULES);
    return this.attempt(key, () => this.readEntries(key, position));
  }

  async stop(key: string, generation: number): Promise<boolean> {
    checkOption('stop', 'key', key, KEY);
    checkOption('stop', 'generation', generation, GENERATION);
    return this.attempt(key, () => this.stopRun(key, generation));
  }

  /** Runs an operation at once, so that operations of a log in memory cannot interleave. */
  private async attempt<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof AdvisorChainError) throw cause;
      throw new TurnLogError({ reason: 'store', key, cause });
    }
  }

  protected abstract beginRun(key: string, run: NewRun): BegunRun | Promise<BegunRun>;
  protected abstract appendEntries(
    key: string,
    batch: LogBatch,
  ): ReturnType<TurnLog['append']> | Awaited<ReturnType<TurnLog['append']>>;
  protected abstract readEntries(
    key: string,
    position: LogPosition,
  ): LogPage | undefined | Promise<LogPage | undefined>;
  protected abstract stopRun(key: string, generation: number): boolean | Promise<boolean>;
}

/** Databases count whole milliseconds. */
function withWholeTimes<T extends { readonly lease: number; readonly ttl: number }>(times: T): T {
  return { ...times, lease: Math.ceil(times.lease), ttl: Math.ceil(times.ttl) };
}
