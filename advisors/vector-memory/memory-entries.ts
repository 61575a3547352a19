import type { Document } from '../../src/core/chat/document.js';
import { textOf, type Message, type UserMessage } from '../../src/core/chat/message.js';
import { truncate, truncateText } from '../../src/core/internal/text.js';
import { wellFormed } from '../../src/core/internal/well-formed.js';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Maximum length of a type, in characters. */
const MAX_TYPE = 64;

/** Memories as elements, one per line; no text can end its element, or add an attribute. */
export function toEntries(memories: readonly Document[], maxLength: number): string {
  return memories.map((memory) => toEntry(memory, maxLength)).join('\n');
}

function toEntry({ text, metadata = {} }: Document, maxLength: number): string {
  const { type = 'memory', time } = metadata;
  // not toLocaleLowerCase: the I of an INSIGHT would lose its dot in Turkish
  const kind = escape(truncate(String(type).toLowerCase(), MAX_TYPE));
  const day = typeof time === 'string' ? ` date="${escape(time.slice(0, 10))}"` : '';
  return `<memory type="${kind}"${day}>${escape(truncateText(text, maxLength))}</memory>`;
}

function escape(text: string): string {
  return wellFormed(text).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] as string);
}

/** A question with its answer as one text. */
export function exchangeText(question: string, answer: string): string {
  const parts = [question && `User: ${question}`, answer && `Assistant: ${answer}`];
  return parts.filter(Boolean).join('\n');
}

/** A text that every store takes, of a maximum length. */
export function storableText(text: string, maxLength: number): string {
  return truncateText(wellFormed(text).replaceAll('\0', '\ufffd'), maxLength);
}

/** The exchanges of a conversation in their stored form: the model does not need them twice. */
export function exchangesIn(messages: readonly Message[], maxLength: number): ReadonlySet<string> {
  const texts = new Set<string>();
  let question = '';
  for (const { role, content } of messages) {
    const text = textOf(content ?? '').trim();
    if (role === 'user') question = text;
    else if (role === 'assistant' && text !== '')
      texts.add(storableText(exchangeText(question, text), maxLength));
  }
  return texts;
}

/** The messages with another one before the last message of the user, which stays unchanged. */
export function beforeQuestion(
  messages: readonly Message[],
  added: UserMessage,
): readonly Message[] {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  return messages.toSpliced(at, 0, added);
}
