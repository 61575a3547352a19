import {
  CONVERSATION_ID as CONVERSATION_KEY,
  type AdvisorContext,
} from '../../core/chat/context.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import type { Message } from '../../core/chat/message.js';
import { checkOption, ID } from '../../core/internal/options.js';

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
  /** Oldest first; superseded messages are missing, so that versions have gaps. */
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
  /**
   * Required version of the conversation; otherwise {@link MemoryConflictError}. Messages of the turn
   * itself do not count in a write that supersedes.
   */
  readonly expectedVersion?: number | undefined;
  /** Id of the turn that writes; the rules for conversation ids apply. */
  readonly turnId?: string | undefined;
  /**
   * Id of this write; the rules for conversation ids apply. A write whose id the conversation knows
   * changes nothing and returns the version that the first one made. @default a new id
   */
  readonly writeId?: string | undefined;
  /**
   * Ends a wait of the store, such as that for a lock, with {@link CancelledError}; then nothing is
   * written. What was sent to a server is not taken back.
   */
  readonly signal?: AbortSignal | undefined;
}

/** Options of an addition to the log. */
export interface AppendOptions extends WriteOptions {
  /**
   * Removes the messages of the turn `turnId` after this version in the same transaction; 0 removes
   * all of them. If it is not 0, the message with this version must be in the log and belong to the
   * turn, otherwise {@link MemoryConflictError}. After a write whose `writeId` is the id of the turn,
   * the turn has ended: nothing changes, and the version of that write is returned.
   * @default removes nothing
   */
  readonly supersedesAfter?: number | undefined;
}

/** Options of a replacement. Without the version, messages added since the read would be lost. */
export interface ReplaceOptions extends WriteOptions {
  readonly expectedVersion: number;
  /** Ids of the turns of the messages, in their order. @default `turnId` for each */
  readonly turnIds?: readonly (string | undefined)[] | undefined;
}

/** The part of a conversation to read. */
export interface ReadOptions {
  /** Maximum number of messages, the newest ones; an integer >= 0. @default all */
  readonly limit?: number | undefined;
  /** Upper bound of the versions, exclusive. @default none */
  readonly beforeVersion?: number | undefined;
  /** Ends a wait of the store, such as that for a lock, with {@link CancelledError}. */
  readonly signal?: AbortSignal | undefined;
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
 *
 * A conversation knows the ids of the writes of its log, and of those that its last replacement has
 * removed; `delete` forgets them. A failed write rejects with {@link MemoryConflictError},
 * {@link CancelledError} or {@link InvalidArgumentError} if nothing was written, otherwise with
 * {@link MemoryWriteError} and its `outcome`; of any other error the outcome is unknown.
 */
export interface ChatMemoryRepository {
  readonly capabilities: ChatMemoryCapabilities;
  /**
   * Adds messages to the end of a conversation and returns its new version. An empty list changes
   * nothing.
   * @throws MemoryConflictError if the conversation does not have the expected version, or not the
   * message after which the turn is superseded
   */
  append(
    conversationId: string,
    messages: readonly Message[],
    options?: AppendOptions,
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

/** @throws {@link InvalidArgumentError} if the value is not a conversation id */
export function checkConversationId(id: unknown, where: string): asserts id is string {
  checkOption(where, 'conversationId', id, ID);
}

/** @throws {@link InvalidArgumentError} if a request has no conversation id, or an invalid one */
export function conversationIdOf(context: AdvisorContext, where: string): string {
  const id = context.get(CONVERSATION_KEY);
  if (id === undefined)
    throw new InvalidArgumentError(
      `${where}: the request has no conversation id; add .conversation(id), with a different id for each conversation`,
    );
  checkConversationId(id, where);
  return id;
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
