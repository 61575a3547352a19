import { checkOptions, numberBetween } from '../../core/internal/options.js';
import { compareUtf8, type ReadOptions } from './chat-memory-repository.js';
import { CheckedChatMemoryRepository } from './checked-chat-memory-repository.js';
import {
  checkPlace,
  type EncodedEntry,
  type EncodedLog,
  type EncodedWrite,
} from './encoded-write.js';

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

interface Entry extends EncodedEntry {
  readonly version: number;
}

interface Conversation {
  readonly version: number;
  readonly system: string | null;
  /** Changed in place: a copy would cost the length of the log. */
  readonly entries: Entry[];
  /** Versions that writes have made, by the ids of the writes; oldest first. */
  readonly writes: Map<string, number>;
  /** Versions of the last messages of turns, by the ids of the turns; oldest first. */
  readonly turns: Map<string, number>;
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
    const end = indexOfVersion(entries, beforeVersion);
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
    const { writeId, endId, isReplacing } = write;
    const conversation = this.use(id);
    const { version: present, system, entries, writes, turns } = conversation;
    const known = writes.get(writeId) ?? writes.get(endId);
    if (known !== undefined) return known;
    checkWrite(id, write, conversation);
    const version = present + Math.max(write.entries.length, 1);
    if (isReplacing) this.removeEntries(conversation, 0);
    this.removeSuperseded(conversation, write);
    for (const [at, entry] of write.entries.entries()) {
      entries.push({ version: present + at + 1, ...entry });
      this.characters += entry.message.length;
    }
    for (const turn of new Set(write.entries.map((entry) => entry.turn)))
      if (turn !== null) moveToEnd(turns, turn, version);
    const { maxMessages = 10_000 } = this.options;
    if (entries.length > maxMessages) this.removeEntries(conversation, maxMessages);
    writes.set(writeId, version);
    const latest = isReplacing ? write.system : (write.system ?? system);
    this.conversations.set(id, { ...conversation, version, system: latest });
    this.evictConversations();
    return version;
  }

  /** Finds a conversation and marks it as the most recently used; a missing one is empty. */
  private use(id: string): Conversation {
    const conversation = this.conversations.get(id);
    if (!conversation)
      return { version: 0, system: null, entries: [], writes: new Map(), turns: new Map() };
    moveToEnd(this.conversations, id, conversation);
    return conversation;
  }

  /** Removes the oldest entries, and the ids of writes whose messages were removed before. */
  private removeEntries({ entries, writes, turns }: Conversation, kept: number): void {
    const firstVersion = entries[0]?.version ?? 0;
    for (const [writeId, version] of writes) {
      if (version >= firstVersion) break;
      writes.delete(writeId);
    }
    this.characters -= charactersOf(entries.splice(0, entries.length - kept));
    const first = entries[0]?.version ?? Infinity;
    for (const [turn, version] of turns) {
      if (version >= first) break;
      turns.delete(turn);
    }
  }

  private removeSuperseded({ entries, turns }: Conversation, write: EncodedWrite): void {
    const { turn, supersedesAfter } = write;
    if (turn === null || supersedesAfter === undefined || !turns.has(turn)) return;
    for (const entry of entries.splice(indexOfVersion(entries, supersedesAfter + 1)))
      if (entry.turn === turn) this.characters -= entry.message.length;
      else entries.push(entry);
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

function checkWrite(id: string, write: EncodedWrite, { version, entries }: Conversation): void {
  const turnAt = (place: number): string | null | undefined => {
    const entry = entries[indexOfVersion(entries, place)];
    return entry?.version === place ? entry.turn : undefined;
  };
  const hasOthers = (after: number): boolean =>
    entries.slice(indexOfVersion(entries, after + 1)).some(({ turn }) => turn !== write.turn);
  checkPlace(id, write, version, turnAt, hasOthers);
}

/** Sets a value and makes its key the last one. */
function moveToEnd<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
}

/** Index of the first entry with this version or a later one. */
function indexOfVersion(entries: readonly Entry[], version: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((entries[middle] as Entry).version < version) low = middle + 1;
    else high = middle;
  }
  return low;
}

function charactersOf(entries: readonly EncodedEntry[]): number {
  return entries.reduce((sum, { message }) => sum + message.length, 0);
}
