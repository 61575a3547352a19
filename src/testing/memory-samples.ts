import { randomUUID } from 'node:crypto';
import type { Message } from '../chat/message.js';
import type { ChatMemoryRepository, ReadOptions } from '../memory/chat-memory-repository.js';

/** A conversation, or the beginning of the ids of several, that nobody else uses. */
export function fresh(name = 'conversation'): string {
  return `law ${randomUUID()} ${name}`;
}

export const user = (content: string): Message => ({ role: 'user', content });
export const texts = (from: number, to: number): Message[] => Array.from({ length: to - from + 1 }, (_, at) => user(`${from + at}`));

export async function contents(repository: ChatMemoryRepository, id: string, options?: ReadOptions): Promise<readonly unknown[]> {
  const { messages } = await repository.read(id, options);
  return messages.map(({ message }) => ('content' in message ? message.content : message.text));
}
