import type { Message } from '../chat/message.js';
import { MemoryConflictError } from './memory-error.js';
import {
  type Rule,
  checkOption,
  checkOptions,
  integer,
  PLAIN_OBJECT,
  rule,
} from '../internal/options.js';
import { decodeMessage, encodeMessage } from './message-codec.js';

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

/** A log or a page of it, encoded; numbers may be strings, as in some SQL clients. */
export interface EncodedLog {
  readonly version: number | string;
  /** JSON array of the encoded system messages; null without any. */
  readonly system: string | null;
  readonly entries: readonly EncodedEntry[];
}

export interface EncodedEntry {
  readonly version: number | string;
  readonly turn: string | null;
  readonly message: string;
}

/** A write, which increases the version by the number of its messages, at least by 1. */
export interface EncodedWrite {
  readonly texts: readonly string[];
  /** JSON array of the encoded system messages; null without any. */
  readonly system: string | null;
  readonly turn: string | null;
  readonly expectedVersion: number | undefined;
  /** True if the messages replace the log; otherwise they are appended, at least one. */
  readonly isReplacing: boolean;
}

/** A repository that checks and encodes; the subclass stores the conversations. */
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
    const write = encodeWrite('append', conversationId, messages, options);
    if (messages.length > 0) return this.writeLog(conversationId, write);
    const { version } = await this.read(conversationId, { limit: 0 });
    checkVersion(conversationId, options.expectedVersion, version);
    return version;
  }

  async read(conversationId: string, options: ReadOptions = {}): Promise<ConversationLog> {
    checkConversationId(conversationId, 'read');
    checkOptions('read', options, { limit: integer(0), beforeVersion: integer(0) });
    const { version, system, entries } = await this.readLog(conversationId, options);
    return {
      version: Number(version),
      messages: entries.map((entry) => ({
        version: Number(entry.version),
        turnId: entry.turn ?? undefined,
        message: decodeMessage(entry.message),
      })),
      systemMessages: (JSON.parse(system ?? '[]') as readonly string[]).map(decodeMessage),
    };
  }

  async replace(
    conversationId: string,
    messages: readonly Message[],
    options: ReplaceOptions,
  ): Promise<number> {
    checkOption('replace', 'expectedVersion', options?.expectedVersion, integer(0));
    const write = encodeWrite('replace', conversationId, messages, options);
    return this.writeLog(conversationId, { ...write, isReplacing: true });
  }

  async delete(conversationId: string): Promise<void> {
    checkConversationId(conversationId, 'delete');
    await this.deleteLog(conversationId);
  }

  async conversationIds(options: ConversationIdsOptions = {}): Promise<readonly string[]> {
    const rules = { prefix: PART_OF_ID, after: PART_OF_ID, limit: integer(0) };
    checkOptions('conversationIds', options, rules);
    const { prefix = '', after = '', limit = 100 } = options;
    // ids with the prefix are the first ones from the prefix on
    const ids = await this.listIds(prefix, after, limit);
    return ids.filter((id) => id.startsWith(prefix));
  }

  /** @throws MemoryConflictError if the conversation does not have the expected version */
  protected abstract writeLog(id: string, write: EncodedWrite): number | Promise<number>;
  protected abstract readLog(id: string, options: ReadOptions): Promise<EncodedLog>;
  protected abstract deleteLog(id: string): Promise<void>;
  /** Lists the first ids that are >= `prefix` and > `after`; both may be empty. */
  protected abstract listIds(prefix: string, after: string, limit: number): Promise<string[]>;
}

const MESSAGES = rule('an array of messages', Array.isArray);

function encodeWrite(
  where: string,
  id: string,
  messages: readonly Message[],
  options: WriteOptions,
): EncodedWrite {
  checkConversationId(id, where);
  checkOption(where, 'messages', messages, MESSAGES);
  checkOption(where, 'options', options, PLAIN_OBJECT);
  checkOptions(where, options, { expectedVersion: integer(0), turnId: CONVERSATION_ID });
  const { turnId = null, expectedVersion } = options;
  const texts = messages.map(encodeMessage);
  const systemTexts = texts.filter((_, at) => messages[at]?.role === 'system');
  const system = systemTexts.length > 0 ? JSON.stringify(systemTexts) : null;
  return { texts, system, turn: turnId, expectedVersion, isReplacing: false };
}

/** @throws MemoryConflictError if there is an expected version, and it is not the present one */
export function checkVersion(id: string, expected: number | undefined, present: number): void {
  if (expected !== undefined && expected !== present)
    throw new MemoryConflictError(id, expected, present);
}
