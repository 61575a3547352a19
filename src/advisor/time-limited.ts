import { isDelta, type ChatEvent } from '../chat/chat-event.js';
import { LimitExceededError, ModelTimeoutError } from '../errors.js';
import { Observable, Subscriber } from '../internal/rxjs.js';
import type { ChatClientRequest } from './chat-client-request.js';

/** Time limits of the rest of a chain in milliseconds; see the options of `TimeoutAdvisor`. */
export interface ChainTimes {
  readonly firstDelta?: number | undefined;
  readonly idle?: number | undefined;
  readonly iteration?: number | undefined;
  readonly turn?: number | undefined;
}

/** The events of the rest of a chain, which ends with an error when a limit is reached. */
export function limitTimes(
  events: Observable<ChatEvent>,
  request: ChatClientRequest,
  { firstDelta, idle, iteration, turn }: ChainTimes,
): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    limitAll(subscriber, 'iteration', iteration);
    limitAll(subscriber, 'turn', turn);
    const looksAtDeltas =
      request.mode === 'stream' && (firstDelta !== undefined || idle !== undefined);
    // without these limits, events pass without a stop
    if (!looksAtDeltas) return void events.subscribe(subscriber);
    const limited = new DeltaLimits(subscriber, request, firstDelta, idle);
    events.subscribe(limited);
  });
}

/** Limits the time until the end. */
function limitAll(
  subscriber: Subscriber<ChatEvent>,
  option: 'iteration' | 'turn',
  value = Infinity,
): void {
  if (value === Infinity) return; // setTimeout takes it for 1 ms
  const timer = setTimeout(() => subscriber.error(expiredError(option, value)), value);
  subscriber.add(() => clearTimeout(timer));
}

/** Limits the time until the first delta, then that between two events, with one timer. */
class DeltaLimits extends Subscriber<ChatEvent> {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lastEvent = 0;
  private hasDeltas = false;

  constructor(
    private readonly subscriber: Subscriber<ChatEvent>,
    private readonly request: ChatClientRequest,
    firstDelta: number = Infinity,
    private readonly idle: number = Infinity,
  ) {
    super(subscriber);
    if (firstDelta !== Infinity)
      this.timer = setTimeout(() => this.expire('firstDelta', firstDelta), firstDelta);
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
      else this.expire('idle', this.idle);
    }, milliseconds);
  }

  private expire(option: 'firstDelta' | 'idle', value: number): void {
    this.subscriber.error(expiredError(option, value));
  }
}

const FAILURES = {
  firstDelta: 'No delta of the answer arrived',
  idle: 'Nothing more of the answer arrived',
  iteration: 'The answer did not arrive',
} as const;

function expiredError(
  option: keyof ChainTimes,
  value: number,
): LimitExceededError | ModelTimeoutError {
  if (option !== 'turn')
    return new ModelTimeoutError(`${FAILURES[option]} within ${value} ms (option ${option}).`, {
      retryable: true,
      option,
    });
  const problem = `The turn was stopped: it lasted more than ${value} ms`;
  return new LimitExceededError(problem, { limit: 'duration', value, option });
}
