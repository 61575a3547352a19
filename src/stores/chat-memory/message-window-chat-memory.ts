import type { Message } from '../../core/chat/message.js';
import { notify } from '../../core/internal/notify.js';
import { checkOptions, FUNCTION, integer } from '../../core/internal/options.js';
import { checkConversationId } from './chat-memory-repository.js';
import {
  REPOSITORY_RULES,
  RepositoryChatMemory,
  type LoadOptions,
  type MemorySnapshot,
  type RepositoryChatMemoryOptions,
  type RunningTurn,
} from './chat-memory.js';
import type { MessageTrimmer } from './history.js';
import { LogReader, type StoredTurn, groupIntoTurns } from './log-reader.js';

/** A latest turn that exceeds the window and is sent whole nevertheless. */
export interface OversizedTurn {
  readonly conversationId: string;
  /** Number of messages of the turn and of the system messages before it. */
  readonly messages: number;
  /** Tokens of these messages; undefined if the window has no token limit. */
  readonly tokens: number | undefined;
}

/** Options of a {@link MessageWindowChatMemory}. */
export interface MessageWindowChatMemoryOptions extends RepositoryChatMemoryOptions {
  /** Maximum number of messages, including system messages; an integer >= 1. @default 20 */
  readonly maxMessages?: number | undefined;
  /** Listener for a latest turn that exceeds the window. @default none */
  readonly onOversizedTurn?: ((turn: OversizedTurn) => void) | undefined;
  /** Changes the messages before they are sent, see {@link trimToolResults}. @default none */
  readonly trim?: MessageTrimmer | undefined;
}

const RULES = {
  ...REPOSITORY_RULES,
  maxMessages: integer(1),
  onOversizedTurn: FUNCTION,
  trim: FUNCTION,
};

/**
 * Sends the latest turns that fit into a window. The store keeps everything; the window is computed
 * when the conversation is read, in whole turns: a tool call is never without its result, and the
 * latest turn is always complete. System messages are kept until others replace them.
 */
export class MessageWindowChatMemory extends RepositoryChatMemory {
  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(private readonly options: MessageWindowChatMemoryOptions) {
    super('MessageWindowChatMemory', options, options?.maxMessages ?? 20);
    checkOptions('MessageWindowChatMemory', options, RULES);
  }

  async load(
    conversationId: string,
    running?: RunningTurn,
    options?: LoadOptions,
  ): Promise<MemorySnapshot> {
    checkConversationId(conversationId, 'ChatMemory.load');
    const reader = new LogReader(this.repository, conversationId, this.maxMessages + 1, options);
    const { version, systemMessages } = await reader.loadPreviousPage();
    const turns = await this.selectTurns(reader, systemMessages, running);
    const latest = [...systemMessages, ...(turns.at(-1)?.messages ?? [])];
    this.reportOversizedTurn(conversationId, latest);
    const messages = [...systemMessages, ...turns.flatMap((turn) => turn.messages)];
    return { messages: this.options.trim?.(messages) ?? messages, version };
  }

  /** Selects the turns that fit, loading previous pages until the selection cannot change. */
  private async selectTurns(
    reader: LogReader,
    systemMessages: readonly Message[],
    running: RunningTurn | undefined,
  ): Promise<readonly StoredTurn[]> {
    for (let page = reader.messages; ; page = (await reader.loadPreviousPage()).messages) {
      const turns = groupIntoTurns(reader.messages, running);
      const first = this.firstFittingTurn(turns, systemMessages);
      // earlier turns may fit as well; a turn without its start may be longer than loaded
      const isWhole = ({ startsWithUser, turnId, messages: [start] }: StoredTurn): boolean =>
        startsWithUser ||
        (start?.role !== 'tool' && page.every((stored) => stored.turnId !== turnId));
      const isFinal = turns.slice(first).every(isWhole);
      if (reader.isComplete || (first > 0 && isFinal)) return turns.slice(first);
    }
  }

  private reportOversizedTurn(conversationId: string, latest: readonly Message[]): void {
    const { onOversizedTurn } = this.options;
    if (!onOversizedTurn) return;
    const size = this.sizeOf(latest);
    if (!this.exceedsLimits(size)) return;
    const tokens = this.maxTokens === Infinity ? undefined : size.tokens;
    notify(() => onOversizedTurn({ conversationId, messages: size.messages, tokens }));
  }
}
