import { AdvisorOrder, type Advisor, type AdvisorChain } from '../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../src/core/advisor/advisor-place.js';
import {
  isCancelled,
  isRetryable,
  runAttempts,
  type AttemptEnd,
  type NextAttempt,
} from '../src/core/advisor/attempts.js';
import type { ChatClientRequest } from '../src/core/advisor/chat-client-request.js';
import type { ChatEvent } from '../src/core/chat/chat-event.js';
import type { ChatResponse } from '../src/core/chat/chat-response.js';
import { MODEL_RETRIES } from '../src/core/chat/chat-model.js';
import { modelCallError } from '../src/core/chat/run-record.js';
import { backoffDelay } from '../src/core/internal/backoff.js';
import { FUNCTION, integer, WAIT } from '../src/core/internal/options.js';
import type { Observable } from '../src/core/internal/rxjs.js';

/** Options of a {@link RetryAdvisor}. */
export interface RetryAdvisorOptions extends AdvisorPlace {
  /** Maximum number of repetitions, >= 0. The model does not retry by itself meanwhile. @default 2 */
  readonly maxRetries?: number | undefined;
  /**
   * Returns true for an error, or a response, that is worth another attempt; the error is undefined
   * if there is a response. The response of the last attempt is always kept.
   * @default errors with `retryable`
   */
  readonly when?:
    | ((error: unknown, response: ChatResponse | undefined) => boolean | Promise<boolean>)
    | undefined;
  /** Milliseconds before the first repetition, >= 0; each is twice as long as the one before. @default 500 */
  readonly firstDelay?: number | undefined;
  /**
   * Maximum number of milliseconds before a repetition, >= 0. If the server asks for more, its error
   * is thrown at once.
   * @default 60_000
   */
  readonly maxDelay?: number | undefined;
  /** Position, right of the tool loop. @default AdvisorOrder.RESILIENCE */
  readonly order?: number | undefined;
}

const RULES = {
  maxRetries: integer(0),
  when: FUNCTION,
  firstDelay: WAIT,
  maxDelay: WAIT,
};

/** Fraction by which a delay is randomly shortened, so that clients do not come back together. */
const JITTER = 0.25;

/**
 * Repeats a model call that failed for a temporary reason, after a back-off or the time that the
 * server asks for.
 */
export class RetryAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['retries'] as const;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: RetryAdvisorOptions = {}) {
    const place = { name: 'retry', order: AdvisorOrder.RESILIENCE };
    ({ name: this.name, order: this.order } = placeOf('RetryAdvisor', options, RULES, place));
  }

  advise(original: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    const { maxRetries = 2 } = this.options;
    return runAttempts(chain, original, () => {
      const request = original.withContext(MODEL_RETRIES, 0);
      let retry = 0;
      const next = async (end: AttemptEnd): Promise<NextAttempt | undefined> => {
        if (retry >= maxRetries || !(await this.isWorthRetry(end))) return undefined;
        const wait = this.waitBefore(retry++, end.error);
        return wait === undefined ? undefined : { request, wait };
      };
      return { first: request, next };
    });
  }

  private isWorthRetry({ error, response }: AttemptEnd): boolean | Promise<boolean> {
    if (isCancelled(error)) return false;
    const { when = isRetryable } = this.options;
    return when(error, response);
  }

  /** Undefined if the server asks for a longer wait than allowed. */
  private waitBefore(retry: number, error: unknown): number | undefined {
    const { firstDelay: first = 500, maxDelay: max = 60_000 } = this.options;
    const wait = modelCallError(error)?.retryAfter;
    if (wait === undefined) return backoffDelay(retry, { first, max, jitter: JITTER });
    return wait > max ? undefined : wait;
  }
}
