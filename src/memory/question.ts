import { textOf, type Message } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import { hasMedia } from './history.js';

/**
 * Selects the messages that a request adds to a conversation: those after the last answer, and after
 * the last tool calls that are stored, except system messages, blank ones, and results without a
 * call.
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
    (message.toolCalls.length === 0 || callKeys(message).some((key) => known.has(key)));
  return prompt
    .slice(prompt.findLastIndex(isKnown) + 1)
    .filter((message) => message.role !== 'system' && !isBlank(message))
    .filter((message) => message.role !== 'tool' || sent.includes(message));
}

/** Ids may repeat over turns, so a call has its name and arguments, too. */
function callKeys(message: Message): readonly string[] {
  const calls = message.role === 'assistant' ? message.toolCalls : [];
  return calls.map(({ id, name, arguments: text }) => JSON.stringify([id, name, text]));
}

/** Drops tool calls together with their results; results of other calls are kept. */
export function withoutCalls(messages: readonly Message[]): readonly Message[] {
  const ids = new Set<unknown>();
  for (const message of messages)
    if (message.role === 'assistant') for (const { id } of message.toolCalls) ids.add(id);
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
