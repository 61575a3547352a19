import { isDelta, type ChatEvent } from '../chat/chat-event.js';
import { LimitExceededError, ModelTimeoutError } from '../errors/errors.js';
import { giveUp, isGivenUp } from '../internal/give-up.js';
import { Observable, Subscriber } from '../internal/rxjs.js';
import type { ChatClientRequest } from './chat-client-request.js';

/** Time limits of the rest of a chain in milliseconds; see the options of `TimeoutAdvisor`. */
export interface ChainTimes {
  readonly firstDelta?: number | undefined;
  readonly idle?: number | undefined;
  readonly iteration?: number | undefined;
  readonly turn?: number | undefined;
}

/**
 * The events of the rest of a chain, which ends with an error when a limit is reached, also if that
 * was in an earlier execution of the turn.
 * @param name of the advisor
 */
export function limitTimes(
  events: Observable<ChatEvent>,
  request: ChatClientRequest,
  name: string,
  times: ChainTimes,
): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    const limited =
      request.mode === 'stream' && (times.firstDelta !== undefined || times.idle !== undefined)
        ? new DeltaLimits(subscriber, name, times, request)
        : new TimeLimits(subscriber, name, times);
    events.subscribe(limited);
  });
}

type Option = keyof ChainTimes;
const OPTIONS = ['firstDelta', 'idle', 'iteration', 'turn'] as const;

/** Limits the time until the end. */
class TimeLimits extends Subscriber<ChatEvent> {
  constructor(
    protected readonly subscriber: Subscriber<ChatEvent>,
    private readonly name: string,
    private readonly times: ChainTimes,
  ) {
    super(subscriber);
    this.limitAll('iteration');
    this.limitAll('turn');
  }

  private limitAll(option: 'iteration' | 'turn'): void {
    const { [option]: value = Infinity } = this.times;
    if (value === Infinity) return; // setTimeout takes it for 1 ms
    const timer = setTimeout(() => this.expire(option), value);
    this.add(() => clearTimeout(timer));
  }

  protected override _error(error: unknown): void {
    const option = OPTIONS.find((each) => isGivenUp(error, this.reasonOf(each)));
    super._error(option ? this.expiredError(option) : error);
  }

  protected expire(option: Option): void {
    giveUp(this, this.reasonOf(option));
    this.subscriber.error(this.expiredError(option));
  }

  private expiredError(option: Option): Error {
    return expiredError(option, this.times[option] ?? Infinity);
  }

  private reasonOf(option: Option): string {
    return `${this.name}, option ${option}`;
  }
}

/** Also limits the time until the first delta, then that between two events, with one timer. */
class DeltaLimits extends TimeLimits {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lastEvent = 0;
  private hasDeltas = false;
  private readonly idle: number;

  constructor(
    subscriber: Subscriber<ChatEvent>,
    name: string,
    times: ChainTimes,
    private readonly request: ChatClientRequest,
  ) {
    super(subscriber, name, times);
    const { firstDelta = Infinity, idle = Infinity } = times;
    this.idle = idle;
    if (firstDelta !== Infinity)
      this.timer = setTimeout(() => this.expire('firstDelta'), firstDelta);
    this.add(() => clearTimeout(this.timer));
  }

  protected override _next(event: ChatEvent): void {
    if (!this.hasDeltas && isDelta(event)) this.begin();
    this.lastEvent = performance.now();
    this.subscriber.next(event);
  }

  private begin(): void {
    this.hasDeltas = true;
    clearTimeout(this.timer);
    if (this.idle !== Infinity) this.checkAfter(this.idle);
  }

  /** The timer runs on while events arrive: it compares the time of the last one when it fires. */
  private checkAfter(milliseconds: number): void {
    if (this.closed) return;
    this.timer = setTimeout(() => {
      const left = this.idle - (performance.now() - this.lastEvent);
      const busy = this.request.cancellation.ready?.();
      const restart = (): void => this.checkAfter(this.idle);
      if (busy) void busy.then(restart, restart);
      else if (left >= 1) this.checkAfter(Math.ceil(left));
      else this.expire('idle');
    }, milliseconds);
  }
}

const FAILURES = {
  firstDelta: 'No delta of the answer arrived',
  idle: 'Nothing more of the answer arrived',
  iteration: 'The answer did not arrive',
} as const;

function expiredError(option: Option, value: number): LimitExceededError | ModelTimeoutError {
  if (option !== 'turn')
    return new ModelTimeoutError(`${FAILURES[option]} within ${value} ms (option ${option}).`, {
      retryable: true,
      option,
    });
  const problem = `The turn was stopped: it lasted more than ${value} ms`;
  return new LimitExceededError(problem, { limit: 'duration', value, spent: value, option });
}
