import { randomId } from '../../core/chat/context.js';
import { estimateTokens } from '../../core/chat/estimate-tokens.js';
import { checkMessage, type Message } from '../../core/chat/message.js';
import { hasCode } from '../../core/errors/advisor-chain-error.js';
import {
  BOOLEAN,
  CHECKED_APART,
  checkFields,
  checkOptions,
  FUNCTION,
  numberBetween,
  required,
  type OptionRules,
  withMethods,
} from '../../core/internal/options.js';
import { withSignalOf, type Abortable } from '../../core/internal/cancellation.js';
import {
  checkConversationId,
  type AppendOptions,
  type ChatMemoryCapabilities,
  type ChatMemoryRepository,
  type ConversationLog,
  type ReadOptions,
} from './chat-memory-repository.js';
import { readHistoryPage, type HistoryOptions, type HistoryPage } from './history-page.js';
import type { StoredTurn } from './log-reader.js';
import { encodeMessage } from '../../core/chat/message-codec.js';
import { writeOutcomeOf } from './write-outcome.js';

/** The part of a conversation that is sent to a model, at one version of the conversation. */
export interface MemorySnapshot {
  /** System messages first, then whole turns, oldest first. */
  readonly messages: readonly Message[];
  /** Version of the conversation when it was read. */
  readonly version: number;
}

/** A turn in progress. */
export interface RunningTurn {
  readonly turnId: string;
  /** Its messages so far, an earlier attempt that is stored under its id is left out. */
  readonly messages: readonly Message[];
}

/** Options of {@link ChatMemory.add}. */
export interface AddOptions extends AppendOptions {
  /**
   * Signal of the run that the messages come from: ends a wait of the store, see
   * {@link AppendOptions}. Model calls of the memory count in the ledger of that run.
   */
  readonly signal?: AbortSignal | undefined;
  /** Keeps waiting after an abort, for the partial turn of a cancelled run. @default false */
  readonly outlivesAbort?: boolean | undefined;
}

/** Options of {@link ChatMemory.load}. */
export type LoadOptions = Pick<ReadOptions, 'signal'>;

/** Stores conversations and selects the part of one that is sent to the model. */
export interface ChatMemory {
  /** Capabilities of the store. */
  readonly capabilities: ChatMemoryCapabilities;
  /**
   * Adds messages in one atomic write and returns the new version of the conversation; the turn id
   * keeps turns apart that are stored concurrently.
   */
  add(
    conversationId: string,
    messages: Message | readonly Message[],
    options?: AddOptions,
  ): Promise<number>;
  /** Returns the messages of {@link load}. */
  get(conversationId: string): Promise<readonly Message[]>;
  /** @param running a turn in progress: its messages are included, as the last ones */
  load(
    conversationId: string,
    running?: RunningTurn,
    options?: LoadOptions,
  ): Promise<MemorySnapshot>;
  /** The stored messages, also if a model gets a summary of them. @default not known */
  log?(conversationId: string, options?: ReadOptions): Promise<ConversationLog>;
  /** Deletes a conversation. */
  clear(conversationId: string): Promise<void>;
}

/** Options of every {@link RepositoryChatMemory}. */
export interface RepositoryChatMemoryOptions {
  readonly repository: ChatMemoryRepository;
  /** Maximum number of tokens, counted by {@link tokenCounter}; a number >= 1. @default no limit */
  readonly maxTokens?: number | undefined;
  /** Counts the tokens of a message. @default a quarter of its characters, plus 4 */
  readonly tokenCounter?: ((message: Message) => number) | undefined;
}

const ADD_RULES: OptionRules<AddOptions> = {
  expectedVersion: CHECKED_APART,
  turnId: CHECKED_APART,
  writeId: CHECKED_APART,
  supersedesAfter: CHECKED_APART,
  signal: CHECKED_APART,
  outlivesAbort: BOOLEAN,
};
/** Rules of {@link RepositoryChatMemoryOptions}. */
export const REPOSITORY_RULES = {
  repository: required(
    withMethods('a ChatMemoryRepository, such as new InMemoryChatMemoryRepository()', 'append'),
  ),
  maxTokens: numberBetween(1, Infinity),
  tokenCounter: FUNCTION,
};

/** Number of messages and of their tokens; tokens are 0 if they are not limited. */
export interface MessagesSize {
  readonly messages: number;
  readonly tokens: number;
}

/** A {@link ChatMemory} on a repository, with limits of messages and tokens. */
export abstract class RepositoryChatMemory implements ChatMemory {
  protected readonly repository: ChatMemoryRepository;
  protected readonly maxTokens: number;
  private readonly tokenCounter: (message: Message) => number;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  protected constructor(
    where: string,
    options: RepositoryChatMemoryOptions,
    protected readonly maxMessages: number,
  ) {
    checkFields(where, options, REPOSITORY_RULES);
    this.repository = options.repository;
    this.maxTokens = options.maxTokens ?? Infinity;
    this.tokenCounter = options.tokenCounter ?? estimateTokens;
  }

