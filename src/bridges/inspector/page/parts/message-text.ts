import type { Message } from '../../../../core/chat/message.js';

/** The text parts of a message. The page has a copy of its own: it imports types of the core alone. */
export function textOf({ content }: Message): string {
  if (content === null || typeof content === 'string') return content ?? '';
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('');
}
