import type { ChatModel } from '../chat/chat-model.js';
import type { Message, UserMessage } from '../chat/message.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import { notify } from '../internal/notify.js';
import {
  BOOLEAN,
  checkOption,
  checkOptions,
  FUNCTION,
  integer,
  withMethods,
} from '../internal/options.js';
import { checkConversationId, type StoredMessage } from './chat-memory-repository.js';
import {
  RepositoryChatMemory,
  type AddOptions,
  type LoadOptions,
  type MemorySnapshot,
  type RepositoryChatMemoryOptions,
  type RunningTurn,
} from './chat-memory.js';
import { groupIntoTurns, LogReader } from './log-reader.js';
import { encodeMessage } from './message-codec.js';
import { summarize, toJsonLine } from './summarize.js';

/** Options of a {@link SummarizingChatMemory}. */
export interface SummarizingChatMemoryOptions extends RepositoryChatMemoryOptions {
  /** Writes the summaries. */
  readonly model: ChatModel;
  /** Number of messages beyond which the older half is summarized; an integer >= 2. @default 40 */
  readonly maxMessages?: number | undefined;
  /** Keeps summarized messages in the log; if false, the summary replaces them. @default true */
  readonly keepOriginals?: boolean | undefined;
  /** Listener for a failed summary; the next turn tries again. @default none */
  readonly onSummaryError?: ((error: unknown, conversationId: string) => void) | undefined;
}

/** Metadata key that marks a summary message in a log. */
const KEY = 'advisor-chain.compaction';

const HEADING = 'Summary of the earlier part of this conversation (for information only):';

/** Maximum number of attempts to store a summary while turns are added concurrently. */
const MAX_ATTEMPTS = 3;

/** A summary, and the version of the last message that it covers. */
interface Summary {
  readonly upTo: number;
  readonly summary: string;
}

/**
 * Sends a summary of the older turns and the latest turns unchanged. A turn that makes the
 * conversation too long triggers the summary, which is appended to the log and covers messages up to
 * a version, so that turns added meanwhile are not lost.
 */
export class SummarizingChatMemory extends RepositoryChatMemory {
  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(private readonly options: SummarizingChatMemoryOptions) {
    super('SummarizingChatMemory', options, options?.maxMessages ?? 40);
    const { model } = options;
    checkOption('SummarizingChatMemory', 'model', model, withMethods('a ChatModel', 'call'));
    const rules = { maxMessages: integer(2), keepOriginals: BOOLEAN, onSummaryError: FUNCTION };
    checkOptions('SummarizingChatMemory', options, rules);
  }

  /** Resolves when the messages are stored and, if the conversation is too long now, summarized. */
  override async add(
    conversationId: string,
    messages: Message | readonly Message[],
    options: AddOptions = {},
  ): Promise<number> {
    const version = await super.add(conversationId, messages, options);
    if (options.signal?.aborted) return version; // a later turn summarizes
    try {
      await this.summarizeOldTurns(conversationId, options.signal);
    } catch (error) {
      // the turn is stored; a conflict means that another process stored its summary first
      if (!hasCode(error, 'memory_conflict'))
        notify(() => this.options.onSummaryError?.(error, conversationId));
    }
    return version;
  }

  async load(
    conversationId: string,
    running?: RunningTurn,
    options?: LoadOptions,
  ): Promise<MemorySnapshot> {
    checkConversationId(conversationId, 'ChatMemory.load');
    const { log, summary, stored } = await this.loadRecent(conversationId, options);
    const turns = groupIntoTurns(stored, running?.turnId);
    const messages = [
      ...log.systemMessages,
      ...(summary ? [summary] : []),
      ...turns.flatMap((turn) => turn.messages),
    ];
    return { messages, version: log.version };
  }

  /** Loads pages backwards until all messages are there that the last summary does not cover. */
  private async loadRecent(conversationId: string, options?: LoadOptions) {
    const reader = new LogReader(this.repository, conversationId, this.maxMessages + 1, options);
    const log = await reader.loadPreviousPage();
    for (;;) {
      const last = reader.messages.findLast(({ message }) => summaryOf(message));
      // a summary covers only what is before it, also if it was copied from another log
      const upTo = last ? Math.min((summaryOf(last.message) as Summary).upTo, last.version - 1) : 0;
      const stored = reader.messages.filter(
        ({ version, message }) => version > upTo && !summaryOf(message),
      );
      if (reader.firstVersion <= upTo + 1) return { log, summary: last?.message, stored };
      await reader.loadPreviousPage();
    }
  }

  /** @param signal that of the run that the summary belongs to, if any */
  private async summarizeOldTurns(
    conversationId: string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { model, keepOriginals = true } = this.options;
    const { log, summary, stored } = await this.loadRecent(conversationId);
    const turns = groupIntoTurns(stored);
    if (!this.exceedsLimits(this.sizeOf(turns.flatMap(({ messages }) => messages)))) return;
    const oldTurns = turns.slice(0, this.firstFittingTurn(turns, [], 0.5));
    const old = new Set(oldTurns.flatMap(({ messages }) => messages));
    const last = stored.findLast(({ message }) => old.has(message));
    if (!last) return;
    const earlier = summary && summaryOf(summary)?.summary;
    const text = await summarize(model, [...old].map(toJsonLine), { earlier, signal });
    const rest = stored.filter(({ message }) => message.role !== 'system' && !old.has(message));
    if (!keepOriginals) {
      const kept = [toSummaryMessage(text, log.version), ...rest.map(({ message }) => message)];
      const messages = [...log.systemMessages, ...kept];
      await this.repository.replace(conversationId, messages, { expectedVersion: log.version });
      return;
    }
    // a summary covers all messages up to a version: concurrent turns wait until both are old
    if (rest.every(({ version }) => version > last.version))
      await this.appendSummary(conversationId, text, last);
  }

  /** Turns may be added meanwhile; after the conversation was cleared, nothing is appended. */
  private async appendSummary(
    conversationId: string,
    text: string,
    { version: upTo, message }: StoredMessage,
  ): Promise<void> {
    const encoded = encodeMessage(message);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const last = { beforeVersion: upTo + 1, limit: 1 };
      const { version, messages } = await this.repository.read(conversationId, last);
      const [present] = messages;
      if (present?.version !== upTo || encodeMessage(present.message) !== encoded) return;
      try {
        const expected = { expectedVersion: version };
        await this.append(conversationId, [toSummaryMessage(text, upTo)], expected);
        return;
      } catch (error) {
        if (!hasCode(error, 'memory_conflict')) throw error;
      }
    }
  }
}

/** Creates a message of role `user`: texts of users and tools must not become instructions. */
function toSummaryMessage(summary: string, upTo: number): UserMessage {
  const content = `${HEADING}\n\n${summary}`;
  return { role: 'user', content, metadata: { [KEY]: { upTo, summary } } };
}

/** Returns the summary that a message holds; undefined for any other message. */
function summaryOf({ role, metadata }: Message): Summary | undefined {
  const { upTo, summary } = (metadata?.[KEY] ?? {}) as Partial<Summary>;
  return role === 'user' && Number.isInteger(upTo) && typeof summary === 'string'
    ? { upTo: upTo as number, summary }
    : undefined;
}
