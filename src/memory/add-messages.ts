import { checkMessage, type Message } from '../chat/message.js';
import { checkConversationId, type ChatMemoryRepository } from './chat-memory-repository.js';
import type { AddOptions } from './chat-memory.js';
import { encodeMessage } from './message-codec.js';

/**
 * Adds messages to a conversation in one atomic write, and gives its new version.
 * @throws {@link InvalidArgumentError} if the id is none, or a message is malformed
 */
export async function addMessages(
  repository: ChatMemoryRepository,
  conversationId: string,
  messages: Message | readonly Message[],
  options: AddOptions,
): Promise<number> {
  checkConversationId(conversationId, 'ChatMemory.add');
  const list: unknown = messages;
  const all = (Array.isArray(list) ? list : [list]) as readonly Message[];
  all.forEach((message, at) => checkMessage(message, `ChatMemory.add: messages[${at}]`));
  const added = await withoutKnownSystemMessages(repository, conversationId, all);
  return repository.append(conversationId, added, { turnId: options.turnId, expectedVersion: options.expectedVersion });
}

/** Said again, system messages would take the place of themselves, and of those that are not said again. */
async function withoutKnownSystemMessages(
  repository: ChatMemoryRepository,
  conversationId: string,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  const added = messages.filter(({ role }) => role === 'system');
  if (added.length === 0) return messages;
  const { systemMessages } = await repository.read(conversationId, { limit: 0 });
  const known = new Set(systemMessages.map(encodeMessage));
  return added.every((message) => known.has(encodeMessage(message))) ? messages.filter(({ role }) => role !== 'system') : messages;
}
