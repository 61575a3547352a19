import type { Message } from '../chat/message.js';
import { MemoryConflictError } from '../errors.js';
import { checkOptions, FUNCTION, numberBetween } from '../internal/options.js';
import {
  CheckedChatMemoryRepository,
  type ConversationLog,
  type ReadOptions,
  type WriteOptions,
  compareUtf8,
} from '../memory/chat-memory-repository.js';
import { decodeMessage, encodeMessage } from '../memory/message-codec.js';

/** Options of an {@link InMemoryChatMemoryRepository}; a limit is a number >= 1 or `Infinity`. */
export interface InMemoryChatMemoryRepositoryOptions {
  /** Maximum number of conversations; the least recently used one is evicted. @default 10_000 */
  readonly maxConversations?: number | undefined;
  /** Maximum number of messages of a conversation; its oldest are evicted. @default 10_000 */
  readonly maxMessages?: number | undefined;
  /**
   * Maximum number of characters of all messages, as JSON; evicts whole conversations, except the
   * one that is written. @default 256_000_000
   */
  readonly maxCharacters?: number | undefined;
  /** Time without use until a conversation is evicted, in milliseconds. @default Infinity */
  readonly maxIdle?: number | undefined;
  /** Returns the time in milliseconds. @default Date.now */
  readonly now?: (() => number) | undefined;
}

const LIMIT = numberBetween(1, Infinity);
const RULES = {
  maxConversations: LIMIT,
  maxMessages: LIMIT,
  maxCharacters: LIMIT,
  maxIdle: LIMIT,
  now: FUNCTION,
};

interface Entry {
  readonly turnId: string | undefined;
  readonly text: string;
}

/** Placeholder of an evicted message. */
const EVICTED: Entry = { turnId: undefined, text: '' };

class Conversation {
  /** Index of the first entry that is not evicted. */
  start = 0;
  entries: Entry[] = [];
  system: readonly string[] = [];
  version = 0;
  characters = 0;
  usedAt = 0;
}

/** Stores copies of the messages in this process, within the limits of its options. */
export class InMemoryChatMemoryRepository extends CheckedChatMemoryRepository {
  override readonly capabilities = {
    durable: false,
    transactional: true,
    storesToolMessages: true,
  };
  /** Least recently used first. */
  private readonly conversations = new Map<string, Conversation>();
  private characters = 0;
  private readonly maxIdle: number;
  private readonly now: () => number;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(private readonly options: InMemoryChatMemoryRepositoryOptions = {}) {
    super();
    checkOptions('InMemoryChatMemoryRepository', options, RULES);
    this.maxIdle = options.maxIdle ?? Infinity;
    this.now = options.now ?? Date.now;
  }

  protected async readLog(id: string, options: ReadOptions): Promise<ConversationLog> {
    const { limit = Infinity, beforeVersion = Infinity } = options;
    const conversation = this.touch(id);
    if (!conversation) return { version: 0, messages: [], systemMessages: [] };
    const { entries, start, version, system } = conversation;
    const firstVersion = version - entries.length + 1;
    const end = Math.max(start, Math.min(entries.length, beforeVersion - firstVersion));
    const from = Math.max(start, end - limit);
    const messages = entries.slice(from, end).map(({ turnId, text }, at) => ({
      version: firstVersion + from + at,
      turnId,
      message: decodeMessage(text),
    }));
    return { version, messages, systemMessages: system.map(decodeMessage) };
  }

  protected async deleteLog(id: string): Promise<void> {
    this.remove(id);
  }

  protected async listIds(
    prefix: string,
    after: string,
    limit: number,
  ): Promise<readonly string[]> {
    this.removeIdle();
    const ids = [...this.conversations.keys()].filter(
      (id) => id.startsWith(prefix) && compareUtf8(after, id) < 0,
    );
    return ids.toSorted(compareUtf8).slice(0, limit);
  }

  /** Synchronous, so that concurrent writes cannot interleave. */
  protected writeMessages(
    id: string,
    messages: readonly Message[],
    { expectedVersion, turnId }: WriteOptions,
    isReplacing: boolean,
  ): number {
    const added = messages.map((message) => ({ turnId, text: encodeMessage(message) }));
    const conversation = this.touch(id) ?? new Conversation();
    const { version } = conversation;
    if (expectedVersion !== undefined && expectedVersion !== version)
      throw new MemoryConflictError(id, expectedVersion, version);
    if (added.length === 0 && !isReplacing) return version;
    if (isReplacing) this.removeEntries(conversation);
    if (added.length === 0) conversation.version++;
    const system = added.flatMap(({ text }, at) => (messages[at]?.role === 'system' ? [text] : []));
    if (system.length > 0) conversation.system = system;
    this.appendEntries(conversation, added);
    this.conversations.set(id, conversation);
    this.touch(id);
    this.evictConversations();
    return conversation.version;
  }

  private appendEntries(conversation: Conversation, added: readonly Entry[]): void {
    const { maxMessages = 10_000 } = this.options;
    const { entries } = conversation;
    for (const entry of added) entries.push(entry);
    conversation.version += added.length;
    let characters = added.reduce((sum, { text }) => sum + text.length, 0);
    while (entries.length - conversation.start > maxMessages) {
      characters -= (entries[conversation.start] as Entry).text.length;
      entries[conversation.start++] = EVICTED;
    }
    this.addCharacters(conversation, characters);
    // placeholders are removed in large steps: one by one, each would cost the length of the log
    if (conversation.start > 1_000 && conversation.start * 2 > entries.length) {
      conversation.entries = entries.slice(conversation.start);
      conversation.start = 0;
    }
  }

  private removeEntries(conversation: Conversation): void {
    this.addCharacters(conversation, -conversation.characters);
    conversation.entries = [];
    conversation.start = 0;
    conversation.system = [];
  }

  private addCharacters(conversation: Conversation, characters: number): void {
    conversation.characters += characters;
    this.characters += characters;
  }

  /** Finds a conversation and marks it as the most recently used. */
  private touch(id: string): Conversation | undefined {
    this.removeIdle();
    const conversation = this.conversations.get(id);
    if (!conversation) return undefined;
    conversation.usedAt = this.now();
    this.conversations.delete(id);
    this.conversations.set(id, conversation);
    return conversation;
  }

  private removeIdle(): void {
    if (this.maxIdle === Infinity) return;
    const limit = this.now() - this.maxIdle;
    for (const [id, { usedAt }] of this.conversations) {
      if (usedAt > limit) return;
      this.remove(id);
    }
  }

  private evictConversations(): void {
    const { maxConversations = 10_000, maxCharacters = 256_000_000 } = this.options;
    for (const id of this.conversations.keys()) {
      const { size } = this.conversations;
      const isTooMuch = size > maxConversations || this.characters > maxCharacters;
      if (!isTooMuch || size === 1) return;
      this.remove(id);
    }
  }

  private remove(id: string): void {
    this.characters -= this.conversations.get(id)?.characters ?? 0;
    this.conversations.delete(id);
  }
}
