import {
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  textOf,
} from '../../index.js';

import { openMemory, type OpenMemory } from '../open-memory.js';
import type { Terminal } from '../terminal.js';

/** Messages that a model gets; of a longer chat, earlier ones stay in the store. */
const MAX_MESSAGES = 200;

/** The memory of a chat: in a file, or for the time of the session. */
export class ChatHistory {
  private constructor(
    private readonly opened: OpenMemory,
    readonly conversationId: string,
  ) {}

  /**
   * @param address a file of SQLite, or the address of PostgreSQL or Redis
   * @throws {@link InvalidArgumentError} if a package is not installed, and errors of the database
   */
  static async open(
    address: string | undefined,
    conversationId: string,
    terminal: Terminal,
  ): Promise<ChatHistory> {
    if (address !== undefined)
      return new ChatHistory(await openMemory(address, terminal, { create: true }), conversationId);
    const repository = new InMemoryChatMemoryRepository();
    return new ChatHistory({ repository, close: () => Promise.resolve() }, conversationId);
  }

  /** The advisor that reads and writes this memory, with tools and their results. */
  advisor(): MessageChatMemoryAdvisor {
    const { repository } = this.opened;
    const chatMemory = new MessageWindowChatMemory({ repository, maxMessages: MAX_MESSAGES });
    return new MessageChatMemoryAdvisor({ chatMemory, storeToolMessages: true });
  }

  /** The number of messages that the conversation has. */
  async length(): Promise<number> {
    return (await this.opened.repository.read(this.conversationId)).messages.length;
  }

  /** Removes the last turn; resolves with its question, or with undefined if there is no turn. */
  async undo(): Promise<string | undefined> {
    const { repository } = this.opened;
    const { messages, version } = await repository.read(this.conversationId);
    const last = messages.at(-1);
    if (!last) return undefined;
    const others = messages.findLastIndex(({ turnId }) => turnId !== last.turnId);
    const kept = messages.slice(0, others + 1);
    const removed = messages.slice(others + 1);
    await repository.replace(
      this.conversationId,
      kept.map(({ message }) => message),
      { expectedVersion: version, turnIds: kept.map(({ turnId }) => turnId) },
    );
    const question = removed.find(({ message }) => message.role === 'user');
    return question ? textOf(question.message) : '';
  }

  close(): Promise<void> {
    return this.opened.close();
  }
}
