import { AdvisorChainError } from './advisor-chain-error.js';

/**
 * A durable turn could not run: it has no engine, or a value of a step is not JSON. Nothing of the
 * step is recorded.
 */
export class DurableTurnError extends AdvisorChainError {
  override name = 'DurableTurnError';
  readonly code = 'durable_turn';
}

/**
 * A durable turn ran again, and sent another request to the model than the recorded one: a part of it
 * depends on something that is not recorded, such as the time.
 */
export class NonDeterminismError extends AdvisorChainError {
  override name = 'NonDeterminismError';
  readonly code = 'non_determinism';

  constructor(
    message: string,
    /** The step whose input differs. */
    readonly stepName: string,
    /** The first advisor that changed the request otherwise; undefined if the request itself differs. */
    readonly advisorName: string | undefined,
  ) {
    super(message);
  }
}

/**
 * It cannot be decided whether a tool call may run: its policy failed, or there was no
 * valid decision. The tool has not run; `cause` is the error of the policy.
 */
export class ApprovalError extends AdvisorChainError {
  override name = 'ApprovalError';
  readonly code = 'approval';

  constructor(
    message: string,
    readonly toolName: string,
    readonly callId: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Ends a tool that has asked the user, until the answer is there: then the tool runs again from its
 * beginning. A tool must not handle it.
 */
export class ToolQuestionError<Request = unknown> extends AdvisorChainError {
  override name = 'ToolQuestionError';
  readonly code = 'tool_question';

  constructor(
    message: string,
    /** The question, as JSON data. */
    readonly request: Request,
  ) {
    super(message);
  }
}

/**
 * The turn waits for decisions of people. Advisors see it as the end of an unfinished turn; results
 * that can show a paused turn (`chatResponse()`, `events()`, …) have it as `paused` instead. Its own
 * `paused` is set when all calls of the batch have ended.
 */
export class TurnPausedError extends AdvisorChainError {
  override name = 'TurnPausedError';
  readonly code = 'turn_paused';
}

/**
 * Reason for which a paused turn cannot be resumed:
 *
 * - `invalid`: the text is neither an id nor a state, or only a part of one;
 * - `unknown`: the store has no turn of this id;
 * - `version`: it is the state of a newer version of this package;
 * - `signature`: it was changed, or made with a secret that is unknown here;
 * - `expired`: its time, or the time of a request, is over;
 * - `running`: the turn was resumed, and runs now;
 * - `used`: the turn has ended;
 * - `client`, `conversation`, `owner`: it belongs to another one;
 * - `decision`: a decision does not fit its request;
 * - `tool-missing`: the request has not a tool that the turn calls;
 * - `tool-changed`: a tool is another one than that which was asked for;
 * - `too-large`: the turn is larger than `maxSize`.
 */
export type PausedStateReason =
  | 'invalid'
  | 'unknown'
  | 'version'
  | 'signature'
  | 'expired'
  | 'running'
  | 'used'
  | 'client'
  | 'conversation'
  | 'owner'
  | 'decision'
  | 'tool-missing'
  | 'tool-changed'
  | 'too-large';

/** A paused turn cannot be resumed; nothing has run, and a new state is not used up. */
export class PausedStateError extends AdvisorChainError {
  override name = 'PausedStateError';
  readonly code = 'paused_state';

  constructor(
    message: string,
    readonly reason: PausedStateReason,
    /** The request that does not fit, if it is one. */
    readonly requestId?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
