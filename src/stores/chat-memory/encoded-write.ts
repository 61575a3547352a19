import { randomId } from '../../core/chat/context.js';
import type { Message } from '../../core/chat/message.js';
import { encodeMessage } from '../../core/chat/message-codec.js';
import { InvalidArgumentError, MemoryConflictError } from '../../core/errors/errors.js';
import { withSignalOf, type Abortable } from '../../core/internal/cancellation.js';
import {
  checkOption,
  CHECKED_APART,
  checkOptions,
  ID,
  integer,
  PLAIN_OBJECT,
  rule,
  type Rule,
} from '../../core/internal/options.js';
import {
  checkConversationId,
  type AppendOptions,
  type ReplaceOptions,
} from './chat-memory-repository.js';

/** A log or a page of it, encoded; numbers may be strings, as in some SQL clients. */
export interface EncodedLog {
  readonly version: number | string;
  /** JSON array of the encoded system messages; null without any. */
  readonly system: string | null;
  readonly entries: readonly EncodedEntry[];
}

export interface EncodedEntry {
  readonly version: number | string;
  readonly turn: string | null;
  readonly message: string;
}

/** A write, which increases the version by the number of its messages, at least by 1. */
export interface EncodedWrite extends Abortable {
  readonly entries: readonly Omit<EncodedEntry, 'version'>[];
  /** JSON array of the encoded system messages; null without any. */
  readonly system: string | null;
  readonly turn: string | null;
  readonly writeId: string;
  /** Id of a write after which this one changes nothing; its own id if there is no other. */
  readonly endId: string;
  readonly expectedVersion: number | undefined;
  /** Version after which the messages of the turn are removed; undefined if they stay. */
  readonly supersedesAfter: number | undefined;
  /** True if the messages replace the log; otherwise they are appended, at least one. */
  readonly isReplacing: boolean;
}

const MESSAGES = rule('an array of messages', Array.isArray);

/** @throws {@link InvalidArgumentError} if the write breaks a rule */
export function encodeWrite(
  where: 'append' | 'replace',
  id: string,
  messages: readonly Message[],
  options: AppendOptions & Pick<ReplaceOptions, 'turnIds'>,
): EncodedWrite {
  checkConversationId(id, where);
  checkOption(where, 'messages', messages, MESSAGES);
  checkOption(where, 'options', options, PLAIN_OBJECT);
  checkOptions(where, options, {
    expectedVersion: integer(0),
    turnId: ID,
    writeId: ID,
    supersedesAfter: integer(0),
    turnIds: turnIdsOf(messages),
    signal: CHECKED_APART,
  });
  const { turnId = null, turnIds, writeId = randomId() } = options;
  const { expectedVersion, supersedesAfter } = options;
  if (supersedesAfter !== undefined && turnId === null)
    throw new InvalidArgumentError(
      `${where}: supersedesAfter needs the turnId of the turn whose messages it removes`,
    );
  const texts = messages.map(encodeMessage);
  const systemTexts = texts.filter((_, at) => messages[at]?.role === 'system');
  const write: EncodedWrite = {
    entries: texts.map((message, at) => ({
      turn: turnIds ? (turnIds[at] ?? null) : turnId,
      message,
    })),
    system: systemTexts.length > 0 ? JSON.stringify(systemTexts) : null,
    turn: turnId,
    writeId,
    endId: supersedesAfter === undefined || turnId === null ? writeId : turnId,
    expectedVersion,
    supersedesAfter,
    isReplacing: where === 'replace',
  };
  return withSignalOf(write, options);
}

function turnIdsOf(messages: readonly Message[]): Rule {
  const isTurn = (id: unknown): boolean => id === undefined || ID.accepts(id);
  return rule(
    'a list with a turn id, or undefined, for each message',
    (ids) => Array.isArray(ids) && ids.length === messages.length && ids.every(isTurn),
  );
}

/** @throws MemoryConflictError if there is an expected version, and it is not the present one */
export function checkVersion(id: string, expected: number | undefined, present: number): void {
  if (expected !== undefined && expected !== present)
    throw new MemoryConflictError(id, expected, present);
}

/**
 * Checks that a write fits to a log.
 * @param turnAt the turn of the message with a version; null if it has none, undefined without message
 * @param hasOthers true if the log has messages of other turns after a version
 * @throws MemoryConflictError if the conversation does not have the expected version, or not the
 * message after which its turn is superseded
 */
export function checkPlace(
  id: string,
  { turn, expectedVersion: expected, supersedesAfter: place }: EncodedWrite,
  present: number,
  turnAt: (version: number) => string | null | undefined,
  hasOthers: (version: number) => boolean,
): void {
  const isOwn = (version: number): boolean =>
    place !== undefined && version < present && !hasOthers(version);
  if (expected !== undefined && !isOwn(expected)) checkVersion(id, expected, present);
  if (place && turnAt(place) !== turn) throw new MemoryConflictError(id, place, present);
}

/** A conversation joined with one of its messages, whose columns are null without messages. */
interface LogRow extends EncodedEntry {
  /** Version of the conversation. */
  readonly head: number | string;
  readonly system: string | null;
}

/** Converts the rows of a conversation, in the order of their versions; none if it is missing. */
export function toLog(rows: readonly unknown[]): EncodedLog {
  const entries = rows as readonly LogRow[];
  const { head = 0, system = null } = entries[0] ?? {};
  return { version: head, system, entries: entries.filter(({ version }) => version !== null) };
}
