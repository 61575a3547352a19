import type { EncodedEntry, EncodedLog } from '../memory/checked-chat-memory-repository.js';

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
