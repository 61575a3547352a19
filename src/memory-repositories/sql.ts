import type { Message } from '../chat/message.js';
import { checkOption, rule } from '../internal/options.js';
import type { ConversationLog } from '../memory/chat-memory-repository.js';
import { decodeMessage, encodeMessage } from '../memory/message-codec.js';

/** Messages encoded for a store. */
export interface EncodedMessages {
  readonly texts: readonly string[];
  /** JSON array of the encoded system messages; null without any. */
  readonly system: string | null;
}

export function encodeMessages(messages: readonly Message[]): EncodedMessages {
  const texts = messages.map(encodeMessage);
  const system = texts.filter((_, at) => messages[at]?.role === 'system');
  return { texts, system: system.length > 0 ? JSON.stringify(system) : null };
}

/** A conversation joined with one of its messages; numbers may be strings, as in some clients. */
export interface LogRow {
  readonly head: number | string;
  /** JSON array of the encoded system messages. */
  readonly system: string | null;
  /** Null for a conversation without messages. */
  readonly version: number | string | null;
  readonly turn: string | null;
  readonly message: string;
}

/** Decodes a log from its rows, in the order of their versions; none if it does not exist. */
export function toLog(rows: readonly LogRow[]): ConversationLog {
  const [first] = rows;
  const stored = rows.filter(({ version }) => version !== null);
  return {
    version: Number(first?.head ?? 0),
    messages: stored.map(({ version, turn, message }) => ({
      version: Number(version),
      turnId: turn ?? undefined,
      message: decodeMessage(message),
    })),
    systemMessages: (JSON.parse(first?.system ?? '[]') as readonly string[]).map(decodeMessage),
  };
}

const NAME = rule(
  'a letter or "_" and then up to 39 letters, digits or "_"',
  (name) => typeof name === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(name),
);

/**
 * Quotes a name from the configuration with a suffix.
 * @throws {@link InvalidArgumentError} if it could be anything but a name in a query
 */
export function quoteName(where: string, option: string, name: string, suffix = ''): string {
  checkOption(where, option, name, NAME);
  return `"${name}${suffix}"`;
}

/** Lowest text above all texts with a prefix, in the order of UTF-8 bytes; undefined if none. */
export function prefixUpperBound(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop())
    if (last < 0x10ffff)
      return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  return undefined;
}
