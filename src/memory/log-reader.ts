import type { ChatMemoryRepository, ConversationLog, StoredMessage } from './chat-memory-repository.js';

/** Reads a log backwards, in pages that grow, so that the latest part of a long one costs as little as a short one. */
export class LogReader {
  /** What was read so far, oldest first. */
  messages: readonly StoredMessage[] = [];
  /** Whether there is nothing before that. */
  isWhole = false;

  constructor(
    private readonly repository: ChatMemoryRepository,
    private readonly conversationId: string,
    private readonly limit: number,
  ) {}

  /** Version of the first message that was read; 1 where all were. */
  get first(): number {
    return this.isWhole ? 1 : (this.messages[0]?.version ?? 1);
  }

  /** Reads the last page. */
  async start(): Promise<ConversationLog> {
    const log = await this.repository.read(this.conversationId, { limit: this.limit });
    this.messages = log.messages;
    this.isWhole = log.messages.length < this.limit;
    return log;
  }

  /** Reads as much again as was read so far, and gives it. */
  async readOn(): Promise<readonly StoredMessage[]> {
    const limit = this.messages.length;
    const page = (await this.repository.read(this.conversationId, { limit, beforeVersion: this.messages[0]?.version })).messages;
    this.isWhole = page.length < limit;
    this.messages = [...page, ...this.messages];
    return page;
  }
}
