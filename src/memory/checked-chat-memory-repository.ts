import { checkMessage, type Message } from '../chat/message.js';
import { randomId } from '../chat/context.js';
import { AdvisorChainError } from '../errors.js';
import {
  checkOption,
  checkOptions,
  FUNCTION,
  integer,
  PLAIN_OBJECT,
  rule,
} from '../internal/options.js';
import { withSignalOf, type Abortable } from '../internal/signal.js';
import {
  checkConversationId,
  CONVERSATION_ID,
  PART_OF_ID,
  type ChatMemoryCapabilities,
  type ChatMemoryRepository,
  type ConversationIdsOptions,
  type ConversationLog,
  type ReadOptions,
  type ReplaceOptions,
  type WriteOptions,
} from './chat-memory-repository.js';
import { MemoryConflictError, MemoryReadError, MemoryWriteError } from './memory-error.js';
import { decodeMessage, encodeMessage } from './message-codec.js';
import { writeOutcomeOf } from './write-outcome.js';

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
export interface EncodedWrite extends Abortable {
  readonly texts: readonly string[];
  /** JSON array of the encoded system messages; null without any. */
  readonly system: string | null;
  readonly turn: string | null;
  readonly writeId: string;
  readonly expectedVersion: number | undefined;
  /** True if the messages replace the log; otherwise they are appended, at least one. */
  readonly isReplacing: boolean;
}

/** A stored message that cannot be decoded: damaged, or of a later version of the library. */
export interface UnreadableMessage {
  readonly conversationId: string;
  /** Version of the message; `system` for the system messages of the conversation. */
  readonly version: number | 'system';
  /** The stored text. */
  readonly text: string;
  readonly cause: unknown;
}

/** Options of every store that keeps messages as text. */
export interface DecodingOptions {
  /**
   * Returns the message that takes the place of one that cannot be decoded. The store keeps its text,
   * unless the log is replaced. @default none: the read fails with {@link MemoryReadError}
   */
  readonly onUnreadable?: ((unreadable: UnreadableMessage) => Message) | undefined;
}

/** A repository that checks and encodes; the subclass stores the conversations. */
export abstract class CheckedChatMemoryRepository implements ChatMemoryRepository {
  readonly capabilities: ChatMemoryCapabilities = {
    durable: true,
    transactional: true,
    storesToolMessages: true,
  };

  private readonly onUnreadable: DecodingOptions['onUnreadable'];

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(where: string, options: DecodingOptions = {}) {
    checkOptions(where, options, { onUnreadable: FUNCTION });
    this.onUnreadable = options.onUnreadable;
  }

  async append(
    conversationId: string,
    messages: readonly Message[],
    options: WriteOptions = {},
  ): Promise<number> {
    const write = encodeWrite('append', conversationId, messages, options);
    if (messages.length > 0) return this.write(conversationId, write);
    const { version } = await this.read(conversationId, withSignalOf({ limit: 0 }, options));
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
        message: this.decode(conversationId, Number(entry.version), entry.message),
      })),
      systemMessages: textsOf(system).map((text) => this.decode(conversationId, 'system', text)),
    };
  }

  private decode(
    conversationId: string,
    version: UnreadableMessage['version'],
    text: string,
  ): Message {
    try {
      return decodeMessage(text);
    } catch (cause) {
      if (!this.onUnreadable) throw new MemoryReadError(conversationId, { version, cause });
      const message = this.onUnreadable({ conversationId, version, text, cause });
      checkMessage(message, 'onUnreadable');
      return message;
    }
  }

  async replace(
    conversationId: string,
    messages: readonly Message[],
    options: ReplaceOptions,
  ): Promise<number> {
    checkOption('replace', 'expectedVersion', options?.expectedVersion, integer(0));
    const write = encodeWrite('replace', conversationId, messages, options);
    return this.write(conversationId, write);
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

  private async write(id: string, write: EncodedWrite): Promise<number> {
    try {
      return await this.writeLog(id, write);
    } catch (cause) {
      const isRefused = writeOutcomeOf(cause) === 'not-stored' || this.isRefused(cause);
      if (cause instanceof AdvisorChainError && isRefused) throw cause;
      const outcome = isRefused ? 'not-stored' : 'unknown';
      throw new MemoryWriteError(id, { outcome, turnId: write.turn ?? undefined, cause });
    }
  }

  /**
   * Writes, unless the conversation knows the id of the write.
   * @returns the version that the first write with this id made
   * @throws MemoryConflictError if the conversation does not have the expected version
   */
  protected abstract writeLog(id: string, write: EncodedWrite): number | Promise<number>;
  /** Returns whether an error of the client proves that nothing was written. */
  protected abstract isRefused(error: unknown): boolean;
  protected abstract readLog(id: string, options: ReadOptions): Promise<EncodedLog>;
  protected abstract deleteLog(id: string): Promise<void>;
  /** Lists the first ids that are >= `prefix` and > `after`; both may be empty. */
  protected abstract listIds(prefix: string, after: string, limit: number): Promise<string[]>;
}

/** The encoded system messages of a column; a damaged column is one text that cannot be decoded. */
function textsOf(system: string | null): readonly string[] {
  if (system === null) return [];
  try {
    const texts: unknown = JSON.parse(system);
    return Array.isArray(texts) ? (texts as readonly string[]) : [system];
  } catch {
    return [system];
  }
}

const MESSAGES = rule('an array of messages', Array.isArray);

function encodeWrite(
  where: 'append' | 'replace',
  id: string,
  messages: readonly Message[],
  options: WriteOptions,
): EncodedWrite {
  checkConversationId(id, where);
  checkOption(where, 'messages', messages, MESSAGES);
  checkOption(where, 'options', options, PLAIN_OBJECT);
  checkOptions(where, options, {
    expectedVersion: integer(0),
    turnId: CONVERSATION_ID,
    writeId: CONVERSATION_ID,
  });
  const { turnId = null, writeId = randomId(), expectedVersion } = options;
  const texts = messages.map(encodeMessage);
  const systemTexts = texts.filter((_, at) => messages[at]?.role === 'system');
  const system = systemTexts.length > 0 ? JSON.stringify(systemTexts) : null;
  const isReplacing = where === 'replace';
  const write = { texts, system, turn: turnId, writeId, expectedVersion, isReplacing };
  return withSignalOf(write, options);
}

/** @throws MemoryConflictError if there is an expected version, and it is not the present one */
export function checkVersion(id: string, expected: number | undefined, present: number): void {
  if (expected !== undefined && expected !== present)
    throw new MemoryConflictError(id, expected, present);
}