  get capabilities(): ChatMemoryCapabilities {
    return this.repository.capabilities;
  }

  /** @throws {@link InvalidArgumentError} if the id is not valid or a message is malformed */
  async add(
    conversationId: string,
    messages: Message | readonly Message[],
    options: AddOptions = {},
  ): Promise<number> {
    checkConversationId(conversationId, 'ChatMemory.add');
    checkOptions('ChatMemory.add', options, ADD_RULES);
    const list = (Array.isArray(messages) ? messages : [messages]) as readonly Message[];
    list.forEach((message, at) => checkMessage(message, `ChatMemory.add: messages[${at}]`));
    const wait = options.outlivesAbort ? {} : options;
    const added = await this.withoutKnownSystemMessages(conversationId, list, wait);
    const { turnId, writeId, expectedVersion, supersedesAfter } = options;
    const write = { turnId, writeId, expectedVersion, supersedesAfter };
    return this.append(conversationId, added, withSignalOf(write, wait));
  }

  /** Appends; if the outcome is unknown, once more: the id of the write keeps it from doubling. */
  protected async append(
    conversationId: string,
    messages: readonly Message[],
    options: AppendOptions,
  ): Promise<number> {
    const write = { ...options, writeId: options.writeId ?? randomId() };
    const attempt = (): Promise<number> => this.repository.append(conversationId, messages, write);
    return attempt().catch((first: unknown) => {
      if (writeOutcomeOf(first) === 'not-stored') throw first;
      return attempt().catch((second: unknown) => {
        // a conflict proves that the first attempt was not stored, any other error does not
        throw hasCode(second, 'memory_conflict') ? second : first;
      });
    });
  }

  async get(conversationId: string): Promise<readonly Message[]> {
    return (await this.load(conversationId)).messages;
  }

  abstract load(
    conversationId: string,
    running?: RunningTurn,
    options?: LoadOptions,
  ): Promise<MemorySnapshot>;

  /**
   * The messages of a conversation that people may see, page by page, the newest page first; all of
   * them, whatever a model gets.
   * @throws {@link InvalidArgumentError} if the id or an option is invalid, {@link MemoryReadError}
   */
  async history(conversationId: string, options?: HistoryOptions): Promise<HistoryPage> {
    return readHistoryPage(this.repository, conversationId, options);
  }

  /** @throws {@link InvalidArgumentError} if the id or an option is invalid, the error of the store */
  async log(conversationId: string, options?: ReadOptions): Promise<ConversationLog> {
    checkConversationId(conversationId, 'ChatMemory.log');
    return this.repository.read(conversationId, options);
  }

  async clear(conversationId: string): Promise<void> {
    checkConversationId(conversationId, 'ChatMemory.clear');
    await this.repository.delete(conversationId);
  }

  /** Drops repeated system messages: they would replace those that are not repeated. */
  private async withoutKnownSystemMessages(
    conversationId: string,
    messages: readonly Message[],
    wait: Abortable,
  ): Promise<readonly Message[]> {
    const added = messages.filter(({ role }) => role === 'system');
    if (added.length === 0) return messages;
    const head = withSignalOf({ limit: 0 }, wait);
    const { systemMessages } = await this.repository.read(conversationId, head);
    const known = new Set(systemMessages.map(encodeMessage));
    if (!added.every((message) => known.has(encodeMessage(message)))) return messages;
    return messages.filter(({ role }) => role !== 'system');
  }

  /** Index of the first of the latest turns that fit into the limits; the last turn always fits. */
  protected firstFittingTurn(
    turns: readonly StoredTurn[],
    reserved: readonly Message[],
    fraction = 1,
  ): number {
    let { messages, tokens } = this.sizeOf(reserved);
    const tooMuch = turns.findLastIndex((turn, at) => {
      const size = this.sizeOf(turn.messages);
      messages += size.messages;
      tokens += size.tokens;
      return at < turns.length - 1 && this.exceedsLimits({ messages, tokens }, fraction);
    });
    return tooMuch + 1;
  }

  protected exceedsLimits({ messages, tokens }: MessagesSize, fraction = 1): boolean {
    return messages > this.maxMessages * fraction || tokens > this.maxTokens * fraction;
  }

  protected sizeOf(messages: readonly Message[]): MessagesSize {
    const tokens =
      this.maxTokens === Infinity
        ? 0
        : messages.reduce((sum, message) => sum + this.tokenCounter(message), 0);
    return { messages: messages.length, tokens };
  }
}
