import { AdvisorChainError } from '../errors.js';

/** The limits of a rate. */
export type RateLimitMeasure = 'requests' | 'tokens';

/** Facts about a model call that was not made. */
export interface ExceededRate {
  readonly limit: RateLimitMeasure;
  /** The limit itself, per minute. */
  readonly value: number;
  /** Owner of the limit. */
  readonly key: string;
  /** Milliseconds until the call may be made; undefined if it alone exceeds the limit. */
  readonly retryAfter: number | undefined;
}

/** A model call was not made: the limit of requests or tokens per minute leaves no room in time. */
export class RateLimitError extends AdvisorChainError implements ExceededRate {
  override name = 'RateLimitError';
  readonly code = 'rate_limit';
  readonly limit: RateLimitMeasure;
  readonly value: number;
  readonly key: string;
  readonly retryAfter: number | undefined;

  constructor({ limit, value, key, retryAfter }: ExceededRate) {
    const rate = `${value} ${limit} per minute of "${key}"`;
    super(
      retryAfter === undefined
        ? `One model call has more tokens than the limit of ${rate}; shorten the prompt, or raise ${limit}PerMinute.`
        : `The limit of ${rate} leaves no room for this call within maxWait; repeat it in ${Math.ceil(retryAfter)} ms, or raise maxWait.`,
    );
    this.limit = limit;
    this.value = value;
    this.key = key;
    this.retryAfter = retryAfter;
  }
}
