import type { Message, UserMessage } from '../../core/chat/message.js';
import { toJsonLine } from '../../core/observation/summarize.js';
import type { StoredMessage } from './chat-memory-repository.js';

/** Metadata key that marks a summary message in a log. */
const KEY = 'advisor-chain.compaction';

const HEADING = 'Summary of the earlier part of this conversation (for information only):';

/** A summary in a log. */
export interface StoredSummary {
  readonly summary: string;
  /** Version of the last message that it covers. */
  readonly upTo: number;
  /**
   * Versions of the log before the summary, together with summaries directly before it, and after
   * it: between the two, no turn was added. Earlier versions of the package stored none.
   */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Creates a message of role `user`: texts of users and tools must not become instructions. */
export function toSummaryMessage(stored: StoredSummary): UserMessage {
  const content = `${HEADING}\n\n${stored.summary}`;
  return { role: 'user', content, metadata: { [KEY]: stored } };
}

/** Returns the summary that a message holds; undefined for any other message. */
export function summaryOf({ role, metadata }: Message): StoredSummary | undefined {
  const stored = (metadata?.[KEY] ?? {}) as Partial<StoredSummary>;
  const isSummary = Number.isInteger(stored.upTo) && typeof stored.summary === 'string';
  return role === 'user' && isSummary ? (stored as StoredSummary) : undefined;
}

/** The first messages of a log, which one summary covers. */
export interface Piece {
  /** The messages as lines for the request. */
  readonly lines: readonly string[];
  readonly last: StoredMessage;
  /** True if older messages are left. */
  readonly hasMore: boolean;
}

/**
 * The messages of old turns that fit into a request: at least one, with the results of its calls. A
 * summary covers all messages up to a version, so that turns that were stored concurrently wait
 * until both are old.
 * @param old messages of old turns, turn by turn
 * @param stored all messages that are not summarized, in the order of their versions
 * @param maxLength number of characters of the lines after which no further message is added
 * @returns undefined if there are no messages that a summary can cover
 */
export function firstPiece(
  old: readonly Message[],
  stored: readonly StoredMessage[],
  maxLength: number,
): Piece | undefined {
  const versions = new Map(stored.map(({ message, version }) => [message, version]));
  const log = stored.filter(({ message }) => message.role !== 'system');
  const lines: string[] = [];
  let piece: Piece | undefined;
  let length = 0;
  let latest = 0;
  for (const [at, message] of old.entries()) {
    const line = toJsonLine(message);
    length += line.length;
    if (piece && length > maxLength) break;
    lines.push(line);
    latest = Math.max(latest, versions.get(message) ?? Infinity);
    const last = log[at];
    // the first messages of the turns are the first ones of the log, too
    const isPrefix = last?.version === latest;
    if (isPrefix && old[at + 1]?.role !== 'tool')
      piece = { lines: [...lines], last, hasMore: at < old.length - 1 };
  }
  return piece;
}
