import { AdvisorChainError } from './advisor-chain-error.js';
import type { ModelCallErrorOptions } from './model-errors.js';

/** The advisors do not form a chain, or one of them broke the contract of a chain. */
export class ChainError extends AdvisorChainError {
  override name = 'ChainError';
  readonly code = 'chain';
}

/** The run was cancelled; `cause` is the reason of its signal. */
export class CancelledError extends AdvisorChainError {
  override name = 'CancelledError';
  readonly code = 'cancelled';
}

/** Parts of an answer that had arrived, for a limit of a model call. */
type Received = Pick<ModelCallErrorOptions, 'partialText' | 'usage'>;

/** The limits of a turn. */
export type LimitKind =
  'calls-per-tool' | 'total-calls' | 'iterations' | 'identical-calls' | 'no-progress';

/** A limit, and what there was when it was reached. */
export interface LimitDetails<Result = unknown, Response = unknown> extends ErrorOptions, Received {
  /** Name of the limit, such as `iterations` or `response-bytes`. */
  readonly limit: string;
  /** The limit itself, in its unit. */
  readonly value: number;
  /**
   * Amount that was reached, in the unit of `value`: of a budget what is spent, which is less if the
   * rest covers no further call. Where counting stops, it is `value`, or the least that exceeds it.
   */
  readonly spent: number;
  /** Name of the option that changes the limit. */
  readonly option: string;
  /** The tool, for a limit of one tool. */
  readonly toolName?: string | undefined;
  /** The transcript so far with a result for every call, for a limit of a turn. */
  readonly result?: Result;
  /** The answer that exceeded a limit of a turn, with the usage of the turn so far. */
  readonly response?: Response;
}

/** A turn, an answer or a value exceeded a limit; {@link option} names the option to raise. */
export class LimitExceededError<Result = unknown, Response = unknown>
  extends AdvisorChainError
  implements LimitDetails<Result, Response>
{
  override name = 'LimitExceededError';
  readonly code = 'limit_exceeded';
  readonly limit: string;
  readonly value: number;
  readonly spent: number;
  readonly option: string;
  readonly toolName: string | undefined;
  readonly result: Result;
  readonly response: Response;
  readonly partialText: string | undefined;
  readonly usage: Received['usage'];

  /** @param problem what exceeded the limit, without the next step: that is to raise the option */
  constructor(problem: string, details: LimitDetails<Result, Response>) {
    super(`${problem}; raise ${details.option} to change it.`, details);
    this.limit = details.limit;
    this.value = details.value;
    this.spent = details.spent;
    this.option = details.option;
    this.toolName = details.toolName;
    // a limit of a turn always has both
    this.result = details.result as Result;
    this.response = details.response as Response;
    this.partialText = details.partialText;
    this.usage = details.usage;
  }
}

/** Text that a guard looks at: the question, the answer, or the result of a tool. */
export type GuardPlace = 'input' | 'output' | 'tool-result';

/** Details of a {@link GuardError}. */
export interface GuardErrorDetails extends ErrorOptions {
  readonly where: GuardPlace;
  /** Names of the rules. */
  readonly rules: readonly string[];
  /** `found`: the rules found something; `failed`: they could not judge the text. */
  readonly reason: 'found' | 'failed';
}

/** A guard with `action: 'throw'` found something, or a rule failed. Has no part of the text. */
export class GuardError extends AdvisorChainError implements GuardErrorDetails {
  override name = 'GuardError';
  readonly code = 'guard';
  readonly where: GuardPlace;
  readonly rules: readonly string[];
  readonly reason: 'found' | 'failed';

  constructor(message: string, details: GuardErrorDetails) {
    super(message, details);
    this.where = details.where;
    this.rules = details.rules;
    this.reason = details.reason;
  }
}

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

/**
 * Why a turn may not continue: another turn of the conversation is running (`busy`), a newer one
 * has taken its place (`interrupted`), or its lock was lost (`lost`).
 */
export type ConversationLockReason = 'busy' | 'interrupted' | 'lost';

const NEXT_STEPS: Readonly<Record<ConversationLockReason, string>> = {
  busy: 'Ask again when its answer is there, or use another onBusy.',
  interrupted: 'The newer turn has the answer.',
  lost: 'Nothing of this turn was stored; ask again. If it happens often, raise lease, or find what blocks the event loop.',
};

/** A turn did not run to its end: a conversation has one turn at a time. See {@link reason}. */
export class ConversationLockError extends AdvisorChainError {
  override name = 'ConversationLockError';
  readonly code = 'conversation_lock';

  /** @param problem what has happened, without the next step */
  constructor(
    problem: string,
    readonly conversationId: string,
    readonly reason: ConversationLockReason,
    options?: ErrorOptions,
  ) {
    super(`${problem}. ${NEXT_STEPS[reason]}`, options);
  }
}
