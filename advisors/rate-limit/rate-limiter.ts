import { delay } from '../../src/core/internal/backoff.js';
import { untilCancelled, type Cancellable } from '../../src/core/internal/cancellation.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import { RateLimitError, type RateLimitMeasure } from '../../src/core/errors/errors.js';
import { RatePace } from './rate-pace.js';
import {
  RateWindow,
  type CountedAmounts,
  type RateAmounts,
  type RateLimits,
  type Reservation,
} from './rate-window.js';

export interface RateLimiterSettings {
  readonly store: KeyValueStore;
  readonly limits: RateLimits;
  /** Requests that may pass at once; undefined without a limit of requests. */
  readonly burst: number | undefined;
  /** Maximum time to wait, in milliseconds. */
  readonly maxWait: number;
}

/** A call that waits until the limits have room for it. */
export interface LimitedCall {
  /** Owner of the limits. */
  readonly key: string;
  readonly amounts: RateAmounts;
  readonly cancellation: Cancellable;
  /** Called if other calls of the key are before it. */
  readonly onLine: () => void;
  /** Called before each wait. */
  readonly onWait: (limit: RateLimitMeasure, milliseconds: number) => void;
}

/** The calls of one key in this process, in order of arrival. */
interface Line {
  /** Resolves when all calls so far have left. */
  tail: Promise<unknown> | undefined;
  calls: number;
  /** The calls that are not the first. */
  readonly waiting: Set<{ readonly deadline: number; readonly reject: (error: Error) => void }>;
  /** The limit that the first call waits for, and the time until which it does. */
  limit: RateLimitMeasure;
  resumeAt: number;
}

/** Lets calls of one key pass one after the other, as soon as the last minute has room. */
export class RateLimiter {
  private readonly lines = new Map<string, Line>();
  private readonly window: RateWindow;
  private readonly pace: RatePace | undefined;

  constructor(private readonly settings: RateLimiterSettings) {
    const { store, limits, burst = Infinity } = settings;
    this.window = new RateWindow(store, limits);
    const { requests = burst } = limits;
    if (burst < requests) this.pace = new RatePace(store, requests, burst);
  }

  /**
   * Waits until there is room for a call, and counts it.
   * @throws {@link RateLimitError} if that would take longer than `maxWait`; {@link CancelledError}
   */
  async admit(call: LimitedCall): Promise<CountedAmounts> {
    this.checkSize(call);
    const deadline = performance.now() + this.settings.maxWait;
    if (!this.lines.has(call.key)) {
      // a call that finds room, and no other that waits, does not have to stand in line
      const { counted } = await this.tryReserve(call);
      if (counted) return counted;
    }
    return this.inLine(call, deadline, (line) => this.reserve(call, line, deadline));
  }

  /** The state of a key for an inspector. */
  async inspect(key: string) {
    const { requests, tokens } = await this.window.used(key);
    const { limits } = this.settings;
    const amount = (limit: number | undefined, used: number) =>
      limit === undefined ? undefined : { limit, used, left: Math.max(0, limit - used) };
    return {
      requests: amount(limits.requests, requests),
      tokens: amount(limits.tokens, tokens),
      waiting: this.lines.get(key)?.calls ?? 0,
    };
  }

  /** Corrects the estimated tokens of a call by what it has used. */
  correct(counted: CountedAmounts, tokens: number): Promise<void> {
    return this.window.correct(counted, tokens);
  }

  /** @throws {@link RateLimitError} if the call alone exceeds a limit */
  private checkSize({ key, amounts }: LimitedCall): void {
    const { tokens: value = Infinity } = this.settings.limits;
    if (amounts.tokens > value)
      throw new RateLimitError({ limit: 'tokens', value, key, retryAfter: undefined });
  }

  /** Counts a call in its period before its minute: the period counts it even if the minute has no room. */
  private async tryReserve({ key, amounts }: LimitedCall): Promise<Reservation> {
    const wait = (await this.pace?.enter(key)) ?? 0;
    if (wait > 0) return { full: { limit: 'requests', wait } };
    return this.window.reserve(key, amounts);
  }

  private async reserve(call: LimitedCall, line: Line, deadline: number): Promise<CountedAmounts> {
    for (;;) {
      const result = await this.tryReserve(call);
      if (result.counted) return result.counted;
      const { limit, wait } = result.full;
      line.limit = limit;
      line.resumeAt = performance.now() + wait;
      for (const each of line.waiting)
        if (line.resumeAt > each.deadline) each.reject(this.errorOf(call.key, line));
      if (line.resumeAt > deadline) throw this.errorOf(call.key, line);
      call.onWait(limit, wait);
      await delay(wait, call.cancellation);
    }
  }

  /** Does work when the calls before have left. */
  private async inLine<T>(
    { key, cancellation, onLine }: LimitedCall,
    deadline: number,
    work: (line: Line) => Promise<T>,
  ): Promise<T> {
    const line = this.lines.get(key) ?? newLine();
    const { tail: earlier } = line;
    const { promise: mine, leave } = this.enter(key, line);
    line.tail = earlier ? earlier.then(() => mine) : mine;
    try {
      if (earlier) onLine();
      if (earlier) await untilCancelled(this.before(deadline, earlier, key, line), cancellation);
      return await work(line);
    } finally {
      leave();
    }
  }

  private enter(key: string, line: Line): { promise: Promise<void>; leave: () => void } {
    this.lines.set(key, line);
    line.calls++;
    let resolve!: () => void;
    const promise = new Promise<void>((done) => (resolve = done));
    const leave = (): void => {
      if (--line.calls === 0) this.lines.delete(key);
      resolve();
    };
    return { promise, leave };
  }

  /** @throws {@link RateLimitError} if the first one waits for longer than this one may */
  private before(
    deadline: number,
    earlier: Promise<unknown>,
    key: string,
    line: Line,
  ): Promise<void> {
    if (line.resumeAt > deadline) return Promise.reject(this.errorOf(key, line));
    return new Promise((resolve, reject) => {
      const waiting = { deadline, reject };
      line.waiting.add(waiting);
      void earlier.then(() => {
        line.waiting.delete(waiting);
        resolve();
      });
    });
  }

  private errorOf(key: string, { limit, resumeAt }: Line): RateLimitError {
    const value = this.settings.limits[limit] ?? Infinity;
    const retryAfter = Math.max(0, resumeAt - performance.now());
    return new RateLimitError({ limit, value, key, retryAfter });
  }
}

function newLine(): Line {
  return { tail: undefined, calls: 0, waiting: new Set(), limit: 'requests', resumeAt: 0 };
}
