import { describe, type Message } from '../chat/message.js';
import { InvalidArgumentError, MemoryConflictError } from '../errors.js';
import {
  checkConversationId,
  checkCounts,
  checkListing,
  checkWrite,
  checkReplacement,
  compareBytes,
  type ChatMemoryRepository,
  type ConversationIdsOptions,
  type ConversationLog,
  type ReadOptions,
  type ReplaceOptions,
  type WriteOptions,
} from '../memory/chat-memory-repository.js';
import { decodeMessage, encodeMessage } from '../memory/message-codec.js';

/** Options of an {@link InMemoryChatMemoryRepository}. */
export interface InMemoryChatMemoryRepositoryOptions {
  /** Most conversations; the one that was not used for the longest time goes first. 1 or more, or `Infinity`. @default 10,000 */
  readonly maxConversations?: number | undefined;
  /** Most messages of a conversation; its oldest go first. 1 or more, or `Infinity`. @default 10,000 */
  readonly maxMessages?: number | undefined;
  /** Most characters of all messages, as JSON; whole conversations go, never the one that is written. 1 or more. @default 256 million */
  readonly maxCharacters?: number | undefined;
  /** Milliseconds after which a conversation that nobody used is forgotten; 1 or more. @default never */
  readonly maxIdle?: number | undefined;
  /** The time in milliseconds. @default Date.now */
  readonly now?: (() => number) | undefined;
}

type Limits = { readonly [name in keyof InMemoryChatMemoryRepositoryOptions]-?: NonNullable<InMemoryChatMemoryRepositoryOptions[name]> };

interface Entry {
  readonly turnId: string | undefined;
  readonly text: string;
}

/** In place of a message that is gone. */
const GONE: Entry = { turnId: undefined, text: '' };

interface Conversation {
  /** The first of `entries` that counts; the ones before it are gone. */
  start: number;
  entries: Entry[];
  system: readonly string[];
  version: number;
  characters: number;
  usedAt: number;
}

/**
 * Keeps conversations in this process until it ends. It has limits, so that it does not grow for ever: see the options. What it is
 * given is copied, so that nobody can change it afterwards.
 */
