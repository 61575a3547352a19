import type { Message, UserMessage } from '../../src/core/chat/message.js';
import { memoize } from '../../src/core/internal/memoize.js';
import { sha256Hex } from '../../src/core/internal/text.js';
import { comparisonKey } from '../../src/core/chat/message-codec.js';
import { messagesOf, type Piece, type Split } from './pieces.js';
import { isSummary, summaryOf, summaryMessage, type Summary } from './summary.js';

/** The part of a conversation that a step removes. */
export interface Cut {
  /** Number of the last turn that is removed as a whole; -1 for none. */
  readonly turn: number;
  /** Index of the last piece among whose iterations all are removed; -1 for none. */
  readonly iteration: number;
}

/** Digest of a message, equal for copies of it. */
const digestOf = memoize((message: Message) => {
  const summary = summaryOf(message);
  if (!summary) return digest(comparisonKey(message));
  // two summaries of different parts may have the same text
  const { text, turn, iteration, summaries } = summary;
  return digest(JSON.stringify([text, turn, iteration, summaries]));
});
const digest = (text: string): string => sha256Hex(text).slice(0, 32);

/** The message that takes the place of the pieces that a cut removes. */
export function toSummaryMessage(text: string, pieces: readonly Piece[], cut: Cut): UserMessage {
  const iteration = pieces[cut.iteration];
  const summaries = pieces.filter(({ kind }, at) => kind === 'summary' && at <= endOf(pieces, cut));
  const summary: Summary = {
    text,
    ...(cut.turn >= 0 && { turn: turnDigest(pieces, cut.turn) }),
    ...(iteration && { iteration: digestOf(headOf(iteration)) }),
    summaries: messagesOf(summaries).map(digestOf),
  };
  return summaryMessage(summary);
}

/**
 * The smallest cut that removes enough, or else the largest one; undefined if it removes nothing.
 * @param kept iterations of the present turn that stay
 */
export function chooseCut(
  pieces: readonly Piece[],
  kept: ReadonlySet<Piece>,
  isEnough: (cut: Cut) => boolean,
): Cut | undefined {
  const present = pieces.at(-1)?.turn ?? -1;
  const turns = Array.from({ length: Math.max(present, 0) }, (_, turn) => ({
    turn,
    iteration: -1,
  }));
  const iterations = pieces.flatMap((piece, at) =>
    piece.kind === 'iteration' && piece.turn === present && !kept.has(piece)
      ? [{ turn: present - 1, iteration: at }]
      : [],
  );
  // each cut removes what the one before it does, and there may be thousands
  const cut = firstOf([...turns, ...iterations], isEnough);
  return cut && removedBy(cut, pieces).size > 0 ? cut : undefined;
}

