import { AdvisorOrder, type Advisor, type AdvisorChain } from '../src/advisor/advisor.js';
import { isCancelled } from '../src/advisor/attempts.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import type { ChatEvent } from '../src/chat/chat-event.js';
import type { Usage } from '../src/chat/chat-response.js';
import { modelCallError, type RunRecord } from '../src/chat/run-record.js';
import { DurableRun } from '../src/durable/durable-run.js';
import { decodeError, encodeError, type EncodedError } from '../src/durable/error-codec.js';
import { InvalidArgumentError } from '../src/errors.js';
import { TokenMeter } from '../src/compaction/token-meter.js';
import {
  checkOption,
  checkOptions,
  FINITE,
  FUNCTION,
  integer,
  numberBetween,
  TEXT,
  WAIT,
  withMethods,
} from '../src/internal/options.js';
import { Observable, Subscriber } from '../src/internal/rxjs.js';
import { InMemoryKeyValueStore } from '../src/key-value/in-memory-key-value-store.js';
import type { KeyValueStore } from '../src/key-value/key-value-store.js';
import type { RateLimitMeasure } from '../src/rate-limit/rate-limit-error.js';
import { RateLimiter } from '../src/rate-limit/rate-limiter.js';
import type { CountedAmounts } from '../src/rate-limit/rate-window.js';

/** Options of a {@link RateLimitAdvisor}: `requestsPerMinute`, `tokensPerMinute`, or both. */
export interface RateLimitAdvisorOptions {
  /** Maximum number of model calls in any minute, >= 1; each attempt is one. @default no limit */
  readonly requestsPerMinute?: number | undefined;
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
  /** @default 'rate-limit' */
  readonly name?: string | undefined;
  /** Position, right of the retries. @default AdvisorOrder.RESILIENCE + 100 */
  readonly order?: number | undefined;
}

declare module '../src/chat/chat-event.js' {
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
  tokensPerMinute: integer(1),
  key: FUNCTION,
  maxWait: WAIT,
  estimateTokens: FUNCTION,
  store: withMethods('a KeyValueStore', 'add'),
  name: TEXT,
  order: FINITE,
};
const TOKENS = numberBetween(0, Number.MAX_SAFE_INTEGER);

/**
 * Keeps the model calls of all that share a store within limits per minute: a call waits until there
 * is room for it, in order of arrival.
 */
export class RateLimitAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['counts-model-calls', 'limits-model-calls'] as const;
  private readonly limiter: RateLimiter;
  private readonly meter = new TokenMeter();

  /** @throws {@link InvalidArgumentError} if an option is invalid, or there is no limit */
  constructor(private readonly options: RateLimitAdvisorOptions) {
    checkOptions(WHERE, options ?? {}, RULES);
    const {
      requestsPerMinute: requests,
      tokensPerMinute: tokens,
      maxWait = 120_000,
    } = options ?? {};
    if (requests === undefined && tokens === undefined)
      throw new InvalidArgumentError(`${WHERE}: requestsPerMinute or tokensPerMinute must be set`);
    const store = options.store ?? new InMemoryKeyValueStore();
    this.limiter = new RateLimiter({ store, maxWait, limits: { requests, tokens } });
    this.name = options.name ?? 'rate-limit';
    this.order = options.order ?? AdvisorOrder.RESILIENCE + 100;
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
    const onWait = (limit: RateLimitMeasure, wait: number): void =>
      subscriber.next({ type: 'custom', name: 'rate-limit-wait', data: { key, limit, wait } });
    const { cancellation, iteration, run } = request;
    const admit = (): Promise<CountedAmounts> =>
      this.limiter.admit({ key, amounts, cancellation, onWait });
    const durable = DurableRun.of(run);
    return durable ? admitOnce(durable, `rate limit ${iteration}`, admit) : admit();
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

/** A turn that runs again neither waits nor counts for a call that had room, or none: undefined then. */
async function admitOnce(
  durable: DurableRun,
  kind: string,
  admit: () => Promise<CountedAmounts>,
): Promise<CountedAmounts | undefined> {
  let counted: CountedAmounts | undefined;
  const recorded = await durable.step<{ readonly error: EncodedError } | null>(kind, async () => {
    try {
      counted = await admit();
      return null;
    } catch (error) {
      if (isCancelled(error)) throw error;
      return { error: encodeError(error) };
    }
  });
  if (recorded) throw decodeError(recorded.error);
  return counted;
}

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
