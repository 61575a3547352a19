import { TurnLogError } from '../../core/errors/errors.js';
import type { LogSettings } from './log-settings.js';
import { StoreAttempts } from './store-attempts.js';

/** Entries and characters of one write at most, and of the entries that wait when the run is asked to pause. */
const MAX_ENTRIES = 500;
const MAX_CHARACTERS = 1_000_000;

/** The run that a writer logs. */
export interface LoggedRun {
  readonly key: string;
  readonly writer: string;
  readonly generation: number;
  /** Number of entries that the log has. */
  readonly length: number;
}

/** Listener for requests to end the run; each is called once at most. */
export interface WriterListener {
  readonly onStop: () => void;
  /** The log cannot be written any more. */
  readonly onLost: (error: unknown) => void;
}

/** Appends the entries of one run in order: several in one write, and one write at a time. */
export class LogWriter {
  private readonly waiting: string[] = [];
  private characters = 0;
  private length: number;
  private lastWrite = -Infinity;
  private end: 'complete' | 'failed' | undefined;
  private isDone = false;
  private isStopped = false;
  private wake: (() => void) | undefined;
  private pause: { readonly promise: Promise<void>; readonly end: () => void } | undefined;
  private readonly attempts: StoreAttempts;

  constructor(
    private readonly run: LoggedRun,
    private readonly settings: LogSettings,
    private readonly listener: WriterListener,
  ) {
    this.length = run.length;
    this.attempts = new StoreAttempts(settings.recovery);
  }

  /** Writes until the run has ended, or cannot be logged any more; never rejects. */
  async write(): Promise<void> {
    try {
      while (!this.isDone) {
        await this.untilDue();
        await this.append();
      }
    } catch (error) {
      this.isDone = true;
      this.listener.onLost(error);
    }
    this.pause?.end();
  }

  add(entry: string): void {
    this.waiting.push(entry);
    this.characters += entry.length;
    if (this.waiting.length === 1 || this.isFull) this.wake?.();
  }

  /** Ends the log with an entry. */
  finish(end: 'complete' | 'failed', entry: string): void {
    this.end = end;
    this.add(entry);
    this.wake?.();
  }

  /** Undefined, or resolves when there is room for more entries. */
  ready(): Promise<void> | undefined {
    if (!this.isFull || this.isDone) return undefined;
    this.pause ??= newPause();
    return this.pause.promise;
  }

  private get isFull(): boolean {
    return this.waiting.length >= MAX_ENTRIES || this.characters >= MAX_CHARACTERS;
  }

  /** The first entry after a silence is written at once, later ones together; without any, the lease is renewed. */
  private async untilDue(): Promise<void> {
    for (;;) {
      const { lease, writeInterval } = this.settings;
      const isUrgent = this.isFull || this.end !== undefined;
      const renewal = Math.min(lease / 3, 1_000);
      const interval = isUrgent ? 0 : this.waiting.length > 0 ? writeInterval : renewal;
      const left = this.lastWrite + interval - performance.now();
      if (left <= 0) return;
      await this.sleep(left);
    }
  }

  private sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.wake = undefined;
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      this.wake = end;
    });
  }

  private async append(): Promise<void> {
    const { log, watch, lease, ttl } = this.settings;
    const { key, generation, writer } = this.run;
    const entries = this.nextEntries();
    const end = entries.length === this.waiting.length ? this.end : undefined;
    const batch = { generation, writer, after: this.length, entries, end, lease, ttl };
    this.lastWrite = performance.now();
    let answer;
    try {
      answer = await log.append(key, batch);
    } catch (error) {
      const wait = this.attempts.waitAfter(error);
      return new Promise((resolve) => void setTimeout(resolve, wait));
    }
    if (!answer) throw new TurnLogError({ reason: 'lost', key });
    this.attempts.succeed();
    this.remove(entries);
    this.isDone = end !== undefined;
    if (entries.length > 0) watch.notify(key);
    if (answer.isStopped && !this.isStopped) this.listener.onStop();
    this.isStopped ||= answer.isStopped;
  }

  private nextEntries(): readonly string[] {
    let characters = 0;
    let count = 0;
    for (; count < Math.min(this.waiting.length, MAX_ENTRIES); count++) {
      characters += (this.waiting[count] as string).length;
      if (count > 0 && characters > MAX_CHARACTERS) break;
    }
    return this.waiting.slice(0, count);
  }

  private remove(entries: readonly string[]): void {
    this.waiting.splice(0, entries.length);
    for (const { length } of entries) this.characters -= length;
    this.length += entries.length;
    if (this.isFull) return;
    this.pause?.end();
    this.pause = undefined;
  }
}

function newPause(): { readonly promise: Promise<void>; readonly end: () => void } {
  let end = (): void => undefined;
  const promise = new Promise<void>((resolve) => (end = resolve));
  return { promise, end };
}
