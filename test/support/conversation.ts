import { callsOf, textOf } from '../../src/core/chat/message.js';
import type { Message } from '../../src/index.js';

export const system = (text: string): Message => ({ role: 'system', content: text });
export const user = (content: string): Message => ({ role: 'user', content });
export const assistant = (text: string): Message => ({ role: 'assistant', content: text });
export const calls = (...ids: readonly string[]): Message => ({
  role: 'assistant',
  content: null,
  toolCalls: ids.map((id) => ({ id, name: 'look', arguments: `{"id":"${id}"}` })),
});
export const result = (id: string, content = `result of ${id}`): Message => ({
  role: 'tool',
  toolCallId: id,
  toolName: 'look',
  content,
});

/** Turn 1 consists of the messages "1?" and "1!". */
export const turn = (name: number | string): readonly Message[] => [
  user(`${name}?`),
  assistant(`${name}!`),
];

/** Short texts of messages: `[system]`, `user`, `>call`, `<result`. */
export function shortTexts(messages: readonly Message[]): readonly string[] {
  return messages.map((message) => {
    if (message.role === 'assistant')
      return callsOf(message).length > 0
        ? callsOf(message)
            .map(({ id }) => `>${id}`)
            .join('')
        : textOf(message);
    if (message.role === 'system') return `[${textOf(message)}]`;
    if (message.role === 'tool') return `<${message.toolCallId}`;
    return typeof message.content === 'string' ? message.content : '…';
  });
}

/** Reason why providers would reject a history; undefined if it is valid. */
export function invalidReason(messages: readonly Message[]): string | undefined {
  let open: (string | undefined)[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') {
      const index = open.indexOf(message.toolCallId);
      if (index < 0) return `message ${at} is a result without a call right before it`;
      open.splice(index, 1);
      continue;
    }
    if (open.length > 0) return `message ${at} comes before the result of ${open.join(', ')}`;
    if (message.role !== 'assistant') continue;
    if (callsOf(message).length === 0 && !message.content && !message.refusal)
      return `message ${at} is empty`;
    open = callsOf(message).map(({ id }) => id);
  }
  return open.length > 0 ? `there is no result of ${open.join(', ')}` : undefined;
}
