import { checkOptions, numberBetween } from '../internal/options.js';
import { compareUtf8, type ReadOptions } from '../memory/chat-memory-repository.js';
import {
  CheckedChatMemoryRepository,
  checkVersion,
  type EncodedEntry,
  type EncodedLog,
  type EncodedWrite,
} from '../memory/checked-chat-memory-repository.js';

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
}

const LIMIT = numberBetween(1, Infinity);
const RULES = { maxConversations: LIMIT, maxMessages: LIMIT, maxCharacters: LIMIT };

interface Conversation {
  readonly version: number;
  readonly system: string | null;
  /** Changed in place: a copy would cost the length of the log. */
  readonly entries: EncodedEntry[];
  /** Versions that writes have made, by the ids of the writes; oldest first. */
  readonly writes: Map<string, number>;
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

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(private readonly options: InMemoryChatMemoryRepositoryOptions = {}) {
    super('InMemoryChatMemoryRepository');
    checkOptions('InMemoryChatMemoryRepository', options, RULES);
  }

  protected async readLog(id: string, options: ReadOptions): Promise<EncodedLog> {
    const { limit = Infinity, beforeVersion = Infinity } = options;
    const { version, system, entries } = this.use(id);
    const firstVersion = version - entries.length + 1;
    const end = Math.max(0, Math.min(entries.length, beforeVersion - firstVersion));
    return { version, system, entries: entries.slice(Math.max(0, end - limit), end) };
  }

  protected async deleteLog(id: string): Promise<void> {
    this.remove(id);
  }

  protected async listIds(prefix: string, after: string, limit: number): Promise<string[]> {
    return [...this.conversations.keys()]
      .filter((id) => compareUtf8(id, prefix) >= 0 && compareUtf8(id, after) > 0)
      .toSorted(compareUtf8)
      .slice(0, limit);
  }

  /** Synchronous, so that concurrent writes cannot interleave. */
  protected writeLog(id: string, write: EncodedWrite): number {
    const { texts, turn, writeId, expectedVersion, isReplacing } = write;
    const { version: present, system, entries, writes } = this.use(id);
    const known = writes.get(writeId);
    if (known !== undefined) return known;
    checkVersion(id, expectedVersion, present);
    const version = present + Math.max(texts.length, 1);
    const added = texts.map((message, at) => ({ version: present + at + 1, turn, message }));
    if (isReplacing) this.removeEntries(entries, writes, 0);
    for (const entry of added) entries.push(entry);
    this.characters += charactersOf(added);
    const { maxMessages = 10_000 } = this.options;
    if (entries.length > maxMessages) this.removeEntries(entries, writes, maxMessages);
    writes.set(writeId, version);
    const latest = isReplacing ? write.system : (write.system ?? system);
    this.conversations.set(id, { version, system: latest, entries, writes });
    this.evictConversations();
    return version;
  }

  /** Finds a conversation and marks it as the most recently used; a missing one is empty. */
  private use(id: string): Conversation {
    const conversation = this.conversations.get(id);
    if (!conversation) return { version: 0, system: null, entries: [], writes: new Map() };
    this.conversations.delete(id);
    this.conversations.set(id, conversation);
    return conversation;
  }

  /** Removes the oldest entries, and the ids of writes whose messages were removed before. */
  private removeEntries(entries: EncodedEntry[], writes: Map<string, number>, kept: number): void {
    const firstVersion = Number(entries[0]?.version ?? 0);
    for (const [writeId, version] of writes) {
      if (version >= firstVersion) break;
      writes.delete(writeId);
    }
    this.characters -= charactersOf(entries.splice(0, entries.length - kept));
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

  /** A write in this process is whole or not begun. */
  protected isRefused(): boolean {
    return true;
  }

  private remove(id: string): void {
    this.characters -= charactersOf(this.conversations.get(id)?.entries ?? []);
    this.conversations.delete(id);
  }
}

function charactersOf(entries: readonly EncodedEntry[]): number {
  return entries.reduce((sum, { message }) => sum + message.length, 0);
}