/** The first accepted one of a list in which all after it are accepted, too; or else the last one. */
function firstOf<T>(list: readonly T[], accepts: (item: T) => boolean): T | undefined {
  let [low, high] = [0, list.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (accepts(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return list[low];
}

/** The pieces that a cut removes. System messages and excluded tools stay. */
export function removedBy(cut: Cut, pieces: readonly Piece[]): ReadonlySet<Piece> {
  const end = endOf(pieces, cut);
  const isRemoved = ({ kind, turn, isExcluded }: Piece, at: number): boolean => {
    if (kind === 'system' || isExcluded) return false;
    if (kind === 'summary') return at <= end;
    return turn <= cut.turn || (kind === 'iteration' && at <= cut.iteration);
  };
  return new Set(pieces.filter(isRemoved));
}

/** Index of the last piece that a cut concerns. */
function endOf(pieces: readonly Piece[], { turn, iteration }: Cut): number {
  return Math.max(iteration, turn < 0 ? -1 : pieces.findLastIndex((piece) => piece.turn <= turn));
}

/** Replaces summarized messages by their summary; a memory keeps both. */
export function applySummaries(messages: readonly Message[], split: Split): readonly Message[] {
  return messages
    .filter(isSummary)
    .reduce((list, summary) => applySummary(list, summary, split) ?? list, messages);
}

/** The same with summaries that are not among the messages, if they have what these replace. */
export function applyKept(
  messages: readonly Message[],
  kept: readonly Message[],
  split: Split,
): readonly Message[] {
  const present = new Set(messages.filter(isSummary).map(digestOf));
  const missing = kept.filter((summary) => !present.has(digestOf(summary)));
  const applied = missing.reduce(
    (list, summary) => applySummary([...list, summary], summary, split) ?? list,
    messages,
  );
  return applySummaries(applied, split);
}

/**
 * Replaces messages by a new summary, before the question of the turn at the latest: the question
 * stays the last message of the user.
 */
export function insertSummary(
  messages: readonly Message[],
  summary: Message,
  split: Split,
): readonly Message[] {
  const present = messages.find((each) => isSummary(each) && digestOf(each) === digestOf(summary));
  if (present) return applySummary(messages, present, split) ?? messages;
  const applied = applySummary([...messages, summary], summary, split);
  if (applied) return applied;
  const pieces = split(messages);
  const at = pieces.findIndex(({ turn }) => turn === pieces.at(-1)?.turn);
  return [...messagesOf(pieces.slice(0, at)), summary, ...messagesOf(pieces.slice(at))];
}

/** Undefined if no replaced message is there. */
function applySummary(
  messages: readonly Message[],
  message: Message,
  split: Split,
): readonly Message[] | undefined {
  const summary = summaryOf(message);
  const at = messages.indexOf(message);
  const pieces = split(messages.toSpliced(at, 1));
  const earlier = pieces.slice(0, countBefore(pieces, at));
  const cut: Cut = {
    turn: lastTurn(earlier, (pieces.at(-1)?.turn ?? 0) - 1, summary?.turn),
    iteration: earlier.findLastIndex(
      (piece) => piece.kind === 'iteration' && digestOf(headOf(piece)) === summary?.iteration,
    ),
  };
  const removed = removedBy(cut, pieces);
  const replaced = new Set(summary?.summaries);
  const isGone = (piece: Piece): boolean =>
    piece.kind === 'summary' ? replaced.has(digestOf(headOf(piece))) : removed.has(piece);
  if (!pieces.some(isGone)) return undefined;
  const next = pieces[cut.iteration]?.turn ?? cut.turn + 1;
  const first = pieces.findIndex(({ turn }) => turn >= next);
  const place = first < 0 ? pieces.length : first;
  const stay = (piece: Piece): boolean => !isGone(piece);
  return [
    ...messagesOf(pieces.slice(0, place).filter(stay)),
    message,
    ...messagesOf(pieces.slice(place).filter(stay)),
  ];
}

/** Number of the pieces before the message with this index. */
function countBefore(pieces: readonly Piece[], at: number): number {
  let count = 0;
  for (let end = 0; count < pieces.length && end < at; count++)
    end += (pieces[count] as Piece).messages.length;
  return count;
}

/** Number of the last turn with this digest, the present one excepted; -1 for none. */
function lastTurn(pieces: readonly Piece[], last: number, wanted: string | undefined): number {
  if (wanted === undefined) return -1;
  for (let turn = last; turn >= 0; turn--) if (turnDigest(pieces, turn) === wanted) return turn;
  return -1;
}

/** Digest of the questions of a turn and of its answer: equal answers are frequent. */
function turnDigest(pieces: readonly Piece[], turn: number): string {
  const own = pieces.filter((piece) => piece.turn === turn && piece.kind !== 'summary');
  const users = own.filter(({ kind }) => kind === 'user').map(headOf);
  const answer = own.findLast(({ kind }) => kind === 'answer' || kind === 'iteration');
  const heads = answer ? [...users, headOf(answer)] : users;
  return digest(heads.map(digestOf).join());
}

/** The message of a piece that stays the same if its results are shortened. */
function headOf({ messages }: Piece): Message {
  return messages[0] as Message;
}
