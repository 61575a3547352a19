import { callsOf, textOf, type Message } from './message.js';

/** Average of English texts. */
export const CHARACTERS_PER_TOKEN = 4;

/** Estimated tokens of a number of characters. */
export function tokensOfLength(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Estimates the tokens of a message: a quarter of its characters, plus 4 for its envelope. */
export function estimateTokens(message: Message): number {
  const texts = [textOf(message)];
  if (message.role === 'assistant') {
    texts.push(message.refusal ?? '');
    for (const call of callsOf(message)) texts.push(call.name, call.arguments);
  }
  return 4 + tokensOfLength(texts.join('').length);
}
