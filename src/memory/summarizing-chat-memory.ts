import type { ChatModel } from '../chat/chat-model.js';
import { describe, type Message } from '../chat/message.js';
import { tell } from '../chat/tell.js';
import { InvalidArgumentError, MemoryConflictError } from '../errors.js';
import { addMessages } from './add-messages.js';
import {
  checkConversationId,
  type ChatMemoryCapabilities,
  type ChatMemoryRepository,
  type ConversationLog,
  type StoredMessage,
} from './chat-memory-repository.js';
import type { AddOptions, ChatMemory, Remembered, RunningTurn } from './chat-memory.js';
import { summarize, summaryOf, toSummaryMessage, type Summary } from './conversation-summary.js';
import { estimateTokens } from './estimate-tokens.js';
import { LogReader } from './log-reader.js';
import { encodeMessage } from './message-codec.js';
import { turnsOf, withLast, type StoredTurn } from './turns.js';

/** Options of a {@link SummarizingChatMemory}. */
export interface SummarizingChatMemoryOptions {
  readonly repository: ChatMemoryRepository;
  /** Writes the summaries. */
  readonly model: ChatModel;
  /** Beyond this number of messages the older half becomes a summary; 2 or more. @default 40 */
  readonly maxMessages?: number | undefined;
  /** The same for tokens, counted by {@link tokenCounter}; 1 or more. @default no limit */
  readonly maxTokens?: number | undefined;
  /** Tokens of a message. @default a quarter of the characters of its texts and arguments, and 4 */
  readonly tokenCounter?: ((message: Message) => number) | undefined;
  /** Whether the log keeps what a summary stands for; if not, the summary takes its place. @default true */
  readonly keepOriginals?: boolean | undefined;
  /** Told of a summary that could not be made or stored; the conversation stays as it was, and the next turn tries again. @default nobody */
  readonly onSummaryError?: ((error: unknown, conversationId: string) => void) | undefined;
}

/** How often a summary is stored anew beside turns that are quicker. */
const MOST_TRIES = 3;

/** A conversation since its last summary. */
interface Recent {
  readonly log: ConversationLog;
  readonly summary: Message | undefined;
  /** What the summary does not stand for. */
  readonly stored: readonly StoredMessage[];
}

/**
 * Remembers a conversation as a summary of its older turns and the latest turns as they were. The summary is made when a turn is
 * added that makes the conversation too long, behind it in the log: it stands for messages by their version, so that a turn that is
 * added meanwhile is not lost.
 */