export class InMemoryChatMemoryRepository implements ChatMemoryRepository {
  readonly capabilities = { durable: false, transactional: true, storesToolMessages: true } as const;
  /** In order of use, the latest last. */
  private readonly conversations = new Map<string, Conversation>();
  private readonly limits: Limits;
  private characters = 0;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: InMemoryChatMemoryRepositoryOptions = {}) {
    const { maxConversations = 10_000, maxMessages = 10_000, maxCharacters = 256_000_000, maxIdle = Infinity, now = Date.now } = options;
    for (const [name, value] of Object.entries({ maxConversations, maxMessages, maxCharacters, maxIdle }))
      if (typeof value !== 'number' || !(value >= 1))
        throw new InvalidArgumentError(`InMemoryChatMemoryRepository: ${name} must be a number of 1 or more, not ${describe(value)}`);
    if (typeof now !== 'function')
      throw new InvalidArgumentError(`InMemoryChatMemoryRepository: now must be a function, not ${describe(now)}`);
    this.limits = { maxConversations, maxMessages, maxCharacters, maxIdle, now };
  }

  async append(conversationId: string, messages: readonly Message[], options: WriteOptions = {}): Promise<number> {
    return this.write(conversationId, messages, options, false);
  }

  async read(conversationId: string, options: ReadOptions = {}): Promise<ConversationLog> {
    checkConversationId(conversationId, 'read');
    const { limit = Infinity, beforeVersion = Infinity } = options;
    checkCounts(options as Readonly<Record<string, number | undefined>>, 'read');
    const conversation = this.use(conversationId);
    if (!conversation) return { version: 0, messages: [], systemMessages: [] };
    const { entries, start, version, system } = conversation;
    const versionAt = (at: number): number => version - entries.length + at + 1;
    const end = Math.max(start, Math.min(entries.length, entries.length - (version - beforeVersion) - 1));
    const from = Math.max(start, end - limit);
    const messages = entries
      .slice(from, end)
      .map(({ turnId, text }, at) => ({ version: versionAt(from + at), turnId, message: decodeMessage(text) }));
    return { version, messages, systemMessages: system.map(decodeMessage) };
  }

  async replace(conversationId: string, messages: readonly Message[], options: ReplaceOptions): Promise<number> {
    checkReplacement(options);
    return this.write(conversationId, messages, options, true);
  }

  async delete(conversationId: string): Promise<void> {
    checkConversationId(conversationId, 'delete');
    this.forget(conversationId);
  }

  async conversationIds({ prefix = '', after, limit = 100 }: ConversationIdsOptions = {}): Promise<readonly string[]> {
    checkListing({ prefix, after, limit }, 'conversationIds');
    this.forgetIdle();
    const ids = [...this.conversations.keys()].filter(
      (id) => id.startsWith(prefix) && (after === undefined || compareBytes(after, id) < 0),
    );
    return ids.toSorted(compareBytes).slice(0, limit);
  }

  /** Without a pause inside, so that writes at the same time cannot mix. */
  private write(id: string, messages: readonly Message[], options: WriteOptions, isReplacing: boolean): number {
    checkConversationId(id, isReplacing ? 'replace' : 'append');
    checkWrite(options, isReplacing ? 'replace' : 'append');
    const { expectedVersion, turnId } = options;
    const added = messages.map((message) => ({ turnId, text: encodeMessage(message) }));
    const present = this.use(id);
    const version = present?.version ?? 0;
    if (expectedVersion !== undefined && expectedVersion !== version) throw new MemoryConflictError(id, expectedVersion, version);
    if (added.length === 0 && !isReplacing) return version;
    const conversation = present ?? { start: 0, entries: [], system: [], version: 0, characters: 0, usedAt: 0 };
    if (isReplacing) this.empty(conversation);
    if (added.length === 0) conversation.version++;
    const system = added.flatMap(({ text }, at) => (messages[at]?.role === 'system' ? [text] : []));
    if (system.length > 0) conversation.system = system;
    this.grow(conversation, added);
    this.conversations.set(id, conversation);
    this.use(id);
    this.evict();
    return conversation.version;
  }

  private grow(conversation: Conversation, added: readonly Entry[]): void {
    for (const entry of added) conversation.entries.push(entry);
    conversation.version += added.length;
    this.count(
      conversation,
      added.reduce((sum, { text }) => sum + text.length, 0),
    );
    while (conversation.entries.length - conversation.start > this.limits.maxMessages) {
      this.count(conversation, -(conversation.entries[conversation.start] as Entry).text.length);
      conversation.entries[conversation.start++] = GONE;
    }
    // the places of what is gone are given up in large steps: one by one it would cost the length of the log each time
    if (conversation.start > 1_000 && conversation.start * 2 > conversation.entries.length) {
      conversation.entries = conversation.entries.slice(conversation.start);
      conversation.start = 0;
    }
  }

  private empty(conversation: Conversation): void {
    this.count(conversation, -conversation.characters);
    conversation.entries = [];
    conversation.start = 0;
    conversation.system = [];
  }

  private count(conversation: Conversation, characters: number): void {
    conversation.characters += characters;
    this.characters += characters;
  }

  /** The conversation, as the one that was used last. */
  private use(id: string): Conversation | undefined {
    this.forgetIdle();
    const conversation = this.conversations.get(id);
    if (!conversation) return undefined;
    conversation.usedAt = this.limits.now();
    this.conversations.delete(id);
    this.conversations.set(id, conversation);
    return conversation;
  }

  private forgetIdle(): void {
    if (this.limits.maxIdle === Infinity) return;
    const limit = this.limits.now() - this.limits.maxIdle;
    for (const [id, { usedAt }] of this.conversations) {
      if (usedAt > limit) return;
      this.forget(id);
    }
  }

  private evict(): void {
    const { maxConversations, maxCharacters } = this.limits;
    for (const id of this.conversations.keys()) {
      const isTooMuch = this.conversations.size > maxConversations || this.characters > maxCharacters;
      if (!isTooMuch || this.conversations.size === 1) return;
      this.forget(id);
    }
  }

  private forget(id: string): void {
    this.characters -= this.conversations.get(id)?.characters ?? 0;
    this.conversations.delete(id);
  }
}
