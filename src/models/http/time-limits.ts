import { LimitExceededError, ModelTimeoutError } from '../../core/errors/errors.js';
import type { ReceivedDetails } from './http-error.js';

/** Time limits of a request in milliseconds. */
export interface TimeSettings {
  /** Time limit for a whole call, or for a stream to begin, retries included. */
  readonly timeout: number;
  /** Time limit from the headers of a stream to its first piece. */
  readonly firstChunkTimeout?: number;
  /** Time limit between two pieces of a stream, whatever they contain. */
  readonly idleTimeout?: number;
  /** Time limit for everything, from the request to the end of its answer. */
  readonly totalTimeout?: number;
}

/** Limits of the time without data: one at a time. */
type Silence = Exclude<keyof TimeSettings, 'totalTimeout'>;

/**
 * Time in milliseconds without data after which a finished answer ends. What may follow its finish
 * reason, usage and the end marker, comes at once.
 */
const TAIL_TIME = 2_000;
/** Delay of a timer in milliseconds that shows that the process was busy: data may have arrived meanwhile. */
const MAX_DELAY = 100;

/** The time limits of one request, all with one timer. */
export class TimeLimits {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private silence: Silence = 'timeout';
  private lastActivity: number;
  private start: number;
  private lastData: number;
  private finished = false;
  private ended = false;

  /** @param onExpired receives the option whose limit is reached */
  constructor(
    private readonly settings: TimeSettings,
    private readonly onExpired: (option: keyof TimeSettings) => void,
  ) {
    this.start = this.lastActivity = this.lastData = performance.now();
  }

  /** Begins to limit the time without data by an option. */
  limit(silence: Silence): void {
    this.silence = silence;
    this.touch();
    this.schedule();
  }

  /** Data arrived. The timer runs on: it compares the last activity when it fires. */
  touch(): void {
    this.lastActivity = this.lastData = performance.now();
  }

  /** Marks the answer as finished (only a trailer may follow) or as continuing. */
  finish(isFinished: boolean): void {
    this.lastData = performance.now();
    const wasFinished = this.finished;
    this.finished = isFinished;
    if (isFinished && !wasFinished) this.schedule();
  }

  /** Awaits the consumer, whose time does not count. */
  async pause(ready: Promise<void>): Promise<void> {
    const start = performance.now();
    clearTimeout(this.timer);
    await ready;
    this.start += performance.now() - start;
    this.limit('idleTimeout');
  }

  /** Ends all limits for good. */
  end(): void {
    this.ended = true;
    clearTimeout(this.timer);
  }

  private schedule(): void {
    if (this.ended) return;
    const { silence, settings } = this;
    const now = performance.now();
    const leftOfSilence = (settings[silence] ?? Infinity) - (now - this.lastActivity);
    const left = Math.min(leftOfSilence, this.leftOfTail(now));
    const leftOfAll = (settings.totalTimeout ?? Infinity) - (now - this.start);
    const next = Math.min(left, leftOfAll);
    clearTimeout(this.timer);
    if (next >= 1) this.timer = setTimeout(() => this.schedule(), toTimer(next));
    else this.onExpired(leftOfAll < left ? 'totalTimeout' : silence);
  }

  private leftOfTail(now: number): number {
    if (!this.finished) return Infinity;
    if (now - this.lastData > TAIL_TIME + MAX_DELAY) this.lastData = now;
    return TAIL_TIME - (now - this.lastData);
  }
}

/** Whole milliseconds in the range of `setTimeout`. */
export function toTimer(milliseconds: number): number {
  return Math.min(Math.ceil(milliseconds), 2 ** 31 - 1);
}

const FAILURES: Readonly<Record<Silence, string>> = {
  timeout: 'The response did not arrive',
  firstChunkTimeout: 'No data of the response arrived',
  idleTimeout: 'No further data of the response arrived',
};

/** The error of a time limit. An answer that took too long as a whole is not worth a retry. */
export function expiredError(
  option: keyof TimeSettings,
  value = Infinity,
  received?: ReceivedDetails,
): LimitExceededError | ModelTimeoutError {
  if (option !== 'totalTimeout')
    return new ModelTimeoutError(`${FAILURES[option]} within ${value} ms (option ${option}).`, {
      ...received,
      retryable: true,
      option,
    });
  const details = { limit: 'total-time', value, spent: value, option, ...received };
  return new LimitExceededError(`The model call exceeded ${value} ms`, details);
}
