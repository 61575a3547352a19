import {
  AdvisorOrder,
  type Advisor,
  type AdvisorChain,
  type InspectedState,
} from '../../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../../src/core/advisor/advisor-place.js';
import { isCancelled } from '../../src/core/advisor/attempts.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { inspectedState } from '../../src/core/advisor/inspected-state.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import type { Usage } from '../../src/core/chat/chat-response.js';
import { modelCallError, type RunRecord } from '../../src/core/chat/run-record.js';
import type { StepCodec } from '../../src/core/chat/run-recorder.js';
import { InvalidArgumentError, type RateLimitMeasure } from '../../src/core/errors/errors.js';
import { TokenMeter } from '../../src/core/advisor/token-meter.js';
import {
  checkOption,
  FUNCTION,
  integer,
  numberBetween,
  TEXT,
  WAIT,
  withMethods,
} from '../../src/core/internal/options.js';
import { Observable, Subscriber } from '../../src/core/internal/rxjs.js';
import { observeWait } from '../../src/core/observation/observe-wait.js';
import { InMemoryKeyValueStore } from '../../src/stores/key-value/in-memory-key-value-store.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import { RateLimiter } from './rate-limiter.js';
import type { CountedAmounts } from './rate-window.js';

/** Options of a {@link RateLimitAdvisor}: `requestsPerMinute`, `tokensPerMinute`, or both. */
export interface RateLimitAdvisorOptions extends AdvisorPlace {
  /** Maximum number of model calls in any minute, >= 1; each attempt is one. @default no limit */
  readonly requestsPerMinute?: number | undefined;
  /**
   * Maximum number of model calls that pass at once: the calls of a minute are spread evenly over
   * periods with so many each. >= 1 and >= `requestsPerMinute` / 60,000; as many as `requestsPerMinute`
   * to let all pass at once. @default the calls of a second, but at least 5
   */
  readonly burst?: number | undefined;
  /** Maximum number of tokens of input and output in any minute, >= 1. @default no limit */
  readonly tokensPerMinute?: number | undefined;
  /**
   * Owner of the limits, such as a tenant or an API key; undefined for no limit.
   * @default the name of the model
   */
  readonly key?: ((request: ChatClientRequest) => string | undefined) | undefined;
  /** Maximum time that a call waits for room in milliseconds, >= 0. @default 120_000 */
  readonly maxWait?: number | undefined;
  /**
   * Estimates the tokens of a call before it, >= 0; the usage that the model reports corrects it.
   * @default a quarter of the characters of messages, offered tools and schema, plus `maxTokens`
   */
  readonly estimateTokens?: ((request: ChatClientRequest) => number) | undefined;
  /** Place of the counts; share it between processes. @default an `InMemoryKeyValueStore` of this advisor */
  readonly store?: KeyValueStore | undefined;
  /** Position, right of the retries. @default AdvisorOrder.RESILIENCE + 100 */
  readonly order?: number | undefined;
}

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    /** A model call waits, a number of milliseconds, until a limit has room for it. */
    'rate-limit-wait': {
      readonly key: string;
      readonly limit: RateLimitMeasure;
      readonly wait: number;
    };
  }
}

const WHERE = 'RateLimitAdvisor';
const RULES = {
  requestsPerMinute: integer(1),
  burst: integer(1),
  tokensPerMinute: integer(1),
  key: FUNCTION,
  maxWait: WAIT,
  estimateTokens: FUNCTION,
  store: withMethods('a KeyValueStore', 'add'),
};
/** Requests that may pass at once under a small limit: the calls of a turn do not wait for each other. */
const SMALL_BURST = 5;
const TOKENS = numberBetween(0, Number.MAX_SAFE_INTEGER);

/**
 * Keeps the model calls of all that share a store within limits per minute, and spreads them evenly: a
 * call waits until there is room for it, in order of arrival.
 */
