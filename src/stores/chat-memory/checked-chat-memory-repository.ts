import { checkMessage, type Message } from '../../core/chat/message.js';
import { AdvisorChainError, MemoryReadError, MemoryWriteError } from '../../core/errors/errors.js';
import {
  CHECKED_APART,
  checkFields,
  checkOption,
  checkOptions,
  FUNCTION,
  integer,
  PART_OF_ID,
} from '../../core/internal/options.js';
import { withSignalOf } from '../../core/internal/cancellation.js';
import {
  checkConversationId,
  type AppendOptions,
  type ChatMemoryCapabilities,
  type ChatMemoryRepository,
  type ConversationIdsOptions,
  type ConversationLog,
  type ReadOptions,
  type ReplaceOptions,
} from './chat-memory-repository.js';
import { decodeMessage } from '../../core/chat/message-codec.js';
import { checkVersion, encodeWrite, type EncodedLog, type EncodedWrite } from './encoded-write.js';
import { writeOutcomeOf } from './write-outcome.js';

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

/** Rules of {@link DecodingOptions}. */
export const DECODING_RULES = { onUnreadable: FUNCTION };

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
    checkFields(where, options, DECODING_RULES);
    this.onUnreadable = options.onUnreadable;
  }

  async append(
    conversationId: string,
    messages: readonly Message[],
    options: AppendOptions = {},
  ): Promise<number> {
    const write = encodeWrite('append', conversationId, messages, options);
    if (messages.length > 0) return this.write(conversationId, write);
    const { version } = await this.read(conversationId, withSignalOf({ limit: 0 }, options));
    checkVersion(conversationId, options.expectedVersion, version);
    return version;
  }

  async read(conversationId: string, options: ReadOptions = {}): Promise<ConversationLog> {
    checkConversationId(conversationId, 'read');
    checkOptions('read', options, READ_RULES);
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
   * Writes, unless the conversation knows the id of the write, or the end of its turn.
   * @returns the version that the first write with this id made
   * @throws MemoryConflictError as {@link ChatMemoryRepository.append} does
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

const READ_RULES = { limit: integer(0), beforeVersion: integer(0), signal: CHECKED_APART };
