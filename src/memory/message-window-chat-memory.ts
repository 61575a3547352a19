import { describe, type Message } from '../chat/message.js';
import { tell } from '../chat/tell.js';
import { InvalidArgumentError } from '../errors.js';
import { addMessages } from './add-messages.js';
import {
  checkConversationId,
  type ChatMemoryCapabilities,
  type ChatMemoryRepository,
  type StoredMessage,
} from './chat-memory-repository.js';
import type { AddOptions, ChatMemory, Remembered, RunningTurn } from './chat-memory.js';
import { estimateTokens } from './estimate-tokens.js';
import { LogReader } from './log-reader.js';
import type { MessageTrimmer } from './trim-tool-results.js';
import { turnsOf, withLast, type StoredTurn } from './turns.js';

/** A turn that is larger than the window, and is kept whole all the same. */
export interface OversizedTurn {
  readonly conversationId: string;
  /** Number of messages of the turn and of the system messages before it. */
  readonly messages: number;
  /** Their tokens, if the window has a limit of tokens. */
  readonly tokens: number | undefined;
}

/** Options of a {@link MessageWindowChatMemory}. */
export interface MessageWindowChatMemoryOptions {
  readonly repository: ChatMemoryRepository;
  /** Most messages that are remembered, system messages included; 1 or more. The latest turn is never cut. @default 20 */
  readonly maxMessages?: number | undefined;
  /** Most tokens that are remembered, counted by {@link tokenCounter}; 1 or more. @default no limit */
  readonly maxTokens?: number | undefined;
  /** Tokens of a message. @default a quarter of the characters of its texts and arguments, and 4 */
  readonly tokenCounter?: ((message: Message) => number) | undefined;
  /** Told of a latest turn that does not fit into the window. @default nobody */
  readonly onOversizedTurn?: ((turn: OversizedTurn) => void) | undefined;
  /** Changes what is remembered on its way out, such as `trimToolResults({ keepLast: 3 })`. @default nothing */
  readonly trim?: MessageTrimmer | undefined;
}

/**
 * Remembers the latest turns that fit into a window. The store keeps everything; the window is computed when it is read, and cuts
 * between turns only: a tool call is never without its result, and the latest turn is always whole. System messages are kept however
 * old they are, until others take their place.
 */
export class MessageWindowChatMemory implements ChatMemory {
  private readonly repository: ChatMemoryRepository;
  private readonly maxMessages: number;
  private readonly maxTokens: number;
  private readonly tokenCounter: (message: Message) => number;
  private readonly onOversizedTurn: ((turn: OversizedTurn) => void) | undefined;
  private readonly trim: MessageTrimmer;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: MessageWindowChatMemoryOptions) {
    const {
      repository,
      maxMessages = 20,
      maxTokens = Infinity,
      tokenCounter = estimateTokens,
      onOversizedTurn,
      trim = unchanged,
    } = options ?? {};
    check('repository', repository, 'a ChatMemoryRepository', typeof repository?.append === 'function');
    check('maxMessages', maxMessages, 'an integer of 1 or more', Number.isInteger(maxMessages) && maxMessages >= 1);
    check('maxTokens', maxTokens, 'a number of 1 or more', typeof maxTokens === 'number' && maxTokens >= 1);
    check('tokenCounter', tokenCounter, 'a function', typeof tokenCounter === 'function');
    check('onOversizedTurn', onOversizedTurn, 'a function', onOversizedTurn === undefined || typeof onOversizedTurn === 'function');
    check('trim', trim, 'a function', typeof trim === 'function');
    this.repository = repository;
    this.maxMessages = maxMessages;
    this.maxTokens = maxTokens;
    this.tokenCounter = tokenCounter;
    this.onOversizedTurn = onOversizedTurn;
    this.trim = trim;
  }

  get capabilities(): ChatMemoryCapabilities {
    return this.repository.capabilities;
  }

  async add(conversationId: string, messages: Message | readonly Message[], options: AddOptions = {}): Promise<number> {
    return addMessages(this.repository, conversationId, messages, options);
  }

  async get(conversationId: string): Promise<readonly Message[]> {
    return (await this.load(conversationId)).messages;
  }

  async load(conversationId: string, running?: RunningTurn): Promise<Remembered> {
    checkConversationId(conversationId, 'ChatMemory.get');
    const log = new LogReader(this.repository, conversationId, this.maxMessages + 1);
    const { version, systemMessages } = await log.start();
    while (running && log.first > running.since + 1) await log.readOn();
    const turns = await this.window(log, systemMessages, running?.turnId);
    this.report(conversationId, turns, systemMessages);
    return { messages: this.trim([...systemMessages, ...turns.flatMap(({ messages }) => messages)]), version };
  }

  async clear(conversationId: string): Promise<void> {
    checkConversationId(conversationId, 'ChatMemory.clear');
    await this.repository.delete(conversationId);
  }

  /** The turns that fit, read in pages that grow until it is clear which these are. */
  private async window(log: LogReader, systemMessages: readonly Message[], running: string | undefined): Promise<readonly StoredTurn[]> {
    for (let page = log.messages; ; page = await log.readOn()) {
      const turns = withLast(turnsOf(log.messages), running);
      const first = this.firstThatFits(turns, systemMessages);
      // where all that was read fits, more may; a turn whose beginning was not read yet may be longer than what is seen of it
      const isKnown = turns.slice(first).every((turn) => turn.hasBeginning || !isOf(turn, page));
      if (log.isWhole || (first > 0 && isKnown)) return turns.slice(first);
    }
  }

  /** Index of the oldest turn of the window; the latest turn is always in it. */
  private firstThatFits(turns: readonly StoredTurn[], systemMessages: readonly Message[]): number {
    let { messages, tokens } = this.sizeOf(systemMessages);
    let first = turns.length;
    for (let at = turns.length - 1; at >= 0; at--) {
      const size = this.sizeOf((turns[at] as StoredTurn).messages);
      messages += size.messages;
      tokens += size.tokens;
      if (first < turns.length && (messages > this.maxMessages || tokens > this.maxTokens)) break;
      first = at;
    }
    return first;
  }

  private report(conversationId: string, turns: readonly StoredTurn[], systemMessages: readonly Message[]): void {
    if (!this.onOversizedTurn) return;
    const { messages, tokens } = this.sizeOf([...systemMessages, ...(turns.at(-1)?.messages ?? [])]);
    if (messages <= this.maxMessages && tokens <= this.maxTokens) return;
    const oversized = { conversationId, messages, tokens: this.maxTokens === Infinity ? undefined : tokens };
    tell(() => this.onOversizedTurn?.(oversized));
  }

  private sizeOf(messages: readonly Message[]): { readonly messages: number; readonly tokens: number } {
    if (this.maxTokens === Infinity) return { messages: messages.length, tokens: 0 };
    return { messages: messages.length, tokens: messages.reduce((sum, message) => sum + this.tokenCounter(message), 0) };
  }
}

/** Whether a page has something of a turn; of one without an id nobody knows. */
function isOf({ turnId }: StoredTurn, page: readonly StoredMessage[]): boolean {
  return turnId === undefined || page.some((stored) => stored.turnId === turnId);
}

const unchanged: MessageTrimmer = (messages) => messages;

function check(option: string, value: unknown, rule: string, isRight: boolean): void {
  if (!isRight) throw new InvalidArgumentError(`MessageWindowChatMemory: ${option} must be ${rule}, not ${describe(value)}`);
}