export class RateLimitAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['counts-model-calls', 'limits-model-calls'] as const;
  private readonly limiter: RateLimiter;
  private readonly meter = new TokenMeter();

  /** @throws {@link InvalidArgumentError} if an option is invalid, or there is no limit */
  constructor(private readonly options: RateLimitAdvisorOptions) {
    const place = { name: 'rate-limit', order: AdvisorOrder.RESILIENCE + 100 };
    ({ name: this.name, order: this.order } = placeOf(WHERE, options, RULES, place));
    const {
      requestsPerMinute: requests,
      tokensPerMinute: tokens,
      maxWait = 120_000,
    } = options ?? {};
    if (requests === undefined && tokens === undefined)
      throw new InvalidArgumentError(`${WHERE}: requestsPerMinute or tokensPerMinute must be set`);
    const burst = burstIn(options);
    const store = options.store ?? new InMemoryKeyValueStore();
    this.limiter = new RateLimiter({ store, maxWait, limits: { requests, tokens }, burst });
  }

  /**
   * Subscribes the rest of the chain when the limits have room; a {@link RateLimitError} if that takes
   * longer than `maxWait`.
   */
  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      let isWaiting = true;
      const begin = async (): Promise<void> => {
        const counted = await this.admit(request, subscriber);
        isWaiting = false;
        if (subscriber.closed) return;
        const correct = (tokens: number): void => this.correct(counted, tokens, request.run);
        const { tokensPerMinute } = this.options;
        const events = tokensPerMinute ? new UsageReader(subscriber, correct) : subscriber;
        chain.next(request).subscribe(events);
      };
      const begun = begin().catch((error: unknown) => subscriber.error(error));
      return () => void (isWaiting && request.run.track(begun));
    });
  }

  /** The limits of the key, what the last minute has used of them, and calls that are waiting. */
  async inspect(request: ChatClientRequest): Promise<InspectedState> {
    const { key: keyOf = modelOf } = this.options;
    const key = keyOf(request);
    // the key itself may be a credential
    return key === undefined ? {} : inspectedState(await this.limiter.inspect(key));
  }

  /** Waits until the limits have room; undefined for a call without a limit. */
  private async admit(
    request: ChatClientRequest,
    subscriber: Subscriber<ChatEvent>,
  ): Promise<CountedAmounts | undefined> {
    const { key: keyOf = modelOf } = this.options;
    const key = keyOf(request);
    if (key === undefined) return undefined;
    checkOption(`advisor "${this.name}"`, 'the key', key, TEXT);
    const amounts = { requests: 1, tokens: this.estimate(request) };
    const { cancellation, iteration, run, observation } = request;
    const admit = (onLine: () => void): Promise<CountedAmounts> => {
      const onWait = (limit: RateLimitMeasure, wait: number): void => {
        onLine();
        subscriber.next({ type: 'custom', name: 'rate-limit-wait', data: { key, limit, wait } });
      };
      return this.limiter.admit({ key, amounts, cancellation, onLine, onWait });
    };
    return run.recorder.step<CountedAmounts | undefined>(
      `rate limit ${iteration}`,
      () => observeWait(observation, 'rate-limit', admit),
      ADMISSION,
    );
  }

  /** The answer does not wait for the store, nor fail with it: the next call does. */
  private correct(counted: CountedAmounts | undefined, tokens: number, run: RunRecord): void {
    if (counted) run.track(this.limiter.correct(counted, tokens).catch(() => undefined));
  }

  private estimate(request: ChatClientRequest): number {
    const { tokensPerMinute, estimateTokens } = this.options;
    if (tokensPerMinute === undefined) return 0;
    const tokens = estimateTokens ? estimateTokens(request) : this.measure(request);
    checkOption(`advisor "${this.name}"`, 'the result of estimateTokens', tokens, TOKENS);
    return tokens;
  }

  /** Tokens of a call as providers count it: those that the model gets, and the most that it may write. */
  private measure(request: ChatClientRequest): number {
    const { maxCompletionTokens, maxTokens = 0 } = request.prompt.options;
    const input = this.meter.ofMessages(request) + this.meter.ofSchemas(request);
    return input + (maxCompletionTokens ?? maxTokens);
  }
}

/** @throws {@link InvalidArgumentError} if a burst has no limit, or periods are shorter than a millisecond */
function burstIn({ requestsPerMinute, burst }: RateLimitAdvisorOptions): number | undefined {
  if (requestsPerMinute === undefined) {
    if (burst === undefined) return undefined;
    throw new InvalidArgumentError(`${WHERE}: burst needs requestsPerMinute, too`);
  }
  const requests = burst ?? Math.max(SMALL_BURST, Math.ceil(requestsPerMinute / 60));
  checkOption(WHERE, 'burst', requests, integer(Math.ceil(requestsPerMinute / 60_000)));
  return requests;
}

/** A call that had room, or none; on replay, waiting and counting are skipped. */
const ADMISSION: StepCodec<CountedAmounts | undefined> = {
  encode: () => null,
  decode: () => undefined,
  isEnd: (error) => !isCancelled(error),
};

function modelOf({ prompt }: ChatClientRequest): string {
  return prompt.options.model ?? 'model';
}

/** Reads the usage of a call that has ended; without one, the estimate stays. */
class UsageReader extends Subscriber<ChatEvent> {
  constructor(
    private readonly subscriber: Subscriber<ChatEvent>,
    private readonly onUsage: (tokens: number) => void,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    if (event.type === 'response') this.read(event.response.usage);
    this.subscriber.next(event);
  }

  protected override _error(error: unknown): void {
    this.read(modelCallError(error)?.usage);
    super._error(error);
  }

  private read(usage: Usage | undefined): void {
    if (usage) this.onUsage(usage.totalTokens);
  }
}
