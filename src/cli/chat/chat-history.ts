import {
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  textOf,
  type ChatMemoryRepository,
} from '../../index.js';

/** Messages that a model gets; of a longer chat, earlier ones stay in the store. */
const MAX_MESSAGES = 200;

interface OpenRepository {
  readonly repository: ChatMemoryRepository;
  readonly close: () => Promise<void>;
}

/** The memory of a chat: in a file, or for the time of the session. */
export class ChatHistory {
  private constructor(
    private readonly opened: OpenRepository,
    readonly conversationId: string,
  ) {}

  /** @throws {@link InvalidArgumentError} if `libsql` is not installed, and errors of SQLite */
  static async open(file: string | undefined, conversationId: string): Promise<ChatHistory> {
    if (file === undefined) {
      const repository = new InMemoryChatMemoryRepository();
      return new ChatHistory({ repository, close: () => Promise.resolve() }, conversationId);
    }
    const { SqliteChatMemoryRepository } =
      await import('../../stores/chat-memory/sqlite-chat-memory-repository.js');
    const repository = await SqliteChatMemoryRepository.open(file);
    return new ChatHistory({ repository, close: () => repository.close() }, conversationId);
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
