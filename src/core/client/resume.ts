import { orderAdvisors } from '../advisor/advisor-chain.js';
import type { Advisor } from '../advisor/advisor.js';
import { ChatResponse } from '../chat/chat-response.js';
import { CONVERSATION_ID } from '../chat/context.js';
import { checkDecisions } from '../chat/decisions.js';
import { frozenMessage, type Message } from '../chat/message.js';
import {
  addPaused,
  type PausedTurn,
  type PendingTurn,
  type ResumeDecisions,
} from '../chat/paused-turn.js';
import type { RunRecord } from '../chat/run-record.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import { InvalidArgumentError, PausedStateError, TurnPausedError } from '../errors/errors.js';
import { checkOption, hasMethods, TEXT } from '../internal/options.js';
import { advisorsOf, type RequestSettings, type Resume } from './request-settings.js';
import { NO_TEXT } from './text-spec.js';

/** The request of a paused turn. */
interface OpenedTurn {
  readonly messages: readonly Message[];
  readonly turnId: string;
  readonly conversationId: string | null;
}

/** The part of a chain that makes states, resumes their turns, and finds the turns of a conversation. */
type Opener = Advisor & {
  readonly openState: (
    state: string,
    decisions: ResumeDecisions,
    run: RunRecord,
  ) => Promise<OpenedTurn>;
  readonly pendingTurns: (
    wanted: string | Pick<PendingTurn, 'id'>,
    settings: RequestSettings,
  ) => Promise<readonly PendingTurn[]>;
};

/** @throws {@link InvalidArgumentError} if the state is not a text, or a value is not a decision */
export function toResume(state: string, decisions: ResumeDecisions): Resume {
  checkOption('resume(…)', 'the id or state of the paused turn', state, TEXT);
  if (typeof decisions === 'function') return { state, decisions };
  checkDecisions(decisions, 'resume(…)');
  return { state, decisions: { ...decisions } };
}

/** @throws {@link InvalidArgumentError} if a setter would change what the state has */
export function checkResumed({ resume }: RequestSettings, changed: Partial<RequestSettings>): void {
  const name = (['system', 'user', 'messages', 'turnId'] as const).find((key) => changed[key]);
  if (!resume || !name) return;
  throw new InvalidArgumentError(
    `${name}(…): a resumed turn keeps the messages and id of its state; remove the call, or steer the turn`,
  );
}

/**
 * The settings with the messages, the turn id and the conversation of a paused turn.
 * @throws {@link PausedStateError} if it cannot be resumed, {@link InvalidArgumentError} if no
 * advisor can resume it, the error of the store
 */
export async function openTurn(
  settings: RequestSettings,
  { state, decisions }: Resume,
  run: RunRecord,
): Promise<RequestSettings> {
  const turn = await openerOf(settings, 'openState').openState(state, decisions, run);
  const { messages, turnId } = turn;
  return {
    ...settings,
    system: NO_TEXT,
    user: NO_TEXT,
    // messages that an advisor adds are found by identity
    messages: messages.map(frozenMessage),
    turnId,
    ...paramsOf(settings, turn),
  };
}

/** The paused turns of a conversation, or the one with an id. */
export async function pendingTurns(
  settings: RequestSettings,
  wanted: string | Pick<PendingTurn, 'id'>,
): Promise<readonly PendingTurn[]> {
  return openerOf(settings, 'pendingTurns').pendingTurns(wanted, settings);
}

/** @throws {@link InvalidArgumentError} if no advisor pauses turns */
function openerOf(settings: RequestSettings, method: keyof Opener): Opener {
  const advisors = orderAdvisors(advisorsOf(settings));
  const opener = advisors.find((each): each is Opener => hasMethods(each, [method]));
  if (opener) return opener;
  throw new InvalidArgumentError(
    `${method === 'openState' ? 'resume' : 'pending'}(…): no advisor of the client pauses turns; add the ApprovalAdvisor with which the turn was paused`,
  );
}

/** @throws {@link PausedStateError} if the request is for another conversation */
function paramsOf(
  { params }: RequestSettings,
  { conversationId }: OpenedTurn,
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

/** The paused turn of an error; undefined for other errors, and turns that cannot be resumed. */
export function pausedTurnOf(error: unknown): PausedTurn | undefined {
  try {
    return hasCode(error, 'turn_paused') ? error.paused : undefined;
  } catch {
    return undefined; // a getter or a proxy threw
  }
}

/** The response of a turn that waits; its message is empty, since the turn has no answer yet. */
export function pausedResponse(paused: PausedTurn): ChatResponse {
  const message = { role: 'assistant', content: null } as const;
  return new ChatResponse({ generations: [{ message, finishReason: 'paused' }], paused });
}

/**
 * The response of a turn that has an answer.
 * @throws {@link TurnPausedError} for a result that cannot show a paused turn
 */
export function answered<R extends ChatResponse>(response: R): R {
  const { paused } = response;
  if (!paused) return response;
  const names = paused.requests.map(({ toolName }) => `"${toolName}"`).join(', ');
  const error = new TurnPausedError(
    `The turn waits for decisions on ${names || 'nothing'}; ask for chatResponse() or events() to see its requests, or read error.paused, then call client.resume(paused.id, decisions).`,
  );
  addPaused(error, paused);
  throw error;
}
