import { orderAdvisors } from '../advisor/advisor-chain.js';
import type { Advisor } from '../advisor/advisor.js';
import { checkDecisions } from '../approval/check-decisions.js';
import { ResumedTurn } from '../approval/resumed-turn.js';
import type { TurnState } from '../approval/turn-state.js';
import { CONVERSATION_ID } from '../chat/context.js';
import type { Decisions } from '../chat/paused-turn.js';
import type { RunRecord } from '../chat/run-record.js';
import { InvalidArgumentError } from '../errors.js';
import { PausedStateError } from '../errors/paused-state-error.js';
import { checkOption, hasMethods, TEXT } from '../internal/options.js';
import { advisorsOf, type RequestSettings } from './request-settings.js';
import { NO_TEXT } from './text-spec.js';

/** A paused turn that a request goes on with. */
export interface Resume {
  readonly state: string;
  readonly decisions: Decisions;
}

/** The part of a chain that makes states. */
type Opener = Advisor & { readonly openState: (state: string) => Promise<TurnState> };

/** @throws {@link InvalidArgumentError} if the state is no text, or a value is no decision */
export function toResume(state: string, decisions: Decisions): Resume {
  checkOption('resume(…)', 'state', state, TEXT);
  checkDecisions(decisions, 'resume(…)');
  return { state, decisions: { ...decisions } };
}

/** @throws {@link InvalidArgumentError} if a setter would change what the state has */
export function checkResumed({ resume }: RequestSettings, changed: Partial<RequestSettings>): void {
  const name = (['system', 'user', 'messages', 'turnId'] as const).find((key) => changed[key]);
  if (!resume || !name) return;
  throw new InvalidArgumentError(
    `${name}(…): a paused turn goes on with the texts and the id of its state; remove the call, or steer the turn`,
  );
}

/**
 * The settings with the messages, the turn id and the conversation of a paused turn.
 * @throws {@link PausedStateError} if it cannot go on, {@link InvalidArgumentError} if no advisor can
 * resume it, the error of the store
 */
export async function openTurn(
  settings: RequestSettings,
  { state, decisions }: Resume,
  run: RunRecord,
): Promise<RequestSettings> {
  const advisors = orderAdvisors(advisorsOf(settings));
  const opener = advisors.find((each): each is Opener => hasMethods(each, ['openState']));
  if (!opener)
    throw new InvalidArgumentError(
      'resume(…): no advisor of the client pauses turns; add the ApprovalAdvisor with which the turn was paused',
    );
  const turn = await opener.openState(state);
  ResumedTurn.begin(run, new ResumedTurn(turn, decisions));
  const { messages, turnId } = turn;
  return {
    ...settings,
    system: NO_TEXT,
    user: NO_TEXT,
    messages,
    turnId,
    ...paramsOf(settings, turn),
  };
}

/** @throws {@link PausedStateError} if the request is for another conversation */
function paramsOf(
  { params }: RequestSettings,
  { conversationId }: TurnState,
): Pick<RequestSettings, 'params'> {
  const wanted = params.get(CONVERSATION_ID);
  if (wanted !== undefined && wanted !== conversationId)
    throw new PausedStateError(
      'The state belongs to another conversation than the request; resume it with the id of its own conversation, or without one.',
      'conversation',
    );
  return {
    params: conversationId === null ? params : params.with(CONVERSATION_ID, conversationId),
  };
}
