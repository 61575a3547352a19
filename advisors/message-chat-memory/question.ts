import { callsOf, textOf, hasMedia, type Message } from '../../src/core/chat/message.js';
import { isSummary } from '../../src/core/chat/summary-message.js';
import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import { ID } from '../../src/core/internal/options.js';
import { sha256Hex } from '../../src/core/internal/text.js';

/**
 * Selects the messages that a request adds to a conversation: those after the last answer, and after
 * the last tool calls that are stored, except system messages, summaries, blank ones, and results
 * without a call.
 * @param stored messages whose tool calls are stored
 * @param sent messages for the model, which has results of known calls alone
 */
export function newMessagesOf(
  prompt: readonly Message[],
  stored: readonly Message[],
  sent: readonly Message[] = prompt,
): readonly Message[] {
  const known = new Set(stored.flatMap(callKeys));
  const isKnown = (message: Message): boolean =>
    message.role === 'assistant' &&
    (callsOf(message).length === 0 || callKeys(message).some((key) => known.has(key)));
  return prompt
    .slice(prompt.findLastIndex(isKnown) + 1)
    .filter((message) => message.role !== 'system' && !isSummary(message) && !isBlank(message))
    .filter((message) => message.role !== 'tool' || sent.includes(message));
}

/**
 * The id under which the messages of a request are stored. Results of tool calls that the application
 * runs continue a turn: it must not be taken for a repetition of the request that asked for the calls.
 * @param number number of the answer in its run, from 1
 */
export function storedTurnId(turnId: string, prompt: readonly Message[], number: number): string {
  const added = newMessagesOf(prompt, []);
  const results = added.flatMap((message) => (message.role === 'tool' ? message.toolCallId : []));
  if (results.length === 0 && number === 1) return turnId;
  const id = [turnId, ...results, ...(number > 1 ? [`#${number}`] : [])].join(' ');
  return ID.accepts(id) ? id : sha256Hex(id);
}

/** Ids may repeat over turns, so a call has its name and arguments, too. */
function callKeys(message: Message): readonly string[] {
  return callsOf(message).map(({ id, name, arguments: text }) => JSON.stringify([id, name, text]));
}

/** Drops tool calls together with their results; results of other calls are kept. */
export function withoutCalls(messages: readonly Message[]): readonly Message[] {
  const ids = new Set<unknown>();
  for (const message of messages) for (const { id } of callsOf(message)) ids.add(id);
  return messages.filter((message) => {
    if (message.role === 'tool') return !ids.has(message.toolCallId);
    return message.role !== 'assistant';
  });
}

/**
 * Checks that a user message is not blank.
 * @throws {@link InvalidArgumentError} if the conversation would have an answer without a question
 */
export function checkQuestion(prompt: readonly Message[], where: string): void {
  const last = prompt.findLast(({ role }) => role !== 'system');
  if (last?.role === 'user' && newMessagesOf(prompt, []).length === 0)
    throw new InvalidArgumentError(
      `${where}: the user message is blank; send a text or media, because an answer is stored with its question`,
    );
}

function isBlank(message: Message): boolean {
  if (message.role !== 'user') return false;
  return textOf(message.content).trim() === '' && !hasMedia(message.content);
}
