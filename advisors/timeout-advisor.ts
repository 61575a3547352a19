import { AdvisorOrder, type Advisor, type AdvisorChain } from '../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../src/core/advisor/chat-client-request.js';
import { limitTimes } from '../src/core/advisor/time-limited.js';
import type { ChatEvent } from '../src/core/chat/chat-event.js';
import { InvalidArgumentError } from '../src/core/errors/errors.js';
import { TIMEOUT } from '../src/core/internal/options.js';
import type { Observable } from '../src/core/internal/rxjs.js';

/**
 * Options of a {@link TimeoutAdvisor}: `turn`, or one or more of the others. Infinity is no limit.
 */
export interface TimeoutAdvisorOptions extends AdvisorPlace {
  /** Milliseconds until the first delta of an answer, > 0; in streams only. @default none */
  readonly firstDelta?: number | undefined;
  /**
   * Milliseconds between two events of an answer after its first delta, > 0; in streams only. The
   * time of a slow consumer does not count.
   * @default none
   */
  readonly idle?: number | undefined;
  /** Milliseconds for a model call, > 0; with the retries right of the advisor. @default none */
  readonly iteration?: number | undefined;
  /** Milliseconds for a turn with all its model calls, tools and waits, > 0. @default none */
  readonly turn?: number | undefined;
  /** @default 'timeout', or 'turn-timeout' with `turn` */
  readonly name?: string | undefined;
  /**
   * Position: with `turn` left of the tool loop, otherwise right of it.
   * @default AdvisorOrder.RESILIENCE + 200, or AdvisorOrder.OBSERVABILITY + 500 with `turn`
   */
  readonly order?: number | undefined;
}

const NAME = 'TimeoutAdvisor';
const RULES = { firstDelta: TIMEOUT, idle: TIMEOUT, iteration: TIMEOUT, turn: TIMEOUT };

/** Ends a model call, or a turn, that takes too long, and everything that runs for it. */
export class TimeoutAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits: Advisor['traits'];

  /** @throws {@link InvalidArgumentError} if an option is invalid, or there is no limit */
  constructor(private readonly options: TimeoutAdvisorOptions) {
    const isForTurn = options.turn !== undefined;
    const { OBSERVABILITY, RESILIENCE } = AdvisorOrder;
    const place = isForTurn
      ? { name: 'turn-timeout', order: OBSERVABILITY + 500 }
      : { name: 'timeout', order: RESILIENCE + 200 };
    ({ name: this.name, order: this.order } = placeOf(NAME, options, RULES, place));
    checkLimits(options, isForTurn);
    this.traits = [isForTurn ? 'limits-turns' : 'limits-model-calls'];
  }

  /**
   * Ends with a `ModelTimeoutError`, which is retryable, or for `turn` with a `LimitExceededError`;
   * its `option` is the name of the limit.
   */
  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return limitTimes(chain.next(request), request, this.name, this.options);
  }
}

/** @throws {@link InvalidArgumentError} if there is no limit, or limits of two positions */
function checkLimits(
  { firstDelta, idle, iteration }: TimeoutAdvisorOptions,
  isForTurn: boolean,
): void {
  const isForCalls = [firstDelta, idle, iteration].some((limit) => limit !== undefined);
  if (isForTurn && isForCalls)
    throw new InvalidArgumentError(
      `${NAME}: turn is limited left of the tool loop, firstDelta, idle and iteration right of it; use two advisors`,
    );
  if (!isForTurn && !isForCalls)
    throw new InvalidArgumentError(
      `${NAME}: one of firstDelta, idle, iteration and turn must be set`,
    );
}
