import type { ChatModel } from '../../core/chat/chat-model.js';
import type { Message } from '../../core/chat/message.js';
import { encodeMessage } from '../../core/chat/message-codec.js';
import { RunRecord } from '../../core/chat/run-record.js';
import { hasCode } from '../../core/errors/advisor-chain-error.js';
import {
  BOOLEAN,
  checkOptions,
  FUNCTION,
  integer,
  required,
  TIMEOUT,
  withMethods,
} from '../../core/internal/options.js';
import {
  checkConversationId,
  type ConversationLog,
  type StoredMessage,
} from './chat-memory-repository.js';
import {
  REPOSITORY_RULES,
  RepositoryChatMemory,
  type AddOptions,
  type LoadOptions,
  type MemorySnapshot,
  type RepositoryChatMemoryOptions,
  type RunningTurn,
} from './chat-memory.js';
import { groupIntoTurns, LogReader } from './log-reader.js';
import { SummaryAttempts } from './summary-attempts.js';
import { summaryOf, toSummaryMessage, type StoredSummary } from './summary-message.js';
import { SummaryRequests, type WrittenSummary } from './summary-requests.js';

/** Options of a {@link SummarizingChatMemory}. */
export interface SummarizingChatMemoryOptions extends RepositoryChatMemoryOptions {
  /** Writes the summaries. */
  readonly model: ChatModel;
  /** Number of messages beyond which the older half is summarized; an integer >= 2. @default 40 */
  readonly maxMessages?: number | undefined;
  /** Keeps summarized messages in the log; if false, the summary replaces them. @default true */
  readonly keepOriginals?: boolean | undefined;
  /**
   * Milliseconds for each request to the model; a number > 0 and < 2 ** 31, or `Infinity`.
   * @default 60_000
   */
  readonly summaryTimeout?: number | undefined;
  /**
   * Listener for a failed summary, also for one that was cancelled with its run. After n failures in
   * a row, a summary is tried again after 2 ** n more turns of the conversation, 64 at most.
   * @default none
   */
  readonly onSummaryError?: ((error: unknown, conversationId: string) => void) | undefined;
}

const RULES = {
  ...REPOSITORY_RULES,
  model: required(withMethods('a ChatModel', 'call')),
  maxMessages: integer(2),
  keepOriginals: BOOLEAN,
  summaryTimeout: TIMEOUT,
  onSummaryError: FUNCTION,
};

/** Maximum number of attempts to store a summary while turns are added concurrently. */
const MAX_ATTEMPTS = 3;

/** The end of a log: the last summary, and the messages that it does not cover. */
interface RecentLog {
  readonly log: ConversationLog;
  readonly summary: (StoredSummary & StoredMessage) | undefined;
  readonly stored: readonly StoredMessage[];
}

/**
 * Sends a summary of the older turns and the latest turns unchanged. A turn that makes the
 * conversation too long starts the summary, for which it does not wait: until it is stored, all
 * messages are sent. It covers messages up to a version, so that turns added meanwhile are not lost.
 *
 * A long conversation is summarized in requests of at most 32,000 characters, and in shorter ones if
 * the model refuses them; the summary is stored after each. It belongs to the run of the turn:
 * `settled` of the run waits for it, the ledger has its model calls, and a run that is cancelled
 * before it has its answer ends it. A later turn continues.
 */
export class SummarizingChatMemory extends RepositoryChatMemory {
  private readonly attempts = new SummaryAttempts((error, conversationId) =>
    this.options.onSummaryError?.(error, conversationId),
  );

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(private readonly options: SummarizingChatMemoryOptions) {
    super('SummarizingChatMemory', options, options?.maxMessages ?? 40);
    checkOptions('SummarizingChatMemory', options, RULES);
  }

  /** Resolves when the messages are stored; a summary that is due then is made beside the turn. */
  override async add(
    conversationId: string,
    messages: Message | readonly Message[],
    options: AddOptions = {},
  ): Promise<number> {
    const version = await this.addTurn(conversationId, messages, options);
    if (version <= this.maxMessages && this.maxTokens === Infinity) return version;
    const { signal } = options;
    if (signal?.aborted) return version; // a later turn summarizes
    const work = this.attempts.start(conversationId, () => this.summarize(conversationId, signal));
    if (work) RunRecord.of(signal)?.track(work);
    return version;
  }

  /** Adds the messages also if a summary was stored since the expected version: it is no turn. */
  private async addTurn(
    conversationId: string,
    messages: Message | readonly Message[],
    options: AddOptions,
  ): Promise<number> {
    try {
      return await super.add(conversationId, messages, options);
    } catch (error) {
      const { expectedVersion: expected, outlivesAbort } = options;
      if (expected === undefined || !hasCode(error, 'memory_conflict')) throw error;
      const recent = await this.loadRecent(conversationId, outlivesAbort ? {} : options);
      const { from = Infinity, to } = latestWrite(recent) ?? {};
      if (from > expected || expected === to) throw error;
      return this.addTurn(conversationId, messages, { ...options, expectedVersion: to });
    }
  }

