import { ChatResponse } from '../chat/chat-response.js';
import { addPaused, type PausedTurn } from '../chat/paused-turn.js';
import { TurnPausedError } from '../errors.js';
import { hasCode } from '../errors/advisor-chain-error.js';

/** The paused turn of an error; undefined for any other error, and of a turn that cannot go on. */
export function pausedTurnOf(error: unknown): PausedTurn | undefined {
  try {
    return hasCode(error, 'turn_paused') ? error.paused : undefined;
  } catch {
    return undefined; // a getter or a proxy threw
  }
}

/** The response of a turn that waits; its message is empty, since the turn has no answer yet. */
export function pausedResponse(paused: PausedTurn): ChatResponse {
  const message = { role: 'assistant', text: null, toolCalls: [] } as const;
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
    `The turn waits for decisions on ${names || 'nothing'}; ask for chatResponse() or events() to see its requests, or take \`paused\` of this error, and go on by client.resume(paused.state, decisions).`,
  );
  addPaused(error, paused);
  throw error;
}
