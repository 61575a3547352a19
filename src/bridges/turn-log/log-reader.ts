import type { ChatEvent } from '../../core/chat/chat-event.js';
import { TurnLogError } from '../../core/errors/errors.js';
import type { LogPage } from '../../stores/turn-logs/turn-log.js';
import type { EventReader } from '../http/event-source.js';
import { toHttpError, withHttpError } from '../http/http-error.js';
import { decodeEntry } from './event-codec.js';
import { eventId, type SeenEvent } from './event-id.js';
import type { LogSettings } from './log-settings.js';
import type { LogListener } from './log-watch.js';
import { StoreAttempts } from './store-attempts.js';

/** Entries of one read. */
const LIMIT = 100;
/** Milliseconds between two reads of a run that another process writes: twice as long each time without entries. */
const WAITS = { first: 20, max: 500 };
/**
 * Milliseconds for which a reader sees no writer until the run counts as abandoned: after a restart of the
 * store, the writer needs a moment.
 */
const GRACE = 1_000;
/** Milliseconds between two reads of a run of this process, which wakes its readers. */
const WAIT_OF_OWN = 1_000;
const DONE: IteratorResult<never> = { done: true, value: undefined };

/** A run to read. */
export interface ReadRun {
  /** Key in the log. */
  readonly logKey: string;
  /** Key of the application, for errors. */
  readonly key: string;
  readonly generation: number;
  /** The last event that the client has. */
  readonly seen?: SeenEvent | undefined;
  /** True while this process writes the run. */
  readonly isOwn: () => boolean;
}

/** Reads a run from its first event on, and waits for those to come. */
export class LogReader implements EventReader {
  private entries: readonly string[] = [];
  private position = 0;
  /** Position of the first one of {@link entries}. */
  private start = 0;
  private hasEnded = false;
  private listener: LogListener | undefined;
  private wait: number = WAITS.first;
  /** Time since which the reader sees no writer. */
  private silentSince: number | undefined;
  private readonly attempts: StoreAttempts;
  id: string | undefined;

  constructor(
    private readonly run: ReadRun,
    private readonly settings: LogSettings,
  ) {
    this.attempts = new StoreAttempts(settings.recovery);
  }

  get isResumed(): boolean {
    return this.run.seen !== undefined;
  }

  get seen(): number {
    const { seen } = this.run;
    if (!seen || this.position > seen.position || this.id === undefined) return 0;
    return this.position < seen.position ? Infinity : seen.frames;
  }

  /** @throws TurnLogError if the run has failed or was abandoned */
  async next(): Promise<IteratorResult<ChatEvent>> {
    while (!this.hasEnded) {
      const entry = this.entries[this.position - this.start];
      if (entry !== undefined) return this.deliver(entry);
      await this.load();
    }
    return DONE;
  }

  return(): Promise<IteratorResult<ChatEvent>> {
    this.hasEnded = true;
    this.listener?.wake();
    return Promise.resolve(DONE);
  }

  private deliver(text: string): IteratorResult<ChatEvent> {
    const { generation, key } = this.run;
    this.id = eventId(generation, ++this.position);
    const entry = decodeEntry(text);
    if (entry.type !== 'log-end' && entry.type !== 'log-error') return { value: entry };
    this.hasEnded = true;
    if (entry.type === 'log-end') return DONE;
    const { error } = entry;
    throw withHttpError(new TurnLogError({ reason: 'failed', key, shown: error.message }), error);
  }

  private async load(): Promise<void> {
    const listener = this.settings.watch.listen(this.run.logKey);
    this.listener = listener;
    try {
      const page = await this.read(listener);
      if (!page || this.hasEnded) return;
      if (page === 'gone' || this.isAbandoned(page)) throw this.abandoned();
      if (page.entries.length === 0) return await listener.wait(this.nextWait());
      this.entries = page.entries;
      this.start = this.position;
      this.wait = WAITS.first;
    } finally {
      listener.close();
    }
  }

  /** Undefined, after a wait, while the store is away. */
  private async read(listener: LogListener): Promise<LogPage | 'gone' | undefined> {
    const { logKey, generation } = this.run;
    const position = { generation, after: this.position, limit: LIMIT };
    try {
      const page = await this.settings.log.read(logKey, position);
      this.attempts.succeed();
      return page ?? 'gone';
    } catch (error) {
      this.silentSince = undefined;
      if (!this.hasEnded) await listener.wait(this.attempts.waitAfter(error));
      return undefined;
    }
  }

  private nextWait(): number {
    if (this.run.isOwn()) return WAIT_OF_OWN;
    const { wait } = this;
    this.wait = Math.min(2 * wait, WAITS.max);
    return wait;
  }

  /** A durable turn may be continued. */
  private isAbandoned({ entries, silence, turnId }: LogPage): boolean {
    const limit = turnId === undefined ? 0 : this.settings.recovery;
    if (entries.length > 0 || silence <= limit) this.silentSince = undefined;
    else this.silentSince ??= performance.now();
    return this.silentSince !== undefined && performance.now() - this.silentSince >= GRACE;
  }

  /** The same for all readers. */
  private abandoned(): TurnLogError {
    const { key, generation } = this.run;
    this.hasEnded = true;
    this.id = undefined;
    const error = new TurnLogError({ reason: 'abandoned', key });
    return withHttpError(error, { ...toHttpError(error), id: `${generation}` });
  }
}
