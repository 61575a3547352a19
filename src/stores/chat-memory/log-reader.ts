import { callsOf, type Message } from '../../core/chat/message.js';
import { withSignalOf, type Abortable } from '../../core/internal/cancellation.js';
import type { RunningTurn } from './chat-memory.js';
import type {
  ChatMemoryRepository,
  ConversationLog,
  StoredMessage,
} from './chat-memory-repository.js';

/** Reads a log backwards in growing pages, so that its end costs the same whatever its length. */
export class LogReader {
  /** Messages loaded so far, oldest first. */
  messages: readonly StoredMessage[] = [];
  /** True when the log has no earlier messages. */
  isComplete = false;

  /** @param before upper bound of the versions, exclusive; @default none */
  constructor(
    private readonly repository: ChatMemoryRepository,
    private readonly conversationId: string,
    private readonly pageSize: number,
    private readonly wait: Abortable = {},
    private readonly before?: number,
  ) {}

  /** Version of the first loaded message; 1 when the log is complete. */
  get firstVersion(): number {
    return this.isComplete ? 1 : (this.messages[0]?.version ?? 1);
  }

  /** Loads the last page, then doubles the loaded messages with each call. */
  async loadPreviousPage(): Promise<ConversationLog> {
    const limit = this.messages.length || this.pageSize;
    const beforeVersion = this.messages[0]?.version ?? this.before;
    const page = withSignalOf({ limit, beforeVersion }, this.wait);
    const log = await this.repository.read(this.conversationId, page);
    this.isComplete = log.messages.length < limit;
    this.messages = [...log.messages, ...this.messages];
    return log;
  }
}

/** The messages of one turn: from the user message to the answer. */
export interface StoredTurn {
  readonly turnId: string | undefined;
  readonly messages: Message[];
  /** False if the start of the turn may be in an earlier part of the log. */
  readonly startsWithUser: boolean;
}

/**
 * Groups a part of a log into turns, without system messages, in the order of their first messages.
 * Messages with one turn id stay together, also if another turn was written concurrently. Messages
 * without a turn id are split at user messages. A tool result belongs to the turn of its call.
 * @param running a turn in progress, which comes last; an earlier attempt of it is left out
 */
export function groupIntoTurns(
  stored: readonly StoredMessage[],
  running?: RunningTurn,
): readonly StoredTurn[] {
  const turns: StoredTurn[] = [];
  const byId = new Map<string | undefined, StoredTurn>();
  for (const { turnId, message } of running ? withRunning(stored, running) : stored) {
    if (message.role === 'system') continue;
    let turn = byId.get(turnId) ?? findContinuedTurn(turnId, message, turns);
    if (!turn) {
      turn = { turnId, messages: [], startsWithUser: message.role === 'user' };
      turns.push(turn);
    }
    turn.messages.push(message);
    if (turnId !== undefined) byId.set(turnId, turn);
  }
  return turns;
}

function withRunning(
  stored: readonly StoredMessage[],
  { turnId, messages }: RunningTurn,
): readonly Omit<StoredMessage, 'version'>[] {
  const others = stored.filter((each) => each.turnId !== turnId);
  return [...others, ...messages.map((message) => ({ turnId, message }))];
}

/** Finds the earlier turn that a message continues, although it has no turn id or a new one. */
function findContinuedTurn(
  turnId: string | undefined,
  message: Message,
  turns: readonly StoredTurn[],
): StoredTurn | undefined {
  if (message.role === 'user') return undefined;
  if (turnId === undefined) return turns.at(-1);
  if (message.role !== 'tool') return undefined;
  const hasCall = (earlier: Message): boolean =>
    earlier.role === 'assistant' && callsOf(earlier).some(({ id }) => id === message.toolCallId);
  return turns.findLast(({ messages }) => messages.some(hasCall));
}
