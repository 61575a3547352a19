import type { Message } from '../chat/message.js';
import { type Rule, checkOption, checkOptions, integer, rule } from '../internal/options.js';

/** A message in the log of a conversation. */
export interface StoredMessage {
  /** Number within the conversation: 1, 2, and so on; never reused, not even after `replace`. */
  readonly version: number;
  /** Id of the turn that wrote the message, if any. */
  readonly turnId: string | undefined;
  readonly message: Message;
}

/** A conversation, or a page of it. */
export interface ConversationLog {
  /** Version of the last message; 0 if the conversation does not exist. */
  readonly version: number;
  /** Oldest first, with consecutive versions. */
  readonly messages: readonly StoredMessage[];
  /** System messages of the last write that had any, also if they are not part of the page. */
  readonly systemMessages: readonly Message[];
}

/** Capabilities of a store. */
export interface ChatMemoryCapabilities {
  /** True if acknowledged writes survive the end of the process. */
  readonly durable: boolean;
  /** True if each write is atomic, also when the process dies during the write. */
  readonly transactional: boolean;
  /** True if tool calls and their results are kept. */
  readonly storesToolMessages: boolean;
}

/** Options of a write. */
export interface WriteOptions {
  /** Required version of the conversation; otherwise {@link MemoryConflictError}. */
  readonly expectedVersion?: number | undefined;
  /** Id of the turn that writes; the rules for conversation ids apply. */
  readonly turnId?: string | undefined;
}

/** Options of a replacement. Without the version, messages added since the read would be lost. */
export interface ReplaceOptions extends WriteOptions {
  readonly expectedVersion: number;
}

/** The part of a conversation to read. */
export interface ReadOptions {
  /** Maximum number of messages, the newest ones; an integer >= 0. @default all */
  readonly limit?: number | undefined;
  /** Upper bound of the versions, exclusive. @default none */
  readonly beforeVersion?: number | undefined;
}

/** The ids to list. */
export interface ConversationIdsOptions {
  /** Literal prefix of the ids. */
  readonly prefix?: string | undefined;
  /** Cursor: the last id of the previous page. */
  readonly after?: string | undefined;
  /** Maximum number of ids; an integer >= 0. @default 100 */
  readonly limit?: number | undefined;
}

/**
 * A store of conversations: an append-only log for each, with atomic writes. Ids are opaque, of 1 to
 * 512 characters without NUL and unpaired surrogates. Ids and contents are never part of a query,
 * pattern or path.
 */
export interface ChatMemoryRepository {
  readonly capabilities: ChatMemoryCapabilities;
  /**
   * Adds messages to the end of a conversation and returns its new version. An empty list changes
   * nothing.
   * @throws MemoryConflictError if the conversation does not have the expected version
   */
  append(
    conversationId: string,
    messages: readonly Message[],
    options?: WriteOptions,
  ): Promise<number>;
  read(conversationId: string, options?: ReadOptions): Promise<ConversationLog>;
  /**
   * Replaces the whole log, for compaction, and returns the new version. Versions continue from the
   * present one and increase at least by 1.
   * @throws MemoryConflictError if the conversation does not have the expected version
   */
  replace(
    conversationId: string,
    messages: readonly Message[],
    options: ReplaceOptions,
  ): Promise<number>;
  /** Deletes a conversation; does nothing if it does not exist. */
  delete(conversationId: string): Promise<void>;
  /** Lists a page of the ids, in the order of their UTF-8 bytes. */
  conversationIds(options?: ConversationIdsOptions): Promise<readonly string[]>;
}

const ID_CHARACTERS = /^[^\0\p{Surrogate}]*$/u;
const ID_RULE = 'of at most 512 characters, without NUL and unpaired surrogates';
export const CONVERSATION_ID: Rule = rule(
  `a non-blank string ${ID_RULE}`,
  (id) => isPartOfId(id) && id.trim() !== '',
);
export const PART_OF_ID: Rule = rule(`a string ${ID_RULE}`, isPartOfId);

function isPartOfId(text: unknown): text is string {
  return typeof text === 'string' && text.length <= 512 && ID_CHARACTERS.test(text);
}

/** @throws {@link InvalidArgumentError} if the value is not a conversation id */
export function checkConversationId(id: unknown, where: string): asserts id is string {
  checkOption(where, 'conversationId', id, CONVERSATION_ID);
}

/** Compares two texts by their UTF-8 bytes; `<` would compare UTF-16 units. */
export function compareUtf8(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  const at = left.findIndex((character, index) => character !== right[index]);
  const codePoint = left[at]?.codePointAt(0);
  return codePoint === undefined
    ? left.length - right.length
    : codePoint - (right[at]?.codePointAt(0) ?? -1);
}

/** A repository that checks its arguments; the subclass stores the conversations. */
export abstract class CheckedChatMemoryRepository implements ChatMemoryRepository {
  readonly capabilities: ChatMemoryCapabilities = {
    durable: true,
    transactional: true,
    storesToolMessages: true,
  };

  async append(
    conversationId: string,
    messages: readonly Message[],
    options: WriteOptions = {},
  ): Promise<number> {
    checkWrite('append', conversationId, options);
    return this.writeMessages(conversationId, messages, options, false);
  }

  async read(conversationId: string, options: ReadOptions = {}): Promise<ConversationLog> {
    checkConversationId(conversationId, 'read');
    checkOptions('read', options, { limit: integer(0), beforeVersion: integer(0) });
    return this.readLog(conversationId, options);
  }

  async replace(
    conversationId: string,
    messages: readonly Message[],
    options: ReplaceOptions,
  ): Promise<number> {
    checkOption('replace', 'expectedVersion', options?.expectedVersion, integer(0));
    checkWrite('replace', conversationId, options);
    return this.writeMessages(conversationId, messages, options, true);
  }

  async delete(conversationId: string): Promise<void> {
    checkConversationId(conversationId, 'delete');
    await this.deleteLog(conversationId);
  }

  async conversationIds(options: ConversationIdsOptions = {}): Promise<readonly string[]> {
    const rules = { prefix: PART_OF_ID, after: PART_OF_ID, limit: integer(0) };
    checkOptions('conversationIds', options, rules);
    const { prefix = '', after = '', limit = 100 } = options;
    return this.listIds(prefix, after, limit);
  }

  /** @param isReplacing whether the messages replace the log; otherwise they are appended */
  protected abstract writeMessages(
    id: string,
    messages: readonly Message[],
    options: WriteOptions,
    isReplacing: boolean,
  ): number | Promise<number>;
  protected abstract readLog(id: string, options: ReadOptions): Promise<ConversationLog>;
  protected abstract deleteLog(id: string): Promise<void>;
  /** @param after id before the first one; empty without any */
  protected abstract listIds(
    prefix: string,
    after: string,
    limit: number,
  ): Promise<readonly string[]>;
}

function checkWrite(where: string, id: string, options: WriteOptions): void {
  checkConversationId(id, where);
  checkOptions(where, options, { expectedVersion: integer(0), turnId: CONVERSATION_ID });
}
