import type { JsonValue } from '../../../../core/internal/json.js';
import type { Message } from '../../../../core/chat/message.js';
import { diffTokens } from '../token-diff.js';

/**
 * Neighbouring messages of a memory: `sent` are stored, and the model gets them; `kept-back` are stored alone;
 * `made` are for the model alone, such as a summary.
 */
export interface MemoryPart {
  readonly type: 'sent' | 'kept-back' | 'made';
  readonly messages: readonly Message[];
}

/** A transcript and the view of it as one conversation. */
export function memoryParts(
  transcript: readonly Message[],
  view: readonly Message[],
): readonly MemoryPart[] {
  const numbers = new Map<string, number>();
  const numbered = (messages: readonly Message[]): readonly number[] =>
    messages.map((message) => {
      const key = keyOf(message);
      const number = numbers.get(key) ?? numbers.size;
      numbers.set(key, number);
      return number;
    });
  const ranges = diffTokens(numbered(transcript), numbered(view));
  return ranges.flatMap(({ same, before, after }): readonly MemoryPart[] => {
    const stored = transcript.slice(...before);
    if (same) return [{ type: 'sent', messages: stored }];
    const parts: readonly MemoryPart[] = [
      { type: 'kept-back', messages: stored },
      { type: 'made', messages: view.slice(...after) },
    ];
    return parts.filter(({ messages }) => messages.length > 0);
  });
}

/** The same for a message with and without what its store adds. */
function keyOf(message: Message): string {
  const { role, content } = message;
  const calls = message.role === 'assistant' ? message.toolCalls : undefined;
  const call = message.role === 'tool' ? message.toolCallId : undefined;
  return JSON.stringify([role, content, calls ?? call ?? null]);
}

/** True for a list of messages; a list without items is none. */
export function isMessages(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((item: JsonValue) => {
    if (typeof item !== 'object' || item === null || !('role' in item)) return false;
    const { role, content } = item as { readonly role: JsonValue; readonly content?: JsonValue };
    const isContent = content === null || typeof content === 'string' || Array.isArray(content);
    return isContent && ROLES.has(role);
  });
}

const ROLES: ReadonlySet<JsonValue> = new Set(['system', 'user', 'assistant', 'tool']);

/** Messages by turn: each question with what follows it. */
export function turnsOf(messages: readonly Message[]): readonly (readonly Message[])[] {
  const turns: Message[][] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (!last || (message.role === 'user' && last.at(-1)?.role !== 'user')) turns.push([message]);
    else last.push(message);
  }
  return turns;
}
