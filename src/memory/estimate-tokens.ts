import { textOf, type Message } from '../chat/message.js';

/** About the tokens of a message: a quarter of its characters, and 4 for what goes around it. */
export function estimateTokens(message: Message): number {
  return 4 + Math.ceil(charactersOf(message) / 4);
}

function charactersOf(message: Message): number {
  if (message.role === 'system') return message.text.length;
  if (message.role !== 'assistant') return textOf(message.content).length;
  const calls = message.toolCalls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
  return (message.text ?? message.refusal ?? '').length + calls;
}
