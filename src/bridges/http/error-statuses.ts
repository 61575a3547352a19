import type {
  AdvisorChainError,
  ConversationLockError,
  GuardError,
  LimitExceededError,
  ModelCallError,
  PausedStateError,
  TurnLogError,
} from '../../core/errors/errors.js';
import { isOfInput } from './request-input.js';

/** A status and the text for it. */
export type StatusText = readonly [status: number, text: string];

/** The client has left: no answer reaches it. */
export const CLIENT_LEFT: StatusText = [499, 'The request was cancelled.'];
export const TIMED_OUT: StatusText = [504, 'The answer took too long.'];
export const INTERNAL: StatusText = [500, 'The request could not be answered.'];
const TOO_MANY: StatusText = [429, 'There are too many requests; try again later.'];
const TOO_LONG: StatusText = [413, 'The conversation is too long.'];
const MODEL_FAILED: StatusText = [502, 'The model could not answer.'];
const LIMIT_REACHED: StatusText = [429, 'The request has reached a limit.'];
const BUDGET_SPENT: StatusText = [402, 'The budget is spent.'];
const NOT_FOUND: StatusText = [404, 'There is no such turn.'];

type StatusOf = StatusText | ((error: AdvisorChainError) => StatusText);

const ofInput: StatusOf = (error) => (isOfInput(error) ? [400, error.message] : INTERNAL);

/** Statuses of limits by their name; of all others, {@link LIMIT_REACHED}. */
const LIMITS: ReadonlyMap<string, StatusText> = new Map([
  ['tokens', BUDGET_SPENT],
  ['cost', BUDGET_SPENT],
  ['duration', TIMED_OUT],
  ['total-time', TIMED_OUT],
  ['request-tokens', TOO_LONG],
  ['response-bytes', MODEL_FAILED],
  ['response-values', MODEL_FAILED],
  ['event-bytes', MODEL_FAILED],
  ['plan-length', MODEL_FAILED],
  ['entity-values', MODEL_FAILED],
]);

/** A turn of another user looks like one that does not exist. */
const PAUSED_STATES: Readonly<Record<PausedStateError['reason'], StatusText>> = {
  unknown: NOT_FOUND,
  owner: NOT_FOUND,
  client: NOT_FOUND,
  conversation: NOT_FOUND,
  invalid: [400, 'It is not the state of a turn.'],
  signature: [400, 'It is not the state of a turn.'],
  version: [400, 'The state of the turn cannot be read.'],
  decision: [400, 'A decision does not fit its request.'],
  'too-large': [413, 'The state of the turn is too large.'],
  expired: [410, 'The time to decide is over.'],
  used: [410, 'The turn has ended.'],
  running: [409, 'The turn runs now.'],
  'tool-missing': [409, 'A tool of the turn is missing.'],
  'tool-changed': [409, 'A tool of the turn has changed.'],
};

const INTERRUPTED: StatusText = [503, 'The turn was interrupted; try again.'];
const TURN_LOGS: Readonly<Record<TurnLogError['reason'], StatusText>> = {
  running: [409, 'Another turn of the conversation runs.'],
  abandoned: INTERRUPTED,
  lost: INTERRUPTED,
  failed: INTERNAL,
  store: INTERNAL,
};

/** Status and safe text of an error of the library, by its code; of all others, {@link INTERNAL}. */
export const STATUSES: ReadonlyMap<string, StatusOf> = new Map<string, StatusOf>([
  ['invalid_argument', ofInput],
  ['json', ofInput],
  ['template', ofInput],
  ['model_call', (error) => ofModel(error as ModelCallError)],
  ['incomplete_response', MODEL_FAILED],
  ['model_timeout', TIMED_OUT],
  ['structured_output', MODEL_FAILED],
  ['rate_limit', TOO_MANY],
  ['limit_exceeded', (error) => LIMITS.get((error as LimitExceededError).limit) ?? LIMIT_REACHED],
  ['conversation_lock', (error) => ofLock(error as ConversationLockError)],
  ['memory_conflict', [409, 'The conversation was changed meanwhile.']],
  ['guard', (error) => ofGuard(error as GuardError)],
  ['turn_paused', [409, 'The turn waits for a decision.']],
  ['paused_state', (error) => PAUSED_STATES[(error as PausedStateError).reason] ?? INTERNAL],
  ['turn_log', (error) => TURN_LOGS[(error as TurnLogError).reason] ?? INTERNAL],
  ['store_busy', [503, 'The service is busy; try again.']],
  ['cancelled', CLIENT_LEFT],
]);

function ofModel({ status, contextOverflow }: ModelCallError): StatusText {
  if (status === 429) return TOO_MANY;
  if (contextOverflow) return TOO_LONG;
  return status === 503 || status === 529
    ? [503, 'The model is overloaded; try again.']
    : MODEL_FAILED;
}

function ofLock({ reason }: ConversationLockError): StatusText {
  if (reason === 'lost') return INTERRUPTED;
  return reason === 'busy'
    ? [409, 'Another turn of the conversation runs.']
    : [409, 'A newer turn has taken the place of this one.'];
}

function ofGuard({ reason }: GuardError): StatusText {
  return reason === 'found' ? [422, 'The text is not allowed.'] : INTERNAL;
}
