import { describe, type Message } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import type { ConversationLog } from '../memory/chat-memory-repository.js';
import { decodeMessage, encodeMessage } from '../memory/message-codec.js';

/** A message as a row; numbers may come as text, since a client must not lose digits of large ones. */
export interface MessageRow {
  readonly version: number | string;
  readonly turn: string | null;
  readonly message: string;
}

/** What is written of a list of messages. */
export interface EncodedMessages {
  readonly texts: readonly string[];
  /** The system messages among them as a JSON list; null if there are none. */
  readonly system: string | null;
}

/** Messages as texts for a store. */
export function encodeMessages(messages: readonly Message[]): EncodedMessages {
  const texts = messages.map(encodeMessage);
  const system = texts.filter((_, at) => messages[at]?.role === 'system');
  return { texts, system: system.length > 0 ? JSON.stringify(system) : null };
}

/** A log of what a store has: rows in the order of their versions. */
export function toLog(version: number | string, system: string | null | undefined, rows: readonly MessageRow[]): ConversationLog {
  return {
    version: Number(version),
    messages: rows.map((row) => ({ version: Number(row.version), turnId: row.turn ?? undefined, message: decodeMessage(row.message) })),
    systemMessages: (JSON.parse(system ?? '[]') as readonly string[]).map(decodeMessage),
  };
}

/** A message beside the head of its conversation; null where there is no message. */
export interface LogRow {
  readonly head: number | string;
  readonly system: string | null;
  readonly version: number | string | null;
  readonly turn: string | null;
  readonly message: string | null;
}

/** A log of joined rows; no rows where there is no such conversation. */
export function fromJoin(rows: readonly LogRow[]): ConversationLog {
  const [first] = rows;
  return toLog(first?.head ?? 0, first?.system, (first?.version ?? null) === null ? [] : (rows as readonly MessageRow[]));
}

/**
 * A quoted name for a query. Names come from configuration, so they must not be able to be anything but a name.
 * @throws {@link InvalidArgumentError} if it is no letter or "_", then up to 39 letters, digits or "_"
 */
export function identifier(name: string, option: string): string {
  if (typeof name === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(name)) return `"${name}"`;
  throw new InvalidArgumentError(`${option} must be a letter or "_" and then up to 39 letters, digits or "_", not ${describe(name)}`);
}

/** The quoted name of a table, whose beginning comes from configuration. */
export function tableName(prefix: string, name: string, option: string): string {
  identifier(prefix, option);
  return `"${prefix}_${name}"`;
}

/** The first text behind all that begin with a prefix, in the order of UTF-8 bytes; undefined if there is none. */
export function behindPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop())
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  return undefined;
}