  async load(
    conversationId: string,
    running?: RunningTurn,
    options?: LoadOptions,
  ): Promise<MemorySnapshot> {
    checkConversationId(conversationId, 'ChatMemory.load');
    const { log, summary, stored } = await this.loadRecent(conversationId, options);
    const turns = groupIntoTurns(stored, running);
    const messages = [
      ...log.systemMessages,
      ...(summary ? [summary.message] : []),
      ...turns.flatMap((turn) => turn.messages),
    ];
    return { messages, version: log.version };
  }

  /** Loads pages backwards until all messages are there that the last summary does not cover. */
  private async loadRecent(conversationId: string, options?: LoadOptions): Promise<RecentLog> {
    const reader = new LogReader(this.repository, conversationId, this.maxMessages + 1, options);
    const log = await reader.loadPreviousPage();
    for (;;) {
      const last = reader.messages.findLast(({ message }) => summaryOf(message));
      // a summary covers only what is before it, also if it was copied from another log
      const held = last && summaryOf(last.message);
      const summary = held && { ...held, ...last };
      const upTo = summary ? Math.min(summary.upTo, summary.version - 1) : 0;
      const stored = reader.messages.filter(
        ({ version, message }) => version > upTo && !summaryOf(message),
      );
      if (reader.firstVersion <= upTo + 1) return { log, summary, stored };
      await reader.loadPreviousPage();
    }
  }

  /** Summarizes the older half of a conversation that is too long, piece by piece. */
  private async summarize(conversationId: string, signal: AbortSignal | undefined): Promise<void> {
    const { model, summaryTimeout: timeout = 60_000 } = this.options;
    const requests = new SummaryRequests({ model, timeout, signal });
    for (let fraction = 1; ; fraction = 0.5) {
      const recent = await this.loadRecent(conversationId);
      const old = this.oldMessages(recent.stored, fraction);
      const written = await requests.summarizeFirst(old, recent.stored, recent.summary?.summary);
      if (!written || !(await this.store(conversationId, written))) return;
      this.attempts.succeed(conversationId);
      if (!written.hasMore) return;
    }
  }

  /** Messages of the turns before the latest half, if the conversation exceeds its limits. */
  private oldMessages(stored: readonly StoredMessage[], fraction: number): readonly Message[] {
    const turns = groupIntoTurns(stored);
    const size = this.sizeOf(turns.flatMap(({ messages }) => messages));
    if (!this.exceedsLimits(size, fraction)) return [];
    const oldTurns = turns.slice(0, this.firstFittingTurn(turns, [], 0.5));
    return oldTurns.flatMap(({ messages }) => messages);
  }

  /**
   * Stores a summary, also if turns were added meanwhile.
   * @returns false if its messages are gone: another process was first, or the conversation was cleared
   */
  private async store(conversationId: string, summary: WrittenSummary): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const recent = await this.loadRecent(conversationId);
      if (!recent.stored.some((each) => isSame(each, summary.last))) return false;
      try {
        await this.write(conversationId, recent, summary);
        return true;
      } catch (error) {
        if (!hasCode(error, 'memory_conflict') || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** Writes a summary, which replaces what it covers in one write, unless the log has changed. */
  private async write(
    conversationId: string,
    recent: RecentLog,
    { text, last }: WrittenSummary,
  ): Promise<void> {
    const { log, stored } = recent;
    const { systemMessages, version: expectedVersion } = log;
    const from = latestWrite(recent)?.from ?? expectedVersion;
    const made = { summary: text, from };
    if (this.options.keepOriginals ?? true) {
      const message = toSummaryMessage({ ...made, upTo: last.version, to: expectedVersion + 1 });
      await this.append(conversationId, [message], { expectedVersion });
      return;
    }
    const rest = stored.filter(
      ({ message, version }) => message.role !== 'system' && version > last.version,
    );
    const to = expectedVersion + systemMessages.length + 1 + rest.length;
    const head = [...systemMessages, toSummaryMessage({ ...made, upTo: expectedVersion, to })];
    const turnIds = [...head.map(() => undefined), ...rest.map(({ turnId }) => turnId)];
    const messages = [...head, ...rest.map(({ message }) => message)];
    await this.repository.replace(conversationId, messages, { expectedVersion, turnIds });
  }
}

/** The summary, if no turn was added after it; one that was copied has the versions of another log. */
function latestWrite({ log, summary }: RecentLog): RecentLog['summary'] {
  const { from = Infinity, to, version = 0 } = summary ?? {};
  return to === log.version && version > from ? summary : undefined;
}

function isSame(one: StoredMessage, other: StoredMessage): boolean {
  return (
    one.version === other.version && encodeMessage(one.message) === encodeMessage(other.message)
  );
}