export class SummarizingChatMemory implements ChatMemory {
  private readonly options: SummarizingChatMemoryOptions;
  private readonly maxMessages: number;
  private readonly maxTokens: number;
  private readonly tokenCounter: (message: Message) => number;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: SummarizingChatMemoryOptions) {
    const { repository, model, maxMessages = 40, maxTokens = Infinity, tokenCounter = estimateTokens, onSummaryError } = options ?? {};
    check('repository', repository, 'a ChatMemoryRepository', typeof repository?.append === 'function');
    check('model', model, 'a ChatModel', typeof model?.call === 'function');
    check('maxMessages', maxMessages, 'an integer of 2 or more', Number.isInteger(maxMessages) && maxMessages >= 2);
    check('maxTokens', maxTokens, 'a number of 1 or more', typeof maxTokens === 'number' && maxTokens >= 1);
    check('tokenCounter', tokenCounter, 'a function', typeof tokenCounter === 'function');
    check('onSummaryError', onSummaryError, 'a function', ['function', 'undefined'].includes(typeof onSummaryError));
    this.options = options;
    this.maxMessages = maxMessages;
    this.maxTokens = maxTokens;
    this.tokenCounter = tokenCounter;
  }

  get capabilities(): ChatMemoryCapabilities {
    return this.options.repository.capabilities;
  }

  /** Resolves when the messages are stored and, if the conversation is now too long, when its summary was made. */
  async add(conversationId: string, messages: Message | readonly Message[], options: AddOptions = {}): Promise<number> {
    const version = await addMessages(this.options.repository, conversationId, messages, options);
    try {
      await this.compact(conversationId);
    } catch (error) {
      // the turn is stored; another process that was quicker with a summary is no failure either
      if (!(error instanceof MemoryConflictError)) tell(() => this.options.onSummaryError?.(error, conversationId));
    }
    return version;
  }

  async get(conversationId: string): Promise<readonly Message[]> {
    return (await this.load(conversationId)).messages;
  }

  async load(conversationId: string, running?: RunningTurn): Promise<Remembered> {
    checkConversationId(conversationId, 'ChatMemory.get');
    const { log, summary, stored } = await this.recent(conversationId);
    const turns = withLast(turnsOf(stored), running?.turnId);
    return {
      messages: [...log.systemMessages, ...(summary ? [summary] : []), ...turns.flatMap(({ messages }) => messages)],
      version: log.version,
    };
  }

  async clear(conversationId: string): Promise<void> {
    checkConversationId(conversationId, 'ChatMemory.clear');
    await this.options.repository.delete(conversationId);
  }

  /** Reads backwards until all is there that the last summary does not stand for. */
  private async recent(conversationId: string): Promise<Recent> {
    const reader = new LogReader(this.options.repository, conversationId, this.maxMessages + 1);
    const log = await reader.start();
    for (;;) {
      const last = reader.messages.findLast(({ message }) => summaryOf(message));
      const summary = last?.message;
      // a summary stands for what is before it, also where it was copied from another log or this one began anew
      const upTo = last ? Math.min((summaryOf(last.message) as Summary).upTo, last.version - 1) : 0;
      if (reader.first <= upTo + 1)
        return { log, summary, stored: reader.messages.filter(({ version, message }) => version > upTo && !summaryOf(message)) };
      await reader.readOn();
    }
  }

  private async compact(conversationId: string): Promise<void> {
    const { repository, model, keepOriginals = true } = this.options;
    const { log, summary, stored } = await this.recent(conversationId);
    const old = this.oldTurns(turnsOf(stored));
    if (old.length === 0) return;
    const folded = new Set(old.flatMap(({ messages }) => messages));
    const rest = stored.filter(({ message }) => message.role !== 'system' && !folded.has(message));
    const text = await summarize(model, [...folded], summary && summaryOf(summary)?.summary);
    // a summary stands for all up to a version: turns that were written at the same time are folded once both are old
    const upTo = Math.max(...stored.filter(({ message }) => folded.has(message)).map(({ version }) => version));
    if (!keepOriginals) {
      const kept = [...log.systemMessages, toSummaryMessage(text, log.version), ...rest.map(({ message }) => message)];
      await repository.replace(conversationId, kept, { expectedVersion: log.version });
    } else if (rest.every(({ version }) => version > upTo)) await this.appendSummary(conversationId, text, upTo, stored);
  }

  /** Turns may be added meanwhile; of a conversation that was cleared meanwhile nothing may come back. */
  private async appendSummary(conversationId: string, text: string, upTo: number, stored: readonly StoredMessage[]): Promise<void> {
    const { repository } = this.options;
    const last = stored.find(({ version }) => version === upTo);
    for (let tries = 0; last && tries < MOST_TRIES; tries++) {
      const { version, messages } = await repository.read(conversationId, { beforeVersion: upTo + 1, limit: 1 });
      const [present] = messages;
      if (present?.version !== upTo || encodeMessage(present.message) !== encodeMessage(last.message)) return;
      try {
        await repository.append(conversationId, [toSummaryMessage(text, upTo)], { expectedVersion: version });
        return;
      } catch (error) {
        if (!(error instanceof MemoryConflictError)) throw error;
      }
    }
  }

  /** The turns that make the conversation too long: so many that the others take up half of the limits, but never the latest. */
  private oldTurns(turns: readonly StoredTurn[]): readonly StoredTurn[] {
    const sizes = turns.map(({ messages }) => ({
      messages: messages.length,
      tokens: this.maxTokens === Infinity ? 0 : messages.reduce((sum, message) => sum + this.tokenCounter(message), 0),
    }));
    const total = sizes.reduce((sum, size) => ({ messages: sum.messages + size.messages, tokens: sum.tokens + size.tokens }), {
      messages: 0,
      tokens: 0,
    });
    if (total.messages <= this.maxMessages && total.tokens <= this.maxTokens) return [];
    let { messages, tokens } = total;
    const count = sizes.findIndex((size) => {
      if (messages <= this.maxMessages / 2 && tokens <= this.maxTokens / 2) return true;
      messages -= size.messages;
      tokens -= size.tokens;
      return false;
    });
    return turns.slice(0, Math.min(count < 0 ? turns.length : count, turns.length - 1));
  }
}

function check(option: string, value: unknown, rule: string, isRight: boolean): void {
  if (!isRight) throw new InvalidArgumentError(`SummarizingChatMemory: ${option} must be ${rule}, not ${describe(value)}`);
}
